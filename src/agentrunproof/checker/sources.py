"""Where the contents of a record can come from: what step 8 derives from a plan.

`Sources` knows every item that the plan puts into a conversation and every text that it declares;
what tools gave during a mode is added as it is derived. Texts that the SDK writes itself are
known by their wording for the releases we certified, and free for any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agentrunproof.plan.items import (
    block_text,
    fallbacks,
    filtered,
    handoff_tool_name,
    item_text,
    model_item,
    phase_input,
    replaced,
    script_items,
    session_items,
)
from agentrunproof.plan.model import Item as Declared
from agentrunproof.plan.model import Plan, Tool

Item = dict[str, Any]

_CALL, _OUTPUT, _REASONING = "function_call", "function_call_output", "reasoning"

#: Fields that carry an item's meaning; the others the SDK or a store may leave out.
_MEANING = frozenset({"role", "content", "text", "call_id", "name", "arguments", "output",
                      "summary", "refusal", "action"})


class Sources:
    """What a plan can bring about.

    Args:
        plan: the plan.
        certified: whether the SDK's own wording is known.
        private: whether texts are digests, of which only the equality is known; `underived` then
            counts the texts that equal no other.
    """

    def __init__(self, plan: Plan, *, certified: bool, private: bool) -> None:
        self.plan = plan
        self.private = private
        self.underived = 0
        self.calls: dict[str, list[Item]] = {}
        self.outputs: dict[str, set[str]] = {}
        self._items: dict[tuple[str, str], list[Item]] = {}
        for item in _declared_items(plan):
            self._items.setdefault(_key(item), []).append(item)
            if item.get("type") == _CALL:
                self.calls.setdefault(item["call_id"], []).append(item)
            if item.get("type") == _OUTPUT:
                self.outputs.setdefault(item["call_id"], set()).add(item["output"])
        self.texts = set(_declared_texts(plan))
        self._structures = set(_shown_structures(plan, self.texts)) if any(
            tool.agent for tool in plan.tools.values()) else set()
        self._authored = _authored(plan) if certified and not private else None

    def made_call(self, call: str, name: str) -> Item | None:
        """The scripted call of that id and function, if there is one."""
        return next((item for item in self.calls.get(call, ()) if item["name"] == name), None)

    def explains(self, item: Item) -> bool:
        """Whether the item comes from the plan, from a tool, or from the SDK's own pen."""
        if any(_reduced(item, source) for source in self._items.get(_key(item), ())):
            return True
        if item.get("type") == _OUTPUT:
            return self._explains_output(item)
        if self.private and self.plan.run.on_invalid_output and item.get("id") == "__fake_id__":
            return self.authored(item_text(item))  # a structure is covered in its parts in the plan
        return self._explains_history(item)

    def begins(self, item: Item) -> bool:
        """Whether the item is a scripted call as our model's stream begins it, still empty."""
        return any(item == source | {"arguments": "", "status": "in_progress"}
                   for source in self.calls.get(str(item.get("call_id")), ()))

    def says(self, text: str) -> bool:
        """Whether a text is the plan's, a tool's, or of the SDK's own wording."""
        if text in self.texts or block_text(text) in self.texts or self.authored(text):
            return True
        return text in self._structures or (text.startswith("{") and any(
            _same_object(text, known) or text == str({"type": "text", "text": known})
            for known in self.texts))

    def authored(self, text: str) -> bool:
        """Whether the SDK may have written the text itself."""
        if self.private:
            self.underived += 1
            return bool(_DIGEST.fullmatch(text))
        return self._authored is None or bool(self._authored.fullmatch(text))

    def _explains_output(self, item: Item) -> bool:
        text, call = _told(item.get("output")), item.get("call_id")
        known = set(item) <= {"type", "call_id", "output", "id", "status"}
        return known and "id" not in item and item.get("status", "completed") == "completed" and (
            isinstance(text, str) and call in self.calls
            and (text in self.outputs.get(call, ()) or text in self._spoken_for(call)
                 or self.authored(text)))

    def _names(self, call: str) -> set[str]:
        """The functions that calls of this id name."""
        return {item["name"] for item in self.calls.get(call, ())}

    def _spoken_for(self, call: str) -> Iterator[str]:
        """Texts declared to stand in the place of a tool's output."""
        for item in self.calls[call]:
            tool = self.plan.tools.get(item["name"])
            if tool is not None:
                if tool.agent is not None:
                    yield from self._structures
                yield from _words(tool)
                for name in (*tool.input_guardrails, *tool.output_guardrails):
                    yield self.plan.tool_guardrails[name].message
        if self.plan.run.tool_error_text is not None:
            yield self.plan.run.tool_error_text
        for phase in self.plan.phases:
            for decision in phase.resume.decisions if phase.resume else ():
                if decision.message is not None and (decision.call == call or (
                        decision.always and self._names(decision.call) & self._names(call))):
                    yield decision.message

    def _explains_history(self, item: Item) -> bool:
        """Whether it is the message into which the SDK folds the history before a handoff."""
        if item.get("role") not in ("assistant", "developer"):
            return False
        text = _folded(item)
        if text is None:
            return False
        if self._authored is None:
            return self.authored(text)
        return bool(_HISTORY.fullmatch(text))


def _folded(item: Item) -> str | None:
    """The text of a message that may be a folded history; a state from JSON has it as a part."""
    content = item.get("content")
    if set(item) == {"role", "content"}:
        return str(content)
    if set(item) == {"role", "content", "status"} and item["status"] == "completed" and (
            isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict)
            and set(content[0]) == {"type", "text"} and content[0]["type"] == "output_text"):
        return str(content[0]["text"])
    return None


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_HISTORY = re.compile(
    r"For context, here is the conversation so far between the user and the previous agent:\n"
    r"<CONVERSATION HISTORY>\n(\d+\. .*\n?)+\n?</CONVERSATION HISTORY>", re.DOTALL)


def _declared_items(plan: Plan) -> Iterator[Item]:
    yield from session_items(plan)
    for phase in plan.phases:
        if phase.input is not None:
            yield from phase_input(phase)
        for agent, steps in phase.script.items():
            for n in range(len(steps)):
                yield from script_items(plan, phase, agent, n)
    for call in _nested_inputs(plan):
        yield {"role": "user", "content": call}
    for text in fallbacks(plan):  # the SDK gives such a message this id
        yield model_item(Declared(say=text), "") | {"id": "__fake_id__"}
    yield from replaced(plan.run.session_input, [])
    added = [phase.resume.add for phase in plan.phases if phase.resume is not None]
    for said in (plan.run.history_text, *added):
        if said is not None:
            yield {"role": "user", "content": said}
    if plan.run.input_filter is not None:
        yield from filtered(plan.run.input_filter, [], "")[0]


def _nested_inputs(plan: Plan) -> Iterator[str]:
    """Inputs that calls of agent tools give to their agents."""
    for phase in plan.phases:
        for steps in phase.script.values():
            for step in steps:
                for item in step.output:
                    tool = plan.tools.get(item.call or "")
                    if tool is None or tool.agent is None:
                        continue
                    try:
                        given = json.loads(item.arguments or "{}")
                    except ValueError:
                        continue
                    if isinstance(given, dict) and isinstance(given.get("input"), str):
                        yield given["input"]


def _declared_texts(plan: Plan) -> Iterator[str]:
    yield ""
    for item in _declared_items(plan):
        yield item_text(item) if "content" in item else ""
        if isinstance(item.get("content"), list):  # a release may take a part for the whole
            yield from (part["text"] for part in item["content"] if "text" in part)
    for tool in plan.tools.values():
        yield from _words(tool)
    for guardrail in plan.tool_guardrails.values():
        yield guardrail.message
    yield from fallbacks(plan)
    if plan.run.tool_error_text is not None:
        yield plan.run.tool_error_text
    for phase in plan.phases:
        for decision in phase.resume.decisions if phase.resume else ():
            yield decision.message or ""


def _shown_structures(plan: Plan, texts: set[str]) -> Iterator[str]:
    """Structured outputs as Python shows them, which is how an agent tool gives one."""
    for text in texts:
        try:
            given = json.loads(text)
        except ValueError:
            continue
        for type in plan.types.values():
            if isinstance(given, dict) and given.keys() == type.fields.keys():
                yield " ".join(f"{name}={_typed(type.fields[name].type, given[name])!r}"
                               for name in type.order)


def _typed(type: str, value: Any) -> Any:
    number = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if type == "number" and number else value


def _words(tool: Tool) -> Iterator[str]:
    """What a tool has the model told of its failures."""
    yield from (text for text in (tool.failure_text, tool.timeout_text) if text is not None)


def _key(item: Item) -> tuple[str, str]:
    """What an item and its source have in common, whatever was left out of it."""
    kind = item.get("type", "message")
    if kind in (_CALL, _OUTPUT):
        return str(kind), str(item.get("call_id"))
    if kind == _REASONING:
        return str(kind), ""
    return str(item.get("role")), ""


def _told(output: Any) -> Any:
    """An output as the text that it tells; what an MCP server gave is a block with one."""
    if isinstance(output, list) and len(output) == 1 and isinstance(output[0], dict) and (
            output[0].keys() == {"type", "text"} and output[0]["type"] == "input_text"):
        return output[0]["text"]
    return block_text(output) if isinstance(output, str) else output


def _reduced(value: Any, source: Any) -> bool:
    """Whether `value` is `source`, but for fields without meaning that were left out."""
    if isinstance(value, dict) and isinstance(source, dict):
        return (all(key in source and _reduced(item, source[key]) for key, item in value.items())
                and all(key in value for key in source if key in _MEANING))
    if isinstance(value, list) and isinstance(source, list):
        return len(value) == len(source) and all(map(_reduced, value, source))
    return type(value) is type(source) and bool(value == source)


def _same_object(text: str, said: str) -> bool:
    """Whether a structured output, as compact JSON, is what a model said in any layout.

    A number that the plan declares as ``number`` has become a float on the way, and up to 0.17.7 a
    text that is one was taken for it.
    """
    try:
        given, meant = json.loads(text), json.loads(said)
    except ValueError:
        return False
    compact = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    return compact == text and isinstance(meant, dict) and _floats(given) == _floats(meant)


_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")


def _floats(value: Any) -> Any:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return ("number", float(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", float(value))
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return (type(value).__name__, value)


def _authored(plan: Plan) -> re.Pattern[str]:
    """The wording of texts that certified releases give to a model in place of a tool's output.

    Sources: ``agents/tool.py`` (``default_tool_error_function``, approval and timeout messages),
    ``agents/run_internal/turn_resolution.py``, ``agents/handoffs`` (transfer message).
    """
    tools, servers = _one_of(list(plan.tools)), _one_of(list(plan.mcp))
    scripted = {item["name"] for item in _declared_items(plan) if item.get("type") == _CALL}
    errors = [outcome.error for tool in plan.tools.values() for outcome in tool.outcomes
              if outcome.error is not None]
    # What ends a nested run is worded by any part of the SDK.
    nested = ".*" if any(tool.agent or tool.python for tool in plan.tools.values()) else "(?!)"
    return re.compile("|".join((
        r"Tool execution was not approved\.",
        r"Tool execution cancelled\.",
        r"Multiple handoffs detected, ignoring this one\.",
        r"Output withheld by an output guardrail\.",
        rf"Tool '({tools})' timed out after [0-9.e+\-]+ seconds\.",
        rf"Tool '({_one_of(sorted(scripted))})' not found\.",
        _one_of([json.dumps({"assistant": agent}) for agent in plan.agents]),
        _one_of([f"{{'assistant': '{agent}'}}" for agent in plan.agents]),  # up to 0.0.17
        r"An error occurred while parsing tool arguments\. Please try again with valid JSON\."
        r" Error: [A-Z][^\n]*: line \d+ column \d+ \(char \d+\)",
        r"An error occurred while running the tool\. Please try again\."
        rf"( Error: ({_one_of(errors)}|Invalid JSON input for tool ({tools})(: .*)?"
        rf"|Tool execution cancelled\.|{nested}"
        rf"|Error invoking MCP tool ({tools})( on server '({servers})')?: ({_one_of(errors)})"
        rf"|Failed to call tool '({tools})' on MCP server '({servers})': "
        r"(tool execution was cancelled\.|missing required parameters: [^\n]*)))?",
    )), re.DOTALL)


def error_patterns(plan: Plan) -> dict[str, re.Pattern[str]]:
    """Messages of the exceptions whose wording is ours, the plan's, or fixed; by class name.

    Other exceptions carry whatever the SDK says.
    """
    agents, tools = _one_of(list(plan.agents)), _one_of(list(plan.tools))
    phases = _one_of([phase.id for phase in plan.phases])
    outcomes = [outcome for tool in plan.tools.values() for outcome in tool.outcomes]
    turns = [plan.run.max_turns, *(phase.max_turns for phase in plan.phases),
             *(tool.max_turns for tool in plan.tools.values()), 10]  # 10: the SDK's default
    hook, sieve = plan.run.hook_error, plan.run.input_filter
    decided = [d.call for phase in plan.phases if phase.resume for d in phase.resume.decisions]
    patterns = {
        "ToolFailure": _one_of([o.error for o in outcomes if o.error is not None]),
        "SystemExit": _one_of([str(o.exit) for o in outcomes if o.exit is not None]),
        "GuardrailFailure": _one_of([g.error for g in plan.guardrails.values()
                                     if g.error is not None]),
        "HandoffFailure": _one_of([h.error for h in plan.handoffs.values()
                                   if h.error is not None]),
        "HookFailure": _one_of([hook.message] if hook is not None else []),
        "ServerFailure": _one_of([server.unlisted for server in plan.mcp.values()
                                  if server.unlisted is not None]),
        "FilterFailure": _one_of([sieve.error] if sieve is not None and sieve.error else []),
        "ScriptExhausted": rf"the script of agent ({agents}) holds no further turn",
        "NotPaused": rf"phase ({phases}) left no (paused state|history to follow)",
        "NotPending": rf"call ({_one_of(decided)}) does not wait for a decision",
        "MaxTurnsExceeded": rf"Max turns \(({_one_of([str(n) for n in turns if n])})\) exceeded",
        "ToolTimeoutError": rf"Tool '({tools})' timed out after [0-9.e+\-]+ seconds\.",
    }
    for stage in ("Input", "Output"):
        patterns[f"{stage}GuardrailTripwireTriggered"] = (
            rf"Guardrail {stage}Guardrail triggered tripwire")
        patterns[f"Tool{stage}GuardrailTripwireTriggered"] = (
            rf"Tool {stage.lower()} guardrail Tool{stage}Guardrail triggered tripwire")
    return {name: re.compile(pattern, re.DOTALL) for name, pattern in patterns.items()}


def _one_of(words: list[str]) -> str:
    # A pattern that matches nothing stands for no word at all.
    return "|".join(map(re.escape, sorted(set(words)))) or r"(?!)"


def handoff_functions(plan: Plan, agent: str) -> dict[str, str]:
    """Names of an agent's transfer functions and the agents they hand over to."""
    targets = [plan.handoffs[name].to if name in plan.handoffs else name
               for name in plan.agents[agent].handoffs]
    return {handoff_tool_name(plan, agent, target): target for target in targets}
