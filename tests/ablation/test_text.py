"""Texts split into parts: what the parts are, and that their spans are exact."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.ablation.leaves import Leaves
from agentrunproof.ablation.text import escaped, overwritten, parts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner,
                                                                max_size=4), max_leaves=12)


@pytest.mark.parametrize(("text", "expected"), [
    ("One. Two! Three?", ["One.", "Two!", "Three?"]),
    ("It costs 240.5 today. ok-7 is paid.", ["It costs 240.5 today.", "ok-7 is paid."]),
    ("See Dr. Low, e.g. at noon. Then go.", ["See Dr. Low, e.g. at noon.", "Then go."]),
    ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
    ("- one\n- two\n\n  three", ["- one", "- two", "three"]),
    ("<p>Hello.</p><!-- Send it. Now. --><p>Bye</p>", ["Hello.", "Send it.", "Now.", "Bye"]),
    ("你好。再见！ ok", ["你好。", "再见！", "ok"]),  # noqa: RUF001
    ("नमस्ते। फिर मिलेंगे। ok", ["नमस्ते।", "फिर मिलेंगे।", "ok"]),
    ("a < b and <b>bold</b> -> c\n<div class='x'>in</div>",
     ["a < b and <b>bold</b> -> c", "in"]),
    ("", []), (" \n ", []), ("<p></p> ", []),
])
def test_prose_is_split_into_sentences_and_lines(text: str, expected: list[str]) -> None:
    assert [part.text for part in parts(text)] == expected


def test_json_is_split_into_values_with_their_paths() -> None:
    text = json.dumps({"id": 3, "from": "a@b.c", "body": "One.\n\nTwo \"x\". Three.",
                       "tags": ["new", None], "inner": json.dumps({"note": "Deep. Deeper."})})
    found = [(part.path, part.number, part.text) for part in parts(text)]
    assert found == [
        ("id", 0, "3"), ("from", 0, "a@b.c"), ("body", 1, "One."), ("body", 2, 'Two "x".'),
        ("body", 3, "Three."), ("tags[0]", 0, "new"), ("tags[1]", 0, "null"),
        ("inner.note", 1, "Deep."), ("inner.note", 2, "Deeper.")]


@given(st.text(alphabet=st.sampled_from("aB.!? \n\"<>!-p/é漢\U0001f600"), max_size=60))
def test_spans_of_prose_say_what_the_parts_say(text: str) -> None:
    end = 0
    for part in parts(text):
        if not text.strip().startswith(("{", "[")):
            assert text[part.start:part.end] == part.text
        assert end <= part.start < part.end
        end = part.end


@given(JSON.filter(lambda value: isinstance(value, dict | list)), st.booleans())
def test_spans_of_json_say_what_the_parts_say(value: Any, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    for part in parts(text):
        raw = text[part.start:part.end]
        for _ in range(part.depth):
            raw = json.loads(f'"{raw}"')
        assert raw == part.text


@given(st.text(max_size=20), st.integers(0, 3))
def test_what_is_escaped_reads_as_it_was(text: str, depth: int) -> None:
    written = escaped(text, depth)
    for _ in range(depth):
        written = json.loads(f'"{written}"')
    assert written == text


TEXTS = (st.text(alphabet=st.sampled_from("aB.!? \n\"<>!-p/é漢。\U0001f600İ"), max_size=60)
         | JSON.map(json.dumps) | JSON.map(lambda value: json.dumps(value, indent=1))
         | JSON.map(lambda value: json.dumps({"inner": json.dumps(value), "n": -1.50})))


@given(st.lists(TEXTS, max_size=4))
def test_leaves_are_counted_and_read_as_the_parts_are(said: list[str]) -> None:
    leaves = Leaves(said)
    found = [[part.text for part in parts(text)] for text in said]
    assert list(leaves) == list(chain(*found))
    assert [high - low for low, high in leaves.groups] == list(map(len, found))
    assert leaves[:2] == list(leaves)[:2]
    if leaves:
        assert leaves[-1] == list(leaves)[-1]


@given(TEXTS)
def test_what_is_wholly_overwritten_keeps_its_size_and_form(text: str) -> None:
    blank = overwritten(text, "Nothing. ")
    assert len(blank) == len(text)
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict | list):
        assert _form(json.loads(blank)) == _form(value)


def _form(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_form(item) for item in value]
    return isinstance(value, str)


def test_a_word_is_found_where_it_stands_whole() -> None:
    leaves = Leaves(["Pay K-77. Nobody was paid. Repay.", '{"note": "We\\npay."}',
                     "İ pay. PAY! pay"])
    assert [[leaves[n] for n in found] for found in leaves.holding(["pay", "k-77", "none"])] == [
        ["Pay K-77.", "pay.", "İ pay.", "PAY!", "pay"], ["Pay K-77."], []]


def test_there_is_no_leaf_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Leaves(["One. Two."])[2]
