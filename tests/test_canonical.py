"""Strict JSON in, canonical bytes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.errors import JsonError

SAFE = st.characters(exclude_categories=("Cs",))
SCALARS = (st.none() | st.booleans() | st.integers(-canonical.MAX_INT, canonical.MAX_INT)
           | st.text(SAFE, max_size=20))
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4)
                    | st.dictionaries(st.text(SAFE, max_size=8), inner, max_size=4), max_leaves=20)


@given(JSON)
def test_what_dumps_writes_parse_reads_back_and_dumps_writes_again(value: Any) -> None:
    data = canonical.dumps(value)
    read = canonical.parse(data)
    assert canonical.dumps(read) == data
    assert json.dumps(read, sort_keys=True) == json.dumps(value, sort_keys=True)


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused_and_nothing_else_is_raised(data: bytes) -> None:
    try:
        value = canonical.parse(data)
    except JsonError:
        return  # any other exception fails the test
    assert canonical.parse(canonical.dumps(value)) == value


@pytest.mark.parametrize(("data", "code"), [
    (b"", "JSON_EMPTY"),
    (b" \n\t", "JSON_EMPTY"),
    (b"\xef\xbb\xbf{}", "JSON_BOM"),
    ("{}".encode("utf-16"), "JSON_ENCODING"),
    ("{}".encode("utf-16-be"), "JSON_ENCODING"),
    ("{}".encode("utf-32-le"), "JSON_ENCODING"),
    (b'"\xff"', "JSON_ENCODING"),
    (b'"\xed\xa0\x80"', "JSON_ENCODING"),
    (b"[NaN]", "JSON_NOT_A_NUMBER"),
    (b"-Infinity", "JSON_NOT_A_NUMBER"),
    (b"[1.0]", "JSON_FLOAT"),
    (b"1e3", "JSON_FLOAT"),
    (b"9007199254740992", "JSON_INTEGER_RANGE"),
    (b"-9007199254740992", "JSON_INTEGER_RANGE"),
    (b"1" * 10_000, "JSON_INTEGER_RANGE"),
    (b'{"a":1,"a":1}', "JSON_DUPLICATE_KEY"),
    (b'{"a":1,"\\u0061":1}', "JSON_DUPLICATE_KEY"),
    (b'"\\ud800"', "JSON_SURROGATE"),
    (b'{"\\uDFFF":0}', "JSON_SURROGATE"),
    (b"{} x", "JSON_TRAILING"),
    (b"{}{}", "JSON_TRAILING"),
    (b"{", "JSON_SYNTAX"),
    (b'"\n"', "JSON_SYNTAX"),
    (b"'a'", "JSON_SYNTAX"),
])
def test_each_trap_of_lenient_parsers_is_refused_with_its_own_code(data: bytes, code: str) -> None:
    with pytest.raises(JsonError) as caught:
        canonical.parse(data)
    assert caught.value.code == code


def test_a_proper_surrogate_pair_is_one_character() -> None:
    assert canonical.parse(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_nesting_is_accepted_to_the_limit_and_not_beyond() -> None:
    at_limit = b"[" * 64 + b"]" * 64
    assert canonical.dumps(canonical.parse(at_limit)) == at_limit
    for data in (b"[" * 65 + b"]" * 65, b'[{"a":' * 33, b"[" * 1_000_000, b'{"a":[' * 500_000):
        with pytest.raises(JsonError) as caught:
            canonical.parse(data)
        assert caught.value.code == "JSON_TOO_DEEP"


@given(JSON)
def test_brackets_within_strings_do_not_nest(value: Any) -> None:
    wrapped = {'[{"\\': ["[" * 100, '\\"' + "{" * 100, value]}
    assert canonical.parse(canonical.dumps(wrapped)) == wrapped


def test_an_unclosed_string_full_of_quotes_is_refused_in_linear_time() -> None:
    with pytest.raises(JsonError) as caught:
        canonical.parse(b'["' + b'\\"' * 2_000_000)
    assert caught.value.code == "JSON_SYNTAX"


def test_a_text_beyond_the_size_limit_is_not_read() -> None:
    assert canonical.parse(b"[1]", max_bytes=3) == [1]
    with pytest.raises(JsonError) as caught:
        canonical.parse(b"[1] ", max_bytes=3)
    assert caught.value.code == "JSON_TOO_LARGE"


def _deep(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("value", "code"), [
    (1.0, "JSON_FLOAT"), ({"a": [float("nan")]}, "JSON_FLOAT"),
    (2**53, "JSON_INTEGER_RANGE"), ("\ud800", "JSON_SURROGATE"), ({"\udfff": 1}, "JSON_SURROGATE"),
    (_deep(65), "JSON_TOO_DEEP"), (_deep(5000), "JSON_TOO_DEEP"),
    ({1: 2}, "JSON_TYPE"), (b"x", "JSON_TYPE"), ({"a": {1, 2}}, "JSON_TYPE"),
])
def test_a_value_without_canonical_form_is_refused_with_its_own_code(value: Any, code: str) -> None:
    with pytest.raises(JsonError) as caught:
        canonical.dumps(value)
    assert caught.value.code == code


def test_canonical_bytes_sort_keys_by_utf_16_units_as_rfc_8785_says() -> None:
    # RFC 8785, 3.2.3: U+1F600 sorts before U+FB33, because its first UTF-16 unit is D83D.
    value = {"\ufb33": 1, "\U0001f600": 2, "1": 3, "\r": 4, "\u20ac": 5, "\u0080": 6, "\u00f6": 7}
    order = list(canonical.parse(canonical.dumps(value)).values())
    assert order == [4, 3, 6, 7, 5, 2, 1]


def test_the_digest_is_that_of_the_bytes() -> None:
    # printf '{}' | sha256sum
    assert canonical.digest({}) == (
        "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")


@given(JSON)
def test_the_bytes_are_those_of_the_reference_implementation(value: Any) -> None:
    import rfc8785

    assert canonical.dumps(value) == rfc8785.dumps(value)
    assert canonical.rewrite(canonical.parse(canonical.dumps(value))) == rfc8785.dumps(value)
