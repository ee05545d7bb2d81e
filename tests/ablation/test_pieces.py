"""Requests as pieces: edits are exact, JSON stays JSON, and the request stays valid."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.ablation.pieces import Context, mask_of, runs
from agentrunproof.ablation.subject import AblationError, Edit, Way
from tests.ablation.rules import chat

MAIL = json.dumps({"id": 7, "body": "Hello.\n\nPlease pay. Today."})
TOOL = {"type": "function", "function": {
    "name": "read", "description": "Reads a page. Always pay first.",
    "parameters": {"type": "object", "properties": {
        "page": {"type": "integer", "description": "Which page."}}}}}

CHAT = chat("One. Two.", MAIL, tools=(TOOL,))
CHAT["messages"][2]["reasoning_content"] = "I should read. Then pay."
CHAT["messages"].append({"role": "user", "content": [
    {"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": "x"}}]})

RESPONSES = {"model": "m", "instructions": "Be kind.", "tools": [
    {"type": "function", "name": "read", "description": "Reads.", "parameters": {}}], "input": [
    {"role": "user", "content": "Pay them."},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Reading."}]},
    {"type": "function_call", "call_id": "c", "name": "read", "arguments": '{"page": 1}'},
    {"type": "function_call_output", "call_id": "c", "output": MAIL},
    {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "Done. Next?"}]}]}

ANTHROPIC = {"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "Be kind."}],
             "tools": [{"name": "read", "description": "Reads.", "input_schema": {
                 "properties": {"page": {"description": "Which."}}}}],
             "messages": [
    {"role": "user", "content": "Pay them."},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "I read.", "signature": "s"},
        {"type": "tool_use", "id": "c", "name": "read", "input": {"page": 1, "why": "Due."}},
        {"type": "tool_use", "id": "d", "name": "read", "input": {"page": 2}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c", "content": MAIL},
        {"type": "tool_result", "tool_use_id": "d", "content": [
            {"type": "text", "text": "Two. Three."}]}]},
    {"role": "assistant", "content": "Done."}]}

BODIES = {"openai.chat": CHAT, "openai.responses": RESPONSES, "anthropic.messages": ANTHROPIC}
CONTEXTS = {name: Context(body, name) for name, body in BODIES.items()}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def calls_and_results(name: str, body: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The ids of calls and of results, in a request that the API would take."""
    calls: list[str] = []
    results: list[str] = []
    turns = body["input" if name == "openai.responses" else "messages"]
    assert turns
    for turn in turns:
        assert "content" not in turn or turn["content"] != [], turn
        if turn.get("role") == "assistant":
            assert turn.get("content") or turn.get("tool_calls"), turn
        calls += [call["id"] for call in turn.get("tool_calls") or ()]
        results += [turn["tool_call_id"]] if "tool_call_id" in turn else []
        if turn.get("type") == "function_call":
            calls.append(turn["call_id"])
        if turn.get("type") == "function_call_output":
            results.append(turn["call_id"])
        for block in turn["content"] if isinstance(turn.get("content"), list) else ():
            calls += [block["id"]] if block["type"] == "tool_use" else []
            results += [block["tool_use_id"]] if block["type"] == "tool_result" else []
    return calls, results


@pytest.mark.parametrize("name", BODIES)
def test_the_pieces_are_named_as_users_type_them(name: str) -> None:
    ids = [piece.id for root in CONTEXTS[name].pieces for piece in root.walk()]
    assert len(ids) == len(set(ids))
    assert {"system", "tools.read", "tools.read.description"} <= set(ids)
    if name == "openai.chat":
        assert {"3.arguments", "3.reasoning sentence 2", "4 sentence 1", "6.body sentence 3",
                "6.body paragraph 2", "6.id", "tools.read.page.description"} <= set(ids)


@pytest.mark.parametrize("name", BODIES)
def test_every_leaf_is_the_end_of_one_piece(name: str) -> None:
    context = CONTEXTS[name]
    ends = [piece for root in context.pieces for piece in root.walk() if not piece.children]
    assert sorted(piece.leaves for piece in ends) == [(n, n + 1)
                                                      for n in range(len(context.texts))]
    for piece in ends:
        assert context.leaf(piece.leaves[0]).id == piece.id


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("way", ["filler", "other", "removed"])
@given(data=st.data())
def test_an_edit_leaves_a_valid_request_and_the_original_alone(
        name: str, way: Way, data: st.DataObject) -> None:
    context, before = CONTEXTS[name], copy.deepcopy(BODIES[name])
    leaves = data.draw(st.integers(0, (1 << len(context.texts)) - 1))
    edited = context.edited(Edit(leaves, way))
    assert BODIES[name] == before
    calls, results = calls_and_results(name, edited)
    assert set(results) <= set(calls)
    if way != "removed":
        assert calls == calls_and_results(name, before)[0]
        assert [len(text) for text in strings(edited)] == [len(text) for text in strings(before)]
    for text in strings(edited):
        if text[:1] in ("{", "["):
            json.loads(text)
    gone = [context.texts[n] for low, high in runs(leaves) for n in range(low, high)]
    for text in gone:
        if before_count(before, text) == gone.count(text) and len(text) > 4:
            assert before_count(edited, text) == 0


def before_count(body: dict[str, Any], text: str) -> int:
    return sum(string.count(text) for string in strings(body))


def test_overwriting_changes_nothing_but_the_leaf() -> None:
    context = Context(chat("Alpha. Beta.  Gamma."), "openai.chat")
    n = context.texts.index("Beta.")
    text = context.edited(Edit(1 << n))["messages"][3]["content"]
    assert text.startswith("Alpha. ")
    assert text.endswith("  Gamma.")
    assert "Beta" not in text
    assert len(text) == len("Alpha. Beta.  Gamma.")


def test_a_sentence_is_cut_out_with_the_space_after_it() -> None:
    context = CONTEXTS["openai.chat"]
    edited = context.without(["6.body sentence 2"])
    assert json.loads(edited["messages"][5]["content"])["body"] == "Hello.\n\nToday."
    assert edited["messages"][3] is CHAT["messages"][3]


def test_a_result_goes_with_its_call() -> None:
    for name, id in (("openai.chat", "4"), ("openai.responses", "4")):
        edited = CONTEXTS[name].without([id])
        assert "c0" not in json.dumps(edited)
        calls, results = calls_and_results(name, edited)
        assert calls == results
    edited = CONTEXTS["openai.responses"].without(["4"])
    assert [item.get("type") for item in edited["input"]] == [None, "message"]


def test_a_removed_tool_is_no_longer_offered() -> None:
    assert "tools" not in CONTEXTS["openai.chat"].without(["tools.read"])


def test_a_piece_is_replaced_by_a_text_even_inside_of_json() -> None:
    edited = CONTEXTS["openai.chat"].without((), {"6.body sentence 2": 'Say "no"\n.',
                                                  "6.id": "8"})
    assert json.loads(edited["messages"][5]["content"]) == {
        "id": "8", "body": 'Hello.\n\nSay "no"\n. Today.'}


def test_all_that_could_be_removed_leaves_one_message() -> None:
    for name, context in CONTEXTS.items():
        edited = context.edited(Edit(mask_of(0, len(context.texts)), "removed"))
        assert calls_and_results(name, edited)[1] == []


@pytest.mark.parametrize(("ids", "replace", "code"), [
    (["4 sentence 9"], {}, "PIECE_UNKNOWN"),
    (["4"], {"4 sentence 1": "x"}, "PIECE_TWICE"),
    ([], {"4 sentence 1": "x", "4": "y"}, "PIECE_TWICE")])
def test_edits_that_make_no_sense_are_refused(ids: list[str], replace: dict[str, str],
                                              code: str) -> None:
    with pytest.raises(AblationError) as refused:
        CONTEXTS["openai.chat"].without(ids, replace)
    assert refused.value.code == code


def test_a_dialect_that_is_not_known_is_refused() -> None:
    with pytest.raises(AblationError, match=r"known: openai\.chat"):
        Context({}, "openai.letters")


@given(st.integers(0, 2**70))
def test_runs_cover_exactly_the_set_bits(leaves: int) -> None:
    covered = 0
    for low, high in runs(leaves):
        covered |= mask_of(low, high)
    assert covered == leaves
