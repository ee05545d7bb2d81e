"""What the tests of reruns have in common: requests, a rule that replies, a clock of ours."""

from __future__ import annotations

import json
from typing import Any

from agentrunproof.rerun.retrying import Stop

Body = dict[str, Any]

DIALECTS = ("openai.chat", "openai.responses", "anthropic.messages")


class OurTime(Stop):
    """Waits take no time, and are taken down."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.time = 0.0
        self.now = lambda: self.time

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.time += seconds
        return self.ended


def body(dialect: str, text: str = "Pay K-77 now. Then rest.", **more: Any) -> Body:
    """A request with one text of the user's."""
    turns = "input" if dialect == "openai.responses" else "messages"
    return {"model": "m-1", turns: [{"role": "user", "content": text}], **more}


def rule(request: Body) -> Body:
    """Pays if it is told to."""
    if "Pay K-77" in json.dumps(request):
        return {"tool_calls": [{"name": "pay", "arguments": {"to": "K-77"}}]}
    return {"text": "Nothing to do."}
