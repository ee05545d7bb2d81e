"""Steps of runopsy's trace events (their schema 0.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentrunproof.record.localization import Step, StepStatus

_STATUS: dict[str, StepStatus] = {"error": "error", "timeout": "timeout", "blocked": "blocked",
                                  "cancelled": "cancelled"}
Json = dict[str, Any]


def steps(events: Iterable[Json]) -> tuple[Step, ...]:
    """The steps of a run's events, numbered by their ``sequence``.

    Raises:
        KeyError, TypeError: an event is not as the schema has it.
    """
    return tuple(_steps(sorted(events, key=lambda event: int(event["sequence"]))))


def _steps(events: Iterable[Json]) -> Iterator[Step]:
    for event in events:
        number, agent = int(event["sequence"]), str(event.get("agent_id") or "")
        changes = {str(key): str(value.get("after")) if isinstance(value, dict) else str(value)
                   for key, value in (event.get("state_delta") or {}).items()}
        match event["kind"]:
            case "run_start":
                yield Step(number=number, kind="start", agent=agent,
                           input=str(event["run"].get("task") or ""))
            case "run_end":
                yield Step(number=number, kind="end", agent=agent,
                           facts=_facts(event["run"], outcome="outcome"))
            case "tool_call":
                yield _tool(event["tool"], number, agent, changes)
            case "llm_call":
                yield _answer(event["llm"], number, agent)
            case "memory_op":
                memory = event["memory"]
                yield Step(number=number, kind="memory", agent=agent,
                           tool=str(memory.get("key") or ""), changes=changes,
                           facts=_facts(memory, operation="operation", age="age_seconds"))
            case "handoff":
                handoff = event["handoff"]
                yield Step(number=number, kind="handoff", agent=agent, facts={
                    "to": str(handoff.get("to_agent_id") or ""),
                    **({"missing": ", ".join(map(str, handoff["missing_fields"]))}
                       if handoff.get("missing_fields") else {})})
            case "claim":
                yield Step(number=number, kind="claim", agent=agent,
                           facts=_facts(event["claim"], support="support_status"))


def _tool(tool: Json, number: int, agent: str, changes: dict[str, str]) -> Step:
    code = tool.get("exit_code")
    status = _STATUS.get(str(tool.get("status")), "error" if code else "ok")
    failed = status != "ok"
    said = tool.get("error_type") or tool.get("blocked_reason") or (
        f"exited {code}" if code else "")
    return Step(number=number, kind="tool", agent=agent, tool=str(tool.get("name") or ""),
                status=status, error=str(said) if failed else "", changes=changes,
                facts=_facts(tool, input_digest="arguments_hash", output_digest="output_hash",
                             retry_of="retry_of"))


def _answer(llm: Json, number: int, agent: str) -> Step:
    cut = llm.get("finish_reason") in ("length", "max_tokens", "content_filter")
    status: StepStatus = _STATUS.get(str(llm.get("status")), "cut" if cut else "ok")
    tokens = llm.get("tokens") or {}
    return Step(number=number, kind="answer", agent=agent, status=status,
                facts={**_facts(llm, finish="finish_reason", model="model"),
                       **_facts(tokens, tokens_in="input_tokens", tokens_out="output_tokens")})


def _facts(table: Json, **names: str) -> dict[str, str]:
    """What a table says, under our names; what it leaves out is left out."""
    return {ours: _word(table[theirs]) for ours, theirs in names.items()
            if table.get(theirs) is not None}


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
