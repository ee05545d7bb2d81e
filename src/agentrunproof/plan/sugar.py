"""The short forms that a TOML plan may use, turned into the canonical form of `plan.model`.

A short form belongs to one class of the model. `SHORTHANDS` says for each class which keys TOML
may use beyond its fields, what may stand in place of its table, and how both become canonical.
`expand` walks a document along the declared shapes and applies them; values of the wrong shape
are left as they stand, for `agentrunproof.shape.decode` to complain about. The published schema
(`plan.schema`) is written from the same table.
"""

from __future__ import annotations

import copy
import dataclasses
import decimal
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

from agentrunproof.errors import ShapeError
from agentrunproof.plan.items import value_text
from agentrunproof.plan.model import (
    Agent,
    Call,
    ExpectedOutcome,
    Item,
    LiteralInput,
    ModelStep,
    OutputType,
    Param,
    Phase,
    Plan,
    ResumeInput,
    Tool,
    ToolOutcome,
)
from agentrunproof.shape import Decimal, fields_of, join, nearest

Table = dict[str, Any]


@dataclass(frozen=True)
class Shorthand:
    """What TOML may say about a class beyond its canonical fields.

    Args:
        expand: takes what stands in the class's place, and its path; returns canonical TOML data.
        keys: further keys, each with the annotation of its value.
        instead: annotations of what may stand in place of the whole table.
        optional: required fields that TOML may leave out.
        replaced: fields whose TOML value differs from the canonical one, with its annotation.
    """

    expand: Callable[[Any, str], Any]
    keys: Table = field(default_factory=dict)
    instead: tuple[Any, ...] = ()
    optional: tuple[str, ...] = ()
    replaced: Table = field(default_factory=dict)


def expand(document: Table) -> Any:
    """The canonical JSON value that a parsed TOML plan stands for.

    Raises:
        ShapeError: a key is unknown, or two forms of one thing contradict each other.
    """
    return _walk(Plan, copy.deepcopy(document), "")


def json_text(value: Any, path: str) -> str:
    """`value` as compact JSON text, the form in which arguments and defaults are kept.

    Raises:
        ShapeError: it holds something JSON has no word for (a date, an infinite number).
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ShapeError("SHAPE_TYPE", path, "holds a value that JSON cannot say",
                         "dates and infinite numbers have no JSON form; write them as text"
                         ) from error


def sorted_text(value: Any, path: str) -> str:
    """The same with keys sorted, so that equal values have equal texts."""
    json_text(value, path)  # refuses what has no such text
    return value_text(value)


def _walk(annotation: Any, value: Any, path: str) -> Any:
    if annotation == Decimal:
        return _decimal_text(value)
    origin = get_origin(annotation)
    if origin is Annotated:
        return value
    if type(None) in get_args(annotation):
        return _walk(get_args(annotation)[0], value, path)
    if origin is tuple and isinstance(value, list):
        inner = get_args(annotation)[0]
        return [_walk(inner, item, f"{path}[{n}]") for n, item in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        inner = get_args(annotation)[1]
        return {key: _walk(inner, item, join(path, key)) for key, item in value.items()}
    if dataclasses.is_dataclass(annotation):
        assert isinstance(annotation, type)
        return _walk_class(annotation, value, path)
    return value


def _walk_class(cls: type, value: Any, path: str) -> Any:
    shorthand = SHORTHANDS.get(cls)
    if isinstance(value, dict):
        _refuse_unknown(cls, shorthand, value, path)
        value = dict(value)
    if shorthand is not None:
        value = shorthand.expand(value, path)
    if not isinstance(value, dict):
        return value
    declared = {item.name: item.annotation for item in fields_of(cls)}
    return {key: _walk(declared[key], item, join(path, key)) for key, item in value.items()}


def _refuse_unknown(cls: type, shorthand: Shorthand | None, value: Table, path: str) -> None:
    known = {item.name for item in fields_of(cls)} | set(shorthand.keys if shorthand else ())
    for key in value:
        if key not in known:
            hint = nearest(key, sorted(known)) or "known keys: " + ", ".join(sorted(known))
            raise ShapeError("SHAPE_UNKNOWN_KEY", join(path, key),
                             f"unknown key in {cls.__name__.lower()}", hint)


def _decimal_text(value: Any) -> Any:
    """A TOML number as the decimal text that canonical bytes hold; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = decimal.Decimal(repr(value))
    if not number.is_finite():
        return value
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _move(table: Table, key: str, inside: str, path: str) -> Table:
    """Take `key` out of the table, refusing it beside the long form `inside`."""
    if inside in table:
        raise ShapeError("SHAPE_CONTRADICTION", join(path, key),
                         f"says the same thing as {inside!r} beside it", "keep one of them")
    return {key: table.pop(key)}


def _plan(value: Any, path: str) -> Any:
    agents = value.get("agents")
    if isinstance(agents, dict) and agents:
        value.setdefault("start", next(iter(agents)))
    phases = value.get("phases")
    if isinstance(phases, list):
        if any(isinstance(phase, dict) and "call" in phase for phase in phases):
            value.setdefault("modes", ["run"])
        value["phases"] = [_script_for(phase, value.get("start")) for phase in phases]
        _number_calls(value["phases"])
    return value


def _script_for(phase: Any, start: Any) -> Any:
    """A script written as a list is that of the agent which the phase starts with."""
    if not isinstance(phase, dict) or not isinstance(phase.get("script"), list):
        return phase
    agent = phase.get("agent", start)
    return phase | {"script": {agent: phase["script"]}} if isinstance(agent, str) else phase


def _number_calls(phases: list[Any]) -> None:
    """Give the nth scripted call or handoff of the plan the id call-n, if it has none."""
    count = 0
    for phase in phases:
        for item in _scripted_items(phase):
            if "call" in item or "handoff" in item:
                count += 1
                item.setdefault("id", f"call-{count}")


def _scripted_items(phase: Any) -> list[Table]:
    script = phase.get("script") if isinstance(phase, dict) else None
    found = []
    for steps in script.values() if isinstance(script, dict) else ():
        for step in steps if isinstance(steps, list) else ():
            items = step.get("output") if isinstance(step, dict) else step
            found += [item for item in items or () if isinstance(item, dict)] \
                if isinstance(items, list) else []
    return found


def _phase(value: Any, path: str) -> Any:
    if not isinstance(value, dict) or "follow" not in value:
        return value
    follow = value.pop("follow")
    given = _input(value.get("input", {}), join(path, "input"))
    if not isinstance(given, dict):
        return value
    if "follow" in given:
        raise ShapeError("SHAPE_CONTRADICTION", join(path, "follow"),
                         "stands both in the phase and in its input", "keep one of them")
    return value | {"input": given | {"follow": follow}}


def _input(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, list):
        return {"items": value}
    return value


def _call(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return {"python": value}
    if isinstance(value, dict) and "args" in value:
        args = _move(value, "args", "arguments", path)["args"]
        value["arguments"] = sorted_text(args, join(path, "args"))
    return value


def _expected(value: Any, path: str) -> Any:
    if isinstance(value, dict) and "value" in value:
        value["value"] = sorted_text(value["value"], join(path, "value"))
    return value


def _step(value: Any, path: str) -> Any:
    return {"output": value} if isinstance(value, list) else value


def _item(value: Any, path: str) -> Any:
    if isinstance(value, dict) and "args" in value:
        args = _move(value, "args", "arguments", path)["args"]
        if not isinstance(args, dict):
            raise ShapeError("SHAPE_TYPE", join(path, "args"), "expected a table of arguments",
                             "write malformed arguments as text: arguments = '...'")
        value["arguments"] = json_text(args, join(path, "args"))
    return value


def _tool(value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        return value
    short = [key for key in _OUTCOME_KEYS if key in value]
    if short:
        value["outcomes"] = [{key: _move(value, key, "outcomes", path)[key] for key in short}]
    return _ordered(value, "parameters")


def _output_type(value: Any, path: str) -> Any:
    return _ordered(value, "fields") if isinstance(value, dict) else value


def _ordered(value: Table, key: str) -> Table:
    declared = value.get(key)
    if isinstance(declared, dict) and declared:
        value.setdefault("order", list(declared))
    return value


def _param(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return {"type": value}
    if isinstance(value, dict) and "default" in value:
        value["default"] = json_text(value["default"], join(path, "default"))
    return value


def _agent(value: Any, path: str) -> Any:
    if isinstance(value, dict) and value.get("stop_at_tools"):
        value.setdefault("tool_use_behavior", "stop_at_tools")
    return value


def _resume(value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        return value
    decisions = []
    for key in ("approve", "reject"):
        if key not in value:
            continue
        calls = _move(value, key, "decisions", path)[key]
        if not isinstance(calls, list):
            raise ShapeError("SHAPE_TYPE", join(path, key), "expected a list of call ids")
        decisions += [{"call": call} | ({} if key == "approve" else {"approve": False})
                      for call in calls]
    both = [d["call"] for d in decisions if d.get("approve", True)
            and {"call": d["call"], "approve": False} in decisions]
    if both:
        raise ShapeError("SHAPE_CONTRADICTION", path, f"approves and rejects {both[0]}",
                         "give decisions = [..], in their order")
    for key in ("always", "message"):
        if key not in value:
            continue
        said = value.pop(key)
        meant = [d for d in decisions if key == "always" or not d.get("approve", True)]
        if not meant:
            raise ShapeError("SHAPE_CONTRADICTION", join(path, key), "says nothing here",
                             "it goes with reject = [..]" if key == "message"
                             else "it goes with approve = [..] or reject = [..]")
        for decision in meant:
            decision[key] = said
    if decisions:
        value["decisions"] = decisions
    return value


_OUTCOME_KEYS = {item.name: item.annotation for item in fields_of(ToolOutcome)}
_CALLS = tuple[str, ...]

SHORTHANDS: dict[type, Shorthand] = {
    Plan: Shorthand(_plan, optional=("start",)),
    Phase: Shorthand(_phase, keys={"follow": str}, replaced={
        "script": (tuple[ModelStep, ...], dict[str, tuple[ModelStep, ...]])}),
    Call: Shorthand(_call, instead=(str,), keys={"args": dict[str, Any]}),
    ExpectedOutcome: Shorthand(_expected, replaced={"value": (Any,)}),
    LiteralInput: Shorthand(_input, instead=(str, tuple[Item, ...])),
    ResumeInput: Shorthand(_resume, keys={"approve": _CALLS, "reject": _CALLS, "always": bool,
                                          "message": str}),
    ModelStep: Shorthand(_step, instead=(tuple[Item, ...],)),
    Item: Shorthand(_item, keys={"args": dict[str, Any]}),
    Tool: Shorthand(_tool, keys=_OUTCOME_KEYS),
    Param: Shorthand(_param, instead=(str,), replaced={"default": (Any,)}),
    OutputType: Shorthand(_output_type),
    Agent: Shorthand(_agent),
}
