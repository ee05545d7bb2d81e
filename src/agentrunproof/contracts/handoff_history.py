"""After a handoff the next agent sees the conversation so far and is the one who goes on.

"When a handoff occurs, it's as though the new agent takes over the conversation, and gets to see
the entire previous conversation history. If you want to change this, you can set an
input_filter"; remove_all_tools "will automatically remove all tools from the history".
(https://openai.github.io/openai-agents-python/handoffs/#input-filters) "If the LLM does a
handoff, we update the current agent and input, and re-run the loop."
(https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop)

A nested history (`nest_handoff_history`) replaces the transcript by a summary; then only who goes
on is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Turn,
    essences,
    handoff_tools,
    lineage,
    rewrites,
    turns,
    words,
)
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_TOOL_ITEMS = ("function_call", "function_call_output")


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        by_lane: dict[str, list[Turn]] = {}
        for other in lineage(plan, seen, run):
            for turn in turns(other):
                by_lane.setdefault(turn.parent, []).append(turn)
        for taken in by_lane.values():
            for before, after in pairwise(taken):
                yield from _judge(plan, run, before, after)
        yield from _last_agent(plan, run, by_lane.get("", []))


def _target(plan: Plan, turn: Turn) -> str | None:
    """The agent that the answer of a turn hands over to: the first one, if there are several."""
    tools = handoff_tools(plan, turn.agent)
    targets = [tools[item["name"]] for item in turn.output or ()
               if item.get("type") == "function_call" and item.get("name") in tools]
    return targets[0] if targets else None


def _judge(plan: Plan, run: PhaseRun, before: Turn, after: Turn) -> Found:
    target = _target(plan, before)
    if target is None:
        return
    if after.agent != target:
        yield Violation("HANDOFF_TO_WRONG_AGENT", run.where, f"{before.agent} handed over to "
                        f"{target}, and {after.agent} went on")
        return
    filtered, nested = rewrites(plan, before.agent, target)
    if nested:
        return
    said = list(before.input) + list(before.output or ())
    if filtered:
        left = [item for item in after.input if item.get("type") in _TOOL_ITEMS]
        if left:
            yield Violation("HANDOFF_FILTER_IGNORED", run.where, f"{target} sees "
                            f"{words(item.get('call_id') for item in left)}, which the filter "
                            "removes")
        said = [item for item in said if item.get("type", "message") == "message"]
    lost = Counter(essences(said)) - Counter(essences(after.input))
    if lost:
        yield Violation("HANDOFF_HISTORY_LOST", run.where,
                        f"{target} does not see {words(said[0] for said in lost)}")


def _last_agent(plan: Plan, run: PhaseRun, taken: list[Turn]) -> Found:
    result = run.last("result")
    if run.outcome != "completed" or result is None or not taken:
        return
    expected = _target(plan, taken[-1]) or taken[-1].agent
    if result["last_agent"] != expected:
        yield Violation("HANDOFF_TO_WRONG_AGENT", run.where, f"the last agent is "
                        f"{result['last_agent']}, {expected} had the conversation")


CONTRACT = Contract(
    name="handoff_history",
    promise="The agent handed to goes on and sees the whole conversation, unless told otherwise.",
    source="https://openai.github.io/openai-agents-python/handoffs/#input-filters",
    codes={
        "HANDOFF_TO_WRONG_AGENT": "another agent went on than the one handed to",
        "HANDOFF_HISTORY_LOST": "the next agent does not see an item of the conversation",
        "HANDOFF_FILTER_IGNORED": "the next agent sees tool items that the filter removes",
    },
    applies=lambda plan, seen: any(run.of("handoff") for run in seen.runs),
    violations=_violations,
)
