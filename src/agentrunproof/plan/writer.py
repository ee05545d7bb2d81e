"""A plan as TOML for people to read: the short forms of `plan.sugar`, written."""

from __future__ import annotations

import json
from typing import Any

from agentrunproof.errors import PlanError
from agentrunproof.plan.model import Plan

Table = dict[str, Any]

_WIDTH = 98
_TABLES = ("agents", "tools", "mcp", "guardrails", "tool_guardrails", "handoffs", "types")
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def to_toml(plan: Plan) -> str:
    """The text of a plan file that loads as this plan again.

    Raises:
        PlanError: ``PLAN_NO_TOML``, the plan holds a null, for which TOML has no word.
    """
    table = plan.to_json()
    start, agents = table.pop("start", ""), table.pop("agents", {})
    if agents:
        agents = {start: agents.pop(start)} | agents
    table["tools"] = {name: _tool(tool) for name, tool in table.get("tools", {}).items()}
    table["types"] = {name: _ordered(kind, "fields")
                      for name, kind in table.get("types", {}).items()}
    table["agents"] = {name: _agent(agent) for name, agent in agents.items()}
    phases, count = table.pop("phases"), 0
    if plan.calls:
        table.pop("modes")
    head = {key: value for key, value in table.items()
            if key not in (*_TABLES, "session", "run")}
    blocks = [_pairs(head)]
    for key in _TABLES:
        blocks += [[f"[{key}.{_key(name)}]", *_pairs(part)]
                   for name, part in table.get(key, {}).items()]
    blocks += [[f"[{key}]", *_pairs(table[key])] for key in ("session", "run") if key in table]
    for phase in phases:
        short, count = _phase(phase, start, count)
        blocks.append(["[[phases]]", *_pairs(short)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _agent(agent: Table) -> Table:
    short = dict(agent)
    if short.get("stop_at_tools"):
        short.pop("tool_use_behavior")
    return short


def _tool(tool: Table) -> Table:
    short = _ordered(tool, "parameters")
    outcomes = short.get("outcomes", ())
    if len(outcomes) == 1:
        short.pop("outcomes")
        short |= outcomes[0]
    return short


def _ordered(part: Table, key: str) -> Table:
    """Parameters or fields in the order in which they are declared, each in its short form."""
    short = dict(part)
    if short.get(key):
        short[key] = {name: _param(short[key][name]) for name in short.pop("order")}
    return short


def _param(param: Table) -> Any:
    if "default" in param:
        return param | {"default": json.loads(param["default"])}
    type = param.get("type", "string")
    return type if not param.keys() - {"type"} else param


def _phase(phase: Table, start: str, count: int) -> tuple[Table, int]:
    short = dict(phase)
    given = short.get("input", {})
    if set(given) == {"text"}:
        short["input"] = given["text"]
    if "call" in short:
        short["call"] = _call(short["call"])
        if "value" in short.get("expect", {}):
            short["expect"] |= {"value": json.loads(short["expect"]["value"])}
    if "resume" in short:
        short["resume"] = _resume(short["resume"])
    script: dict[str, list[Any]] = {}
    for agent, steps in short.get("script", {}).items():
        script[agent] = []
        for step in steps:
            items = []
            for item in step.get("output", ()):
                count += "call" in item or "handoff" in item
                items.append(_item(item, count))
            script[agent].append(items if set(step) <= {"output"} else step | (
                {"output": items} if items else {}))
    if script:
        only = set(script) == {short.get("agent", start)}
        short["script"] = next(iter(script.values())) if only else script
    return short, count


def _call(call: Table) -> Any:
    if "arguments" not in call:
        return call["python"]
    return {"python": call["python"], "args": json.loads(call["arguments"])}


def _item(item: Table, count: int) -> Table:
    """A scripted item; an id that follows from its place is left out."""
    short = dict(item)
    if ("call" in item or "handoff" in item) and item.get("id") == f"call-{count}":
        short.pop("id")
    arguments = short.get("arguments")
    if arguments is not None and _says_itself(arguments):
        short["args"] = json.loads(short.pop("arguments"))
    return short


def _says_itself(arguments: str) -> bool:
    """Whether a table says these arguments to the letter."""
    try:
        given = json.loads(arguments)
        return isinstance(given, dict) and not _holds_null(given) and json.dumps(
            given, ensure_ascii=False, separators=(",", ":")) == arguments
    except ValueError:
        return False


def _holds_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(_holds_null, inner))


def _resume(resume: Table) -> Table:
    decisions = resume.get("decisions", ())
    if decisions and all(set(one) == {"call"} for one in decisions):
        rest = {key: value for key, value in resume.items() if key != "decisions"}
        return rest | {"approve": [one["call"] for one in decisions]}
    return resume


def _pairs(table: Table) -> list[str]:
    return [line for key, value in table.items() for line in _pair(_key(key), value)]


def _pair(key: str, value: Any) -> list[str]:
    line = f"{key} = {_value(value)}"
    if len(line) <= _WIDTH or not isinstance(value, list | dict) or not value:
        return [line]
    if isinstance(value, dict):  # a table of its own is written with dotted keys
        return [part for name, inner in value.items()
                for part in _pair(f"{key}.{_key(name)}", inner)]
    return [f"{key} = [", *(f"  {_value(item)}," for item in value), "]"]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise PlanError("PLAN_NO_TOML", "the plan holds a null, for which TOML has no word")


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name and set(name) <= _BARE else _string(name)
