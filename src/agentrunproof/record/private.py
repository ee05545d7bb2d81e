"""The private profile: payloads stand as salted digests, names and structure stay in clear.

Covered are texts of items, arguments, tool outputs, instructions, descriptions, messages of
errors and decisions, what guardrails look for, contexts, and what a plan expects of such texts.
Equal texts become equal digests, so everything that rests on equality is judged again as in a
public record: provenance of model answers, items and plain tool results, linkage, parity,
sessions, hooks. Names of agents, tools, phases and parameters, call ids, response ids, titles,
links, settings, token figures, outcomes and class names of exceptions stay.

Within arguments the values are covered one by one, so that they stay JSON of the same types:
strings become digests, numbers become covered numbers, truth values stay.

What a reader can't derive again, and what the checker therefore counts instead of passing it
over: a tool result with arguments in it, a structured final output, texts the SDK words itself,
and whether a guardrail's text was in what it looked at. The digest of the original plan is not
told, but a packaged scenario is still recognised by its structure (`skeleton`).

The salt is drawn anew for each record and not kept; without it nobody can try texts against the
digests. The same run therefore has another id each time, and the same verdict.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from typing import Any

from agentrunproof import canonical
from agentrunproof.plan.items import block_text, template_fields
from agentrunproof.plan.model import HookError, ModelError, Plan, ToolGuardrail, is_own_code
from agentrunproof.record import table
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

SALT_BYTES = 32

#: Exceptions whose messages hold names and numbers of the plan only, in fixed words.
CLEAR_ERRORS = frozenset({
    "ScriptExhausted", "NotPaused", "NotPending", "SystemExit", "MaxTurnsExceeded",
    "ToolTimeoutError", "InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered",
    "ToolInputGuardrailTripwireTriggered", "ToolOutputGuardrailTripwireTriggered"})

_NUMBER = 9 * 10**14  # covered numbers have this first digit and length
_COVERED = re.compile(r"sha256:[0-9a-f]{64}|\b9[0-9]{14}\b")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|-?[0-9][0-9.eE+\-]*')
_TEXT_LABELS = ("user:", "assistant:", "system:", "developer:", "reasoning:", "search:")
_ITEM_TEXTS = ("user", "system", "developer", "say", "refusal", "reasoning", "search", "output")

#: Texts of a plan's parts, by section; `*` stands for every name.
_PLAN_TEXTS = {
    ("agents", "*"): ("handoff_description",),
    ("tools", "*"): ("description", "failure_text", "timeout_text"),
    ("mcp", "*"): ("unlisted",),
    ("guardrails", "*"): ("trips_on", "error"),
    ("tool_guardrails", "*"): ("message", "when"),
    ("handoffs", "*"): ("description", "error"),
    ("run",): ("on_max_turns", "on_refusal", "history_text", "tool_error_text"),
    ("run", "session_input"): ("instead",),
    ("run", "hook_error"): ("message",),
    ("run", "input_filter"): ("add", "instructions", "error"),
}


def cover(plan: Plan, seen: Observation, salt: bytes) -> tuple[Plan, Observation]:
    """Plan and observation with digests in place of payloads.

    Args:
        plan: the plan that was run.
        seen: what was observed.
        salt: `SALT_BYTES` random bytes, used for this record and forgotten.
    """
    with_salt = _Cover(salt)
    own = {phase.id for phase in plan.phases if phase.call is not None and phase.call.is_own}
    return cover_plan(plan, salt), seen.mapped(
        lambda run: run if run.phase in own else PhaseRun(
            run.mode, run.phase, tuple(map(with_salt.event, run.events))))


def cover_plan(plan: Plan, salt: bytes) -> Plan:
    """The plan with digests in place of payloads."""
    return Plan.from_json(_Cover(salt).plan(plan.to_json()))


def skeleton(plan: Plan) -> str:
    """A covered plan with its digests numbered by first appearance: the same under any salt."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"#{len(numbers)}")

    return _COVERED.sub(number, canonical.dumps(plan.to_json()).decode())


class _Cover:
    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def text(self, text: str) -> str:
        """The digest of a text, in a block of an MCP result that of its text; nothing stays."""
        inner = block_text(text)
        if inner != text:
            return json.dumps({"type": "text", "text": self.text(inner)}, separators=(",", ":"))
        return f"sha256:{self._digest(text)}" if text else text

    def _digest(self, text: str) -> str:
        return hmac.new(self._salt, text.encode(), hashlib.sha256).hexdigest()

    def _token(self, match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[0]  # a key: the name of a parameter
        if match[0].startswith('"'):
            return json.dumps(self.text(json.loads(match[0])))
        return str(_NUMBER + int(self._digest(match[0]), 16) % 10**14)

    def arguments(self, text: str) -> str:
        """JSON text with its values covered in place; anything else as a text."""
        try:
            json.loads(text)
        except ValueError:
            return self.text(text)
        return _JSON_TOKEN.sub(self._token, text)

    def value(self, value: Any) -> Any:
        """A JSON value with its leaves covered."""
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if value is None or isinstance(value, bool):
            return value
        return self.text(value if isinstance(value, str) else json.dumps(value))

    def label(self, label: str) -> str:
        for prefix in _TEXT_LABELS:
            if label.startswith(prefix):
                return prefix + self.text(label.removeprefix(prefix))
        return label

    # the plan

    def plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        plan = json.loads(json.dumps(plan))  # a copy of our own to write in
        _say_defaults(plan)
        for agent in plan.get("agents", {}).values():
            _apply(agent, ("instructions",), self._instructions)
        for path, names in _PLAN_TEXTS.items():
            for part in _parts(plan, path):
                _apply(part, names, self.text)
        for tool in plan.get("tools", {}).values():
            self._params(tool.get("parameters", {}))
            for outcome in tool.get("outcomes", ()):
                _apply(outcome, ("error",), self.text)
                _apply(outcome, ("returns",), self._template)
        for declared in plan.get("types", {}).values():
            self._params(declared["fields"])
        _apply(plan.get("run", {}), ("context",), self.value)
        _apply(plan.get("run", {}), ("on_invalid_output",), self.arguments)
        self._items(plan.get("session", {}).get("items", ()))
        for phase in plan["phases"]:
            self._phase(phase)
        return plan

    def _instructions(self, text: str) -> str:
        return text if text.startswith("python:") else self.text(text)

    def _template(self, template: str) -> str:
        """A template's digest, and the fields that make its result differ from it."""
        fields = "".join(f"{{{name}}}" for name in template_fields(template))
        return self.text(template) + fields

    def _params(self, params: dict[str, Any]) -> None:
        for param in params.values():
            _apply(param, ("description",), self.text)
            _apply(param, ("default",), self.arguments)

    def _items(self, items: Any) -> None:
        for item in items:
            _apply(item, _ITEM_TEXTS, self.text)
            _apply(item, ("more",), lambda texts: [self.text(text) for text in texts])
            _apply(item, ("arguments",), self.arguments)

    def _phase(self, phase: dict[str, Any]) -> None:
        _apply(phase, ("context",), self.value)
        _apply(phase.get("input", {}), ("text",), self.text)
        self._items(phase.get("input", {}).get("items", ()))
        _apply(phase.get("resume", {}), ("add",), self.text)
        for decision in phase.get("resume", {}).get("decisions", ()):
            _apply(decision, ("message",), self.text)
        for steps in phase.get("script", {}).values():
            for step in steps:
                self._items(step.get("output", ()))
                _apply(step.get("error", {}), ("message",), self.text)
        expect = phase.get("expect", {})
        called = phase.get("call", {}).get("python", "")
        if not is_own_code(called):  # what our own functions give is no payload
            _apply(phase.get("call", {}), ("arguments",), self.arguments)
            _apply(expect, ("value",), self.arguments)
        _apply(expect, ("final_output",), self.text)
        _apply(expect, ("outputs",), self.value)
        for place in (expect, *expect.get("sees", ())):
            _apply(place, ("session", "items"), lambda labels: [self.label(x) for x in labels])

    # the observation

    def event(self, event: Event) -> Event:
        covered = table.with_items(event, self.item)
        _apply(covered, ("instructions", "given_instructions", "output", "final_output",
                         "message"), self._optional)
        _apply(covered, ("arguments", "value", "payload"), self.arguments)
        if "error" in covered:
            covered["error"] = self._error(covered["error"])
        if covered["kind"] == "stream_event":
            of_call = covered["name"] == "response.function_call_arguments.delta"
            covered["text"] = (self.arguments if of_call else self.text)(covered["text"])
        return covered

    def _optional(self, value: Any) -> Any:
        return self.text(value) if isinstance(value, str) else value

    def _error(self, error: Any) -> Any:
        if isinstance(error, str):
            return self.text(error)
        if error.get("type") in CLEAR_ERRORS or "message" not in error:
            return error
        return error | {"message": self.text(error["message"])}

    def item(self, item: dict[str, Any]) -> dict[str, Any]:
        covered: dict[str, Any] = json.loads(json.dumps(item))
        _apply(covered, ("arguments",), self.arguments)
        _apply(covered, ("output", "content"), self._content)
        for part in covered.get("summary", ()):
            _apply(part, ("text",), self.text)
        _apply(covered.get("action") or {}, ("query",), self.text)
        return covered

    def _content(self, content: Any) -> Any:
        if isinstance(content, str):
            return self.text(content)
        for part in content:
            _apply(part, ("text", "refusal"), self.text)
        return content


def _say_defaults(plan: dict[str, Any]) -> None:
    """Write the texts that a plan leaves out at their defaults: a run tells them all the same."""
    for guardrail in plan.get("tool_guardrails", {}).values():
        guardrail.setdefault("message", ToolGuardrail.message)
    hook_error = plan.get("run", {}).get("hook_error", {"cancel": True})
    if not hook_error.get("cancel"):  # which has no message
        hook_error.setdefault("message", HookError.message)
    for phase in plan["phases"]:
        for steps in phase.get("script", {}).values():
            for step in steps:
                if "error" in step:
                    step["error"].setdefault("message", ModelError.message)


def _parts(value: dict[str, Any], path: tuple[str, ...]) -> list[dict[str, Any]]:
    parts = [value]
    for key in path:
        parts = [found for part in parts
                 for found in (part.values() if key == "*" else [part.get(key, {})])]
    return parts


def _apply(table: dict[str, Any], names: tuple[str, ...], change: Callable[[Any], Any]) -> None:
    for name in names:
        if name in table:
            table[name] = change(table[name])
