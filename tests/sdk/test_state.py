"""Comparing saved states names the places at which they differ."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.sdk

JSON = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1,
                                                                        max_size=2), inner,
                                                                max_size=3))


@given(JSON)
def test_a_value_does_not_differ_from_its_copy(value):
    from agentrunproof.sdk.state import differing_paths

    assert differing_paths(value, copy.deepcopy(value)) == []


def test_the_deepest_place_of_each_difference_is_named():
    from agentrunproof.sdk.state import differing_paths

    a = {"same": 1, "list": [1, {"x": 1}], "gone": 0, "length": [1]}
    b = {"same": 1, "list": [1, {"x": 2}], "new": 0, "length": [1, 2]}
    assert differing_paths(a, b) == ["/gone", "/length", "/list/1/x", "/new"]
    assert differing_paths(1, 2) == ["/"]
