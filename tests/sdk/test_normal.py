"""What enters events is plain, and tells nothing of the machine."""

from hypothesis import given
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.sdk import normal


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_decimal_text_names_the_same_number(value):
    text = normal.decimal(value)
    assert "e" not in text
    assert abs(float(text) - value) <= 1e-6 * max(1.0, abs(value))


@given(st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner)))
def test_plain_values_have_canonical_bytes_and_no_nulls_in_tables(value):
    plain = normal.plain({"value": value})
    assert None not in plain.values()
    canonical.dumps(plain)
    assert normal.plain(plain) == plain


def test_addresses_and_links_are_taken_out_of_messages():
    error = normal.error(ValueError(
        "object at 0x7f12ab34cd\n    For further information visit https://example.org/2.11/x"))
    assert error == {"type": "ValueError", "message": "object at 0x"}
