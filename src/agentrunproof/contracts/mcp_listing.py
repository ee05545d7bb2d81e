"""An MCP server is asked for its tools whenever an agent runs, or once if it keeps the list.

"Every agent run calls list_tools() on each MCP server." "cache_tools_list: Set it to True only if
you are confident that the tool definitions do not change frequently."
(https://openai.github.io/openai-agents-python/mcp/#caching) "If True, the tools list will be cached
and only fetched from the server once. If False, the tools list will be fetched from the server on
each call to list_tools()." (https://openai.github.io/openai-agents-python/ref/mcp/server/)
"Tracing automatically captures MCP activity, including: Calls to the MCP server to list tools."
(https://openai.github.io/openai-agents-python/mcp/#tracing)

An agent runs when it is entered: at the start, by a handoff, as a tool. A list that is kept may be
asked for more than once by runs at the same time, and again after a failure. What is asked outside
of the run, to restore a state, is not traced with it. Which of the tools a model is offered is the
promise of `agent_request`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        yield from _stale(plan, run)
        yield from _untraced(run)
    for mode in seen.modes:
        yield from _again(plan, seen.in_mode(mode))


def _lists(run: PhaseRun) -> list[Event]:
    return [event for event in run.of("server_asked") if event["op"] == "list"]


def _stale(plan: Plan, run: PhaseRun) -> Found:
    """Servers without a cache that were asked less often than agents have begun to run."""
    asked: Counter[tuple[str, str]] = Counter()
    entered: set[tuple[str, str]] = set()
    due: Counter[tuple[str, str]] = Counter()
    for event in run.of("server_asked", "model_called"):
        parent = event["parent"]
        if event["kind"] == "server_asked":
            asked[event["server"], parent] += event["op"] == "list"
            continue
        agent = plan.agents.get(event["agent"])
        if agent is None or (event["agent"], parent) in entered:
            continue
        entered.add((event["agent"], parent))
        for name in agent.mcp:
            due[name, parent] += 1
            if not plan.mcp[name].cached and asked[name, parent] < due[name, parent]:
                yield Violation("LIST_STALE", run.where, f"{event['agent']} runs, and {name} was "
                                "not asked for its tools")


def _again(plan: Plan, runs: tuple[PhaseRun, ...]) -> Found:
    """Servers that were asked again for a list which they had given before."""
    given: set[str] = set()
    for run in runs:
        here: dict[str, list[str]] = {}
        for event in _lists(run):
            name, lane = event["server"], event["parent"]
            if name not in plan.mcp or not plan.mcp[name].cached:
                continue
            if name in given or any(_around(other, lane) for other in here.get(name, ())):
                yield Violation("LISTED_AGAIN", run.where, f"{name}, whose list is kept, was asked "
                                "for it again")
            if not event["error"]:
                here.setdefault(name, []).append(lane)
        given |= here.keys()


def _around(outer: str, lane: str) -> bool:
    """Whether one lane is the other or around it: what is beside it runs at the same time."""
    return outer in ("", lane) or lane.startswith(f"{outer}/")


def _untraced(run: PhaseRun) -> Found:
    spans = run.of("span_started", "span_finished")
    if not spans or run.outcome in CUT_SHORT:
        return
    asked: Counter[str] = Counter()
    for event in run.of("server_asked", "state_restored", "result"):
        if event["kind"] == "result":
            break
        if event["kind"] == "state_restored":
            asked.clear()
        elif event["op"] == "list":
            asked[event["server"]] += 1
    traced = Counter(span["name"] for span in spans if span["type"] == "mcp_tools")
    for name, count in asked.items():
        if traced[name] < count:
            yield Violation("LISTING_UNTRACED", run.where, f"{name} was asked for its tools "
                            f"{count} times, which {traced[name]} spans tell")


CONTRACT = Contract(
    name="mcp_listing",
    promise="An MCP server is asked for its tools by each agent run, or once if the list is kept.",
    source="https://openai.github.io/openai-agents-python/mcp/#caching",
    codes={
        "LIST_STALE": "an agent runs on a list of tools that its server was not asked for",
        "LISTED_AGAIN": "a server whose list is kept was asked for it again",
        "LISTING_UNTRACED": "a server was asked for its tools, and no span tells it",
    },
    applies=lambda plan, seen: bool(plan.mcp) and any(
        plan.agents[event["agent"]].mcp for run in seen.runs for event in run.of("model_called")
        if event["agent"] in plan.agents),
    violations=_violations,
)
