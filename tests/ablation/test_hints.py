"""Asking the model where to look first, and what of a request is no piece."""

from __future__ import annotations

from typing import Any

import pytest

from agentrunproof.ablation import hints
from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.recorded_call import RecordedCall
from agentrunproof.ablation.uncut import uncut
from tests.ablation.rules import PAY, chat, pages


def asked(body: dict[str, Any], dialect: str = "openai.chat") -> dict[str, Any]:
    subject = RecordedCall(Context(body, dialect), lambda edited: PAY)
    return hints.request(subject, PAY, body, dialect)


def test_the_question_numbers_the_pieces_and_tells_the_decision() -> None:
    made = asked(chat(*pages()) | {"temperature": 0.7})
    question = made["messages"][0]["content"]
    assert (made["model"], made["temperature"]) == ("rule", 0)
    assert 'pay({"to": "K-77"})' in question
    assert "\n[0] system: You keep the books.\n[1] user: Do the payments.\n" in question
    assert "temperature" not in asked(chat(*pages()))


def test_each_api_is_asked_in_its_own_form() -> None:
    assert isinstance(asked({"input": "Hi."}, "openai.responses")["input"], str)
    messages = {"model": "claude", "max_tokens": 5,
                "messages": [{"role": "user", "content": "Hi."}]}
    assert asked(messages, "anthropic.messages")["max_tokens"] > 5


def test_a_long_request_is_shown_in_part() -> None:
    made = asked(chat(*["A sentence of some words. " * 200] * 30))
    question = made["messages"][0]["content"]
    assert len(question) < 100_000
    assert "[0] " not in question  # the latest pieces are shown


@pytest.mark.parametrize(("answer", "named"), [
    ("[12, 3]", [12, 3]), ("Pieces: [3, 12, 3].", [3, 12]), ("It was 7, and 2.", [7, 2]),
    ("none", []), ("[]", []), ("[99]", []), ("[01]", [1]), ("[1] or rather [2]", [2]), ("", [])])
def test_an_answer_names_leaves_the_likeliest_first(answer: str, named: list[int]) -> None:
    weights = hints.weights(answer, 20)
    assert list(weights) == named
    assert sorted(weights.values(), reverse=True) == list(weights.values())
    assert all(0 < weight <= 1 for weight in weights.values())


def test_no_more_leaves_are_named_than_are_looked_at() -> None:
    assert len(hints.weights(str(list(range(50))), 100)) == 8


def test_what_cannot_be_cut_out_is_counted() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    assert uncut({"messages": [{"role": "user", "content": [image, image]}],
                  "tools": [{"type": "function"}]}) == ("2 images", "names of tools and parameters")
    thought = {"type": "reasoning", "encrypted_content": "x", "summary": []}
    result = {"type": "function_call_output", "output": [{"type": "input_file"}]}
    assert uncut({"input": [thought, result], "previous_response_id": "r1"}) == (
        "1 encrypted reasoning text", "1 file",
        "the stored conversation that the request continues")
    assert uncut(chat("A page.")) == ()
