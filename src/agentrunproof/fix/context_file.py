"""The file beside a written test: the recorded request and decision, without secrets."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from agentrunproof.ablation.dialects import Body
from agentrunproof.ablation.subject import AblationError, Decision, Target
from agentrunproof.errors import RecordError
from agentrunproof.fix import conversation
from agentrunproof.record import dialects
from agentrunproof.recorders.secrets import Scrubber

SCHEMA = "agentrunproof/context/1"
REDACTED = "[redacted]"
#: What a context may say of how the model is asked.
OPTIONS = ("model", "base_url", "key_variable", "deterministic")
#: What holds a request together is never taken for text.
_STRUCTURE = ("role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "name", "model",
              "schema", "dialect", "target", "object")


@dataclass(frozen=True)
class Context:
    """What a written test is about.

    Args:
        dialect: of the request.
        request: its literal body.
        target: what must not be decided any more.
        decision: the recorded one, as `record.dialects` has it.
        model: how the model is asked: fields of `rerun.models.ModelOptions` that were given.
        endpoint: the URL that was asked, if it was recorded.
    """

    dialect: str
    request: Body
    target: str
    decision: dialects.Decision
    model: dict[str, Any] = field(default_factory=dict)
    endpoint: str = ""

    @property
    def asked(self) -> Target:
        """The target as a predicate."""
        return Target(self.target, Decision.of(self.decision))

    def without_secrets(self, redact: str | None = None) -> Context:
        """The same without secrets of known shapes, and without what a user's pattern finds.

        Args:
            redact: a regular expression.

        Raises:
            AblationError: ``REDACT_REGEX``.
        """
        try:
            pattern = re.compile(redact) if redact else None
        except re.error as problem:
            raise AblationError("REDACT_REGEX", f"--redact {redact!r}: {problem}",
                                "it takes a regular expression") from None
        scrub = Scrubber(None, lambda error: None)
        request, decision = (_redacted(scrub(value), pattern)
                             for value in (self.request, self.decision))
        return Context(self.dialect, request, self.target, decision, scrub(self.model),
                       scrub(self.endpoint))

    def to_text(self) -> str:
        """The content of its file."""
        value = {"schema": SCHEMA, "dialect": self.dialect, "target": self.target,
                 "decision": self.decision, "endpoint": self.endpoint, "model": self.model,
                 "request": self.request,
                 "conversation": conversation.items(self.request, self.dialect)}
        return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read(text: str, name: str) -> Context:
    """The context in a file.

    Args:
        text: its content.
        name: of the file, for messages.

    Raises:
        AblationError: ``CONTEXT_FORMAT``.
    """
    try:
        value = json.loads(text)
        if value["schema"] != SCHEMA:
            raise ValueError(f"its schema is {value['schema']!r:.60}")
        dialects.check(value["dialect"])
        return Context(value["dialect"], dict(value["request"]), str(value["target"]),
                       dict(value["decision"]), _options(value["model"]), str(value["endpoint"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecordError) as problem:
        raise AblationError("CONTEXT_FORMAT", f"{name}: not the context of a test ({problem})",
                            "write the test again: agentrunproof test") from None


def _options(value: dict[str, Any]) -> dict[str, Any]:
    if not value.keys() <= set(OPTIONS):
        raise ValueError("model: known are " + ", ".join(OPTIONS))
    return dict(value)


def _redacted(value: Any, pattern: re.Pattern[str] | None) -> Any:
    if pattern is None:
        return value
    if isinstance(value, dict):
        return {key: inner if key in _STRUCTURE and isinstance(inner, str)
                else _redacted(inner, pattern) for key, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner, pattern) for inner in value]
    return pattern.sub(REDACTED, value) if isinstance(value, str) else value
