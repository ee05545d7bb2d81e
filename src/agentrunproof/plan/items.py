"""What a plan's items look like on the wire: the one place that both sides derive them from.

The scripted model builds its outputs from `model_item`, and the checker derives the same items
from the embedded plan, so a model output that is not the script's cannot pass. Shapes are those
of the Responses API's input and output items.
"""

from __future__ import annotations

import json
import re
from typing import Any

from agentrunproof.plan.model import (
    InputFilter,
    Item,
    ParamType,
    Phase,
    Plan,
    SessionInput,
    Tool,
)

Json = dict[str, Any]

#: What a plan gives for the options that name something the server keeps (`Run.server`).
SERVER_IDS = {"conversation_id": "conversation-1", "previous_response_id": "resp-before"}

_ROLES = ("user", "system", "developer")
_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict}

#: first words of the labels that `label` makes
ITEM_LABELS = ("user", "assistant", "system", "developer", "call", "output", "reasoning",
               "search")


def input_item(item: Item, place: str) -> Json:
    """A declared item as an input item; `place` makes ids of items that declare none."""
    for role in _ROLES:
        text = getattr(item, role)
        if text is not None:
            return {"role": role, "content": text}
    if item.output is not None:
        return {"type": "function_call_output", "call_id": item.of, "output": item.output}
    return model_item(item, place)


def model_item(item: Item, place: str, tool_name: str | None = None) -> Json:
    """A declared model output as an output item.

    Args:
        item: one of `MODEL_ITEM_KINDS`.
        place: where it stands in the plan; the id of an item that declares none.
        tool_name: for a handoff, the name of its transfer function if it is not the default one.
    """
    id = item.id or place
    if item.say is not None:
        return {"id": f"msg-{id}", "type": "message", "role": "assistant", "status": "completed",
                "content": [_text_part(text) for text in (item.say, *item.more)]}
    if item.refusal is not None:
        part: Json = {"type": "refusal", "refusal": item.refusal}
        return {"id": f"msg-{id}", "type": "message", "role": "assistant", "status": "completed",
                "content": [part]}
    if item.reasoning is not None:
        summary = [{"type": "summary_text", "text": item.reasoning}]
        return {"id": f"rs-{id}", "type": "reasoning", "summary": summary}
    if item.search is not None:
        return {"id": f"ws-{id}", "type": "web_search_call", "status": "completed",
                "action": {"type": "search", "query": item.search}}
    name = item.call if item.call is not None else tool_name or transfer_name(str(item.handoff))
    return {"id": f"fc-{id}", "call_id": id, "type": "function_call", "name": name,
            "arguments": "{}" if item.arguments is None else item.arguments,
            "status": "completed"}


def _text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def transfer_name(agent: str) -> str:
    """The SDK's default name of the function that hands over to `agent`.

    Source: ``Handoff.default_tool_name`` of the SDK.
    """
    return re.sub(r"[^a-zA-Z0-9_]", "_", f"transfer_to_{agent}").lower()


def handoff_tool_name(plan: Plan, agent: str, target: str) -> str:
    """Name of the function by which `agent` hands over to `target` in this plan."""
    for name in plan.agents[agent].handoffs:
        handoff = plan.handoffs.get(name)
        if handoff is not None and handoff.to == target and handoff.tool_name:
            return handoff.tool_name
    return transfer_name(target)


def script_items(plan: Plan, phase: Phase, agent: str, step: int) -> list[Json]:
    """The output items of one scripted step, as the model returns them."""
    items = []
    for n, item in enumerate(phase.script[agent][step].output):
        name = handoff_tool_name(plan, agent, item.handoff) if item.handoff else None
        items.append(model_item(item, f"{phase.id}-{agent}-{step}-{n}", name))
    return items


def response_id(phase: Phase, agent: str, step: int) -> str:
    return phase.script[agent][step].response_id or f"resp-{phase.id}-{agent}-{step}"


def value_text(value: Any) -> str:
    """A value as JSON text with sorted keys: equal values have equal texts.

    Raises:
        TypeError: JSON has no word for something in it.
        ValueError: it holds a number that is not finite.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"),
                      allow_nan=False)


def phase_input(phase: Phase) -> list[Json]:
    """The literal input of a phase as items, without the history it follows."""
    assert phase.input is not None
    if phase.input.text is not None:
        return [{"role": "user", "content": phase.input.text}]
    return [input_item(item, f"{phase.id}-input-{n}") for n, item in enumerate(phase.input.items)]


def session_items(plan: Plan) -> list[Json]:
    """What the session holds before the first phase."""
    if plan.session is None:
        return []
    return [input_item(item, f"session-{n}") for n, item in enumerate(plan.session.items)]


def filtered(spec: InputFilter, items: list[Any], instructions: Any) -> tuple[list[Any], Any]:
    """What the filter makes of a model's input and instructions."""
    kept = items if spec.keep is None else items[max(len(items) - spec.keep, 0):]
    added = [] if spec.add is None else [{"role": "user", "content": spec.add}]
    return [*kept, *added], instructions if spec.instructions is None else spec.instructions


def is_object(arguments: str) -> bool:
    """Whether a tool can take the arguments of a call: a JSON object, or nothing for an empty one.

    What else a tool cannot take is for its schema to say.
    """
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except ValueError:
        return False


def fallbacks(plan: Plan) -> list[str]:
    """The outputs that error handlers of the plan supply."""
    return [text for text in (plan.run.on_max_turns, plan.run.on_refusal,
                              plan.run.on_invalid_output) if text is not None]


def joined(spec: SessionInput, history: list[Any], new: list[Any]) -> list[Any]:
    """What the session input callback makes of a session's history and the new input."""
    return [*kept(spec, history), *replaced(spec, new)]


def kept(spec: SessionInput, history: list[Any]) -> list[Any]:
    """What the callback leaves of the history."""
    return history if spec.keep is None else history[max(len(history) - spec.keep, 0):]


def replaced(spec: SessionInput | None, new: list[Any]) -> list[Any]:
    """What the callback, if there is one, makes of the new input."""
    if spec is None or spec.instead is None:
        return new
    return [{"role": "user", "content": spec.instead}]


def render(template: str, arguments: Json) -> str:
    """Fill ``{name}`` with the argument of that name: strings as they are, the rest as JSON."""
    def fill(match: re.Match[str]) -> str:
        if match[1] not in arguments:
            return match[0]
        value = arguments[match[1]]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return _FIELD.sub(fill, template)


def template_fields(template: str) -> list[str]:
    """Names of the arguments that `render` fills in, in order."""
    return _FIELD.findall(template)


def of_type(kind: ParamType, value: Any) -> bool:
    """Whether a JSON value is of a declared parameter type."""
    if kind == "string[]" or kind == "integer[]":
        inner: ParamType = "string" if kind == "string[]" else "integer"
        return isinstance(value, list) and all(of_type(inner, item) for item in value)
    return isinstance(value, _JSON_TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")


def declared_arguments(tool: Tool, arguments: str) -> Json:
    """The arguments a tool's body receives for this JSON text: what is given, over defaults.

    Empty for text that is not JSON, which never reaches a body. What is JSON but no object gives
    nothing; up to 0.16.0 the SDK starts a tool on it all the same (openai-agents-python#3166).
    """
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return {}
    if not isinstance(given, dict):
        given = {}
    defaults = {name: json.loads(param.default) for name, param in tool.parameters.items()
                if param.default is not None}
    return defaults | given


def label(item: Json) -> str:
    """A short name for an item, as `Sees` and `ExpectedOutcome.session` write it."""
    kind = item.get("type", "message")
    if kind == "function_call":
        return f"call:{item.get('call_id')}"
    if kind == "function_call_output":
        return f"output:{item.get('call_id')}"
    if kind == "reasoning":
        return "reasoning:" + "".join(part.get("text", "") for part in item.get("summary", []))
    if kind == "web_search_call":
        return f"search:{(item.get('action') or {}).get('query')}"
    if kind == "message":
        return f"{item.get('role')}:{item_text(item)}"
    return str(kind)


def block_text(text: str) -> str:
    """The text of a block of an MCP result that stands there as JSON; any other text as it is.

    Up to 0.7.0 models are told the whole block; hooks and final outputs are still.
    """
    if not text.startswith('{"type":"text",'):
        return text
    try:
        block = json.loads(text)
    except ValueError:
        return text
    only = block.keys() <= {"type", "text", "annotations", "meta", "_meta"}
    return block["text"] if only and isinstance(block.get("text"), str) else text


def item_text(item: Json) -> str:
    """The text of a message item, its parts joined."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", part.get("refusal", "")) for part in content or [])
