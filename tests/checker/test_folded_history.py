"""The history that the SDK folds into a message is known in both forms, and in no other."""

from __future__ import annotations

from typing import Any

import pytest

from agentrunproof.checker.sources import Sources
from tests.plans import greeting

HISTORY = ("For context, here is the conversation so far between the user and the previous "
           "agent:\n<CONVERSATION HISTORY>\n1. user: Go.\n</CONVERSATION HISTORY>")


def in_parts(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "status": "completed", "content": list(parts)} | fields


def part(text: str = HISTORY, **fields: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": text} | fields


@pytest.mark.parametrize(("item", "known"), [
    ({"role": "assistant", "content": HISTORY}, True),
    ({"role": "assistant", "content": "All was said before."}, False),
    ({"role": "system", "content": HISTORY}, False),
    ({"role": "assistant", "content": HISTORY, "id": "m1"}, False),
    (in_parts(part()), True),  # as a state that was read from JSON holds it
    (in_parts(part("All was said before.")), False),
    (in_parts(part(), part()), False),
    (in_parts(part(annotations=[])), False),
    (in_parts(part(type="input_text")), False),
    (in_parts(part(), status="in_progress"), False),
    (in_parts(part(), role="user"), False),
    (in_parts(), False),
    ({"role": "assistant", "status": "completed", "content": HISTORY}, False),
])
def test_a_folded_history_is_known_in_its_two_forms(item: dict[str, Any], known: bool) -> None:
    assert Sources(greeting(), certified=True, private=False).explains(item) is known
