"""What a removal from a plan takes along: names of parts that are gone, calls nobody makes.

All of this works on the canonical table of a plan in which `GONE` stands wherever something was
taken away, so that every place keeps its index until the end.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from agentrunproof.plan.items import input_item, label
from agentrunproof.plan.model import ITEM_KINDS, Item

Table = dict[str, Any]


class _Gone:
    """Stands for what was taken away."""

    def __deepcopy__(self, memo: object) -> _Gone:
        return self


GONE: Any = _Gone()

_GUARDS = ("input_guardrails", "output_guardrails")


def settle(table: Table, whole: Table) -> None:
    """Take away whatever hangs on what is gone, until nothing does.

    Args:
        table: the canonical table with `GONE` in some places; changed.
        whole: the same table before anything was taken away.
    """
    before = -1
    while before != (before := _buried(table)):
        _names(table)
        _options(table)
        _scripts(table, whole)
        _phases(table, whole)
        _expectations(table, whole)
        _gates(table)


def strip(value: Any) -> Any:
    """The table without what is gone."""
    if isinstance(value, dict):
        return {key: strip(item) for key, item in value.items() if item is not GONE}
    if isinstance(value, list):
        return [strip(item) for item in value if item is not GONE]
    return value


def _buried(value: Any) -> int:
    if value is GONE:
        return 1
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_buried, inner))


def _live(table: Table, key: str) -> Table:
    """The parts of a table that stand, by name."""
    held = table.get(key, GONE)
    return {} if held is GONE else {n: part for n, part in held.items() if part is not GONE}


def _all_live(table: Table, key: str) -> list[Any]:
    held = table.get(key, GONE)
    return [] if held is GONE else [part for part in held if part is not GONE]


def _keep(holder: Table, key: str, known: Any) -> None:
    """Bury each name in a list that is not among the known ones."""
    held = holder.get(key, GONE)
    if held is not GONE:
        for n, name in enumerate(held):
            if name is not GONE and name not in known:
                held[n] = GONE


def _bury_unknown(holder: Table, key: str, known: Any) -> None:
    if holder.get(key, GONE) is not GONE and holder[key] not in known:
        holder[key] = GONE


def _names(table: Table) -> None:
    """Names of agents, tools, guardrails, handoffs and types that are gone."""
    agents, tools, types = (_live(table, key) for key in ("agents", "tools", "types"))
    for handoff in _live(table, "handoffs").values():
        _bury_unknown(handoff, "input_type", types)
    for name, handoff in _live(table, "handoffs").items():
        if handoff["to"] not in agents:
            table["handoffs"][name] = GONE
    for name, tool in tools.items():
        if tool.get("agent", GONE) is not GONE and tool["agent"] not in agents:
            table["tools"][name] = GONE
        for key in _GUARDS:
            _keep(tool, key, _live(table, "tool_guardrails"))
    for name, server in _live(table, "mcp").items():
        _keep(server, "tools", _live(table, "tools"))
        for key in ("allow", "block"):
            _keep(server, key, _all_live(server, "tools"))
        if not _all_live(server, "tools"):
            table["mcp"][name] = GONE
    run = table.get("run", GONE)
    for holder in (*agents.values(), *([run] if run is not GONE else [])):
        for key in _GUARDS:
            _keep(holder, key, _live(table, "guardrails"))
    for agent in agents.values():
        _keep(agent, "tools", _live(table, "tools"))
        _keep(agent, "handoffs", {**agents, **_live(table, "handoffs")})
        _keep(agent, "mcp", _live(table, "mcp"))
        _keep(agent, "stop_at_tools", _offered(table, agent))
        _bury_unknown(agent, "output_type", types)


def _options(table: Table) -> None:
    """Options that go together."""
    for agent in _live(table, "agents").values():
        if agent.get("tool_use_behavior") == "stop_at_tools" \
                and not _all_live(agent, "stop_at_tools"):
            agent["tool_use_behavior"] = GONE
        if agent.get("tool_use_behavior", GONE) is GONE and "stop_at_tools" in agent:
            agent["stop_at_tools"] = GONE
    for tool in _live(table, "tools").values():
        _together(tool, "failure", "failure_text")
        if tool.get("timeout", GONE) is GONE and "timeout_behavior" in tool:
            tool["timeout_behavior"] = GONE
        _keep(tool, "order", _live(tool, "parameters"))
    for declared in _live(table, "types").values():
        _keep(declared, "order", _live(declared, "fields"))
    session = table.get("session", GONE)
    if session is not GONE and session.get("kind") != "sqlite":
        _together(session, "kind", "python")


def _together(holder: Table, *keys: str) -> None:
    if any(holder.get(key) is GONE for key in keys):
        holder.update((key, GONE) for key in keys if key in holder)


def _scripts(table: Table, whole: Table) -> None:
    """Calls that the agent could make and cannot any more; turns that say nothing any more."""
    for n, phase in enumerate(table["phases"]):
        for agent, steps in _live(phase, "script").items() if phase is not GONE else ():
            if agent not in _live(table, "agents"):
                phase["script"][agent] = GONE
                continue
            for at, step in enumerate(steps):
                if step is not GONE:
                    _settle_step(table, whole, agent, step)
                    said = whole["phases"][n]["script"][agent][at]
                    if _spent(step, said):
                        steps[at] = GONE


def _settle_step(table: Table, whole: Table, agent: str, step: Table) -> None:
    offered = _offered(table, table["agents"][agent])
    once = _offered(whole, whole["agents"][agent])
    handoffs = _live(table, "handoffs")
    targets = {handoffs[name]["to"] if name in handoffs else name
               for name in _all_live(table["agents"][agent], "handoffs")}
    output = step.get("output", GONE)
    for n, item in enumerate(output if output is not GONE else ()):
        if item is GONE:
            continue
        name = item.get("call", GONE)
        lost = name is not GONE and name in once and name not in offered
        if lost or (item.get("handoff", GONE) is not GONE and item["handoff"] not in targets):
            output[n] = GONE
        elif name is not GONE and name in offered:
            _settle_arguments(item, table["tools"][name], whole["tools"][name])


def _offered(table: Table, agent: Table) -> list[str]:
    """Tools of an agent and of its MCP servers."""
    servers = _live(table, "mcp")
    return [*_all_live(agent, "tools"), *(
        tool for name in _all_live(agent, "mcp") if name in servers
        for tool in _all_live(servers[name], "tools"))]


def _settle_arguments(item: Table, tool: Table, whole: Table) -> None:
    """Arguments for parameters that are gone."""
    gone = set(whole.get("parameters", ())) - set(_live(tool, "parameters"))
    if not gone or item.get("arguments", GONE) is GONE:
        return
    try:
        given = json.loads(item["arguments"])
    except ValueError:
        return
    if isinstance(given, dict) and gone & given.keys():
        kept = {key: value for key, value in given.items() if key not in gone}
        item["arguments"] = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _spent(step: Table, said: Table) -> bool:
    """Whether a turn that had something to say has nothing left."""
    return bool(said.get("output")) and not _all_live(step, "output") \
        and step.get("error", GONE) is GONE


def _phases(table: Table, whole: Table) -> None:
    """Phases that go on from one that is gone; decisions on calls nobody makes any more."""
    ids = {phase["id"] for phase in table["phases"] if phase is not GONE}
    lost = _calls(whole) - _calls(table)
    for n, phase in enumerate(table["phases"]):
        if phase is GONE:
            continue
        _bury_unknown(phase, "agent", _live(table, "agents"))
        resume, given = phase.get("resume", GONE), phase.get("input", GONE)
        if resume is not GONE:
            if resume["from"] not in ids:
                table["phases"][n] = GONE
            _bury_if(resume, "decisions", lost, "call")
        if given is not GONE:
            _bury_unknown(given, "follow", ids)
            _bury_if(given, "items", lost, "of")
            if not _all_live(given, "items") and all(
                    given.get(key, GONE) is GONE for key in ("text", "follow")):
                table["phases"][n] = GONE
    session = table.get("session", GONE)
    if session is not GONE:
        _bury_if(session, "items", lost, "of")


def _expectations(table: Table, whole: Table) -> None:
    """Expectations about parts, calls and texts that are gone."""
    lost = _labels(whole) - _labels(table)
    calls = _calls(whole) - _calls(table)
    for phase, before in zip(table["phases"], whole["phases"], strict=True):
        expect = GONE if phase is GONE else phase.get("expect", GONE)
        if expect is not GONE:
            _settle_counts(table, expect, phase, before)
            _bury_if(expect, "session", lost)
            if table.get("session", GONE) is GONE and "session" in expect:
                expect["session"] = GONE
            for seen in _all_live(expect, "sees"):
                _bury_if(seen, "items", lost)
            _bury_keys(expect, "outputs", calls)
            _bury_if(expect, "pending", calls)


def _settle_counts(table: Table, expect: Table, phase: Table, before: Table) -> None:
    """What a phase expects of agents and tools that are gone, or are called less often."""
    agents, tools = _live(table, "agents"), _live(table, "tools")
    _bury_unknown(expect, "last_agent", agents)
    quiet = _callees(before) - _callees(phase)
    _bury_keys(expect, "tool_calls",
               {name for name in _live(expect, "tool_calls") if name not in tools} | quiet)
    _bury_keys(expect, "model_calls",
               {name for name in _live(expect, "model_calls")
                if name not in agents or _turns(before, name) != _turns(phase, name)})
    for n, seen in enumerate(expect.get("sees", ()) if expect.get("sees") is not GONE else ()):
        if seen is not GONE and seen["agent"] not in agents:
            expect["sees"][n] = GONE


def _gates(table: Table) -> None:
    """Waits for a gate that nothing opens any more."""
    tools = list(_live(table, "tools").values())
    gated = [*tools, *_live(table, "guardrails").values(), *_steps(table)]
    opened = {part.get(key) for part in gated for key in ("opens", "opens_done")}
    for part in gated:
        _bury_unknown(part, "after", opened)
    for tool in tools:
        _bury_unknown(tool, "enabled_until", opened)


def _bury_if(holder: Table, key: str, lost: Collection[str], by: str | None = None) -> None:
    """Bury the members of a list that are lost, and the list if it has none left.

    Args:
        holder: what holds the list.
        key: its name.
        lost: the members that are lost, or what they say under `by`.
        by: key of the members that are tables.
    """
    held = holder.get(key, GONE)
    if held is GONE or not held:
        return
    for n, part in enumerate(held):
        if part is not GONE and (part if by is None else part.get(by)) in lost:
            held[n] = GONE
    if all(part is GONE for part in held):
        holder[key] = GONE


def _bury_keys(holder: Table, key: str, lost: Collection[str]) -> None:
    """Bury the entries of a table that are lost, and the table if it has none left."""
    for name in _live(holder, key):
        if name in lost:
            holder[key][name] = GONE
    if key in holder and not _live(holder, key):
        holder[key] = GONE


def _steps(table: Table) -> Iterator[Table]:
    for phase in _all_live(table, "phases"):
        yield from _phase_steps(phase)


def _phase_steps(phase: Table) -> Iterator[Table]:
    for steps in _live(phase, "script").values():
        yield from (step for step in steps if step is not GONE)


def _turns(phase: Table, agent: str) -> int:
    return len([step for step in _live(phase, "script").get(agent, ()) if step is not GONE])


def _callees(phase: Table) -> set[str]:
    return {item["call"] for step in _phase_steps(phase) for item in _all_live(step, "output")
            if item.get("call", GONE) is not GONE}


def _items(table: Table) -> Iterator[Table]:
    """All items that stand: of scripts, of inputs, of the session."""
    for step in _steps(table):
        yield from _all_live(step, "output")
    for phase in _all_live(table, "phases"):
        if phase.get("input", GONE) is not GONE:
            yield from _all_live(phase["input"], "items")
    if table.get("session", GONE) is not GONE:
        yield from _all_live(table["session"], "items")


def _calls(table: Table) -> set[str]:
    """Ids of all calls that stand."""
    return {str(item.get("id")) for item in _items(table)
            if any(item.get(kind, GONE) is not GONE for kind in ("call", "handoff"))}


def _labels(table: Table) -> set[str]:
    """Labels of all that is said and called in the plan, outputs of its calls included."""
    found = {label(input_item(Item(**strip(item)), "")) for item in _items(table)
             if len(_kinds(item)) == 1}
    found |= {f"output:{call}" for call in _calls(table)}
    return found | {f"user:{phase['input']['text']}" for phase in _all_live(table, "phases")
                    if phase.get("input", GONE) is not GONE
                    and phase["input"].get("text", GONE) is not GONE}


def _kinds(item: Table) -> list[str]:
    return [kind for kind in ITEM_KINDS if item.get(kind, GONE) is not GONE]
