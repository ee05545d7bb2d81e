"""After a handoff the next agent sees the conversation so far and is the one who goes on.

"When a handoff occurs, it's as though the new agent takes over the conversation, and gets to see
the entire previous conversation history. If you want to change this, you can set an input_filter";
"remove_all_tools removes structured tool items."
(https://openai.github.io/openai-agents-python/handoffs/#input-filters) "If the LLM requests a
handoff, we update the current agent and input, and re-run the loop."
(https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop)

A nested history (`nest_handoff_history`) replaces the transcript by a summary: "reasoning items can
become orphaned", so they and the tools are told and not forwarded (agents.handoffs.history;
openai-agents-python#2508), and what was said stands there once (#3320, #3823). A text that the
record does not show in clear is not looked for.

"handoff_history_mapper: When supplied, the function's return value is used as the exact input
history." (https://openai.github.io/openai-agents-python/ref/run_config/)

"on_handoff: A function that runs when the handoff is invoked"; "input_type: the type of the input
to the handoff. If provided, the input will be validated against this type."
(https://openai.github.io/openai-agents-python/ref/handoffs/; openai-agents-python#3211, #3724)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Item,
    Turn,
    essences,
    handoff_tools,
    handoffs_of,
    lineage,
    output_text,
    rewrites,
    server_keeps,
    turns,
    words,
)
from agentrunproof.plan.items import item_text, of_type
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_TOOL_ITEMS = ("function_call", "function_call_output")
_SUMMARY = "<CONVERSATION HISTORY>"


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        by_lane: dict[str, list[Turn]] = {}
        for other in lineage(plan, seen, run):
            for turn in turns(other):
                by_lane.setdefault(turn.parent, []).append(turn)
        for taken in by_lane.values():
            for n, (before, after) in enumerate(pairwise(taken)):
                yield from _judge(plan, run, before, after)
                yield from _nested(plan, run, taken[:n + 1], after)
        yield from _last_agent(plan, run, by_lane.get("", []))
        yield from _callbacks(plan, seen, run, by_lane)


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
    if nested or server_keeps(plan):
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


def _nested(plan: Plan, run: PhaseRun, taken: list[Turn], after: Turn) -> Found:
    """A summary leaves no raw item beside it and tells each message once.

    There is none where the server has the history, of which the next agent is given what is new.
    """
    target = _target(plan, taken[-1])
    if server_keeps(plan) or target != after.agent or (
            not rewrites(plan, taken[-1].agent, target)[1]):
        return
    if plan.run.history_text is not None:
        if essences(after.input) != [(f"user:{plan.run.history_text}",)]:
            yield Violation("HANDOFF_MAPPER_IGNORED", run.where, f"{target} sees "
                            f"{words(said[0] for said in essences(after.input))}, the mapper gave "
                            f"{plan.run.history_text!r}")
        return
    raw = [item for item in after.input if item.get("type") in (*_TOOL_ITEMS, "reasoning")]
    if raw:
        yield Violation("HANDOFF_NESTING_IGNORED", run.where, f"{target} sees "
                        f"{words(item.get('type') for item in raw)} beside the summary")
    given = "\n".join(item_text(item) for item in after.input)
    if _SUMMARY not in given or any(rewrites(plan, before.agent, str(_target(plan, before)))[0]
                                   for before in taken):
        return
    first = [item for item in taken[0].input if "output" not in item]
    made = [item for turn in taken for item in turn.output or ()]
    # A summary that came with the input is unfolded into the new one; what a user quotes is not.
    said = [*(item for item in first
              if item.get("role") == "user" or _SUMMARY not in item_text(item)), *made]
    outputs = {item.get("call_id"): item for turn in taken for item in turn.input
               if "output" in item}
    everything = "\n".join(map(_whole_text, [*first, *made, *outputs.values()]))
    for text in dict.fromkeys(text for item in said if item.get("type", "message") == "message"
                              for text in _part_texts(item)):
        held, due = _occurrences(given, text), everything.count(text)
        if text and not held:
            yield Violation("HANDOFF_HISTORY_LOST", run.where, f"{target} is not told {text!r}")
        elif " " in text and held > due:  # a single word may well be the SDK's own
            yield Violation("HANDOFF_ITEM_REPEATED", run.where,
                            f"{target} is told {text!r} {held} times")


def _part_texts(item: Item) -> list[str]:
    """What a message says, part by part; a summary may tell several parts one by one."""
    content = item.get("content")
    parts = content if isinstance(content, list) else [content]
    return [item_text({"content": part if isinstance(part, str) else [part]}) for part in parts
            if isinstance(part, str | dict)]


def _whole_text(item: Item) -> str:
    """Everything an item says, of whatever kind it is."""
    if item.get("type") == "function_call":
        return str(item.get("arguments"))
    return output_text(item) if "output" in item else item_text(item)


def _occurrences(given: str, text: str) -> int:
    """How often a text stands in another: as it is, or as JSON writes it.

    With several lines only the latter counts; as it is, it would end a line of the summary.
    """
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return given.count(escaped)


def _callbacks(plan: Plan, seen: Observation, run: PhaseRun,
               by_lane: dict[str, list[Turn]]) -> Found:
    """The callback is called for each handoff that happens, and for no arguments that are unfit."""
    events = [event for other in lineage(plan, seen, run) for event in other.of("handoff")]
    held = Counter((event["parent"], event["from"], event["to"]) for event in events)
    done = Counter((lane, before.agent, after.agent) for lane, taken in by_lane.items()
                   for before, after in pairwise(taken) if _target(plan, before) == after.agent)
    for (_, source, target), count in (done - held).items():
        yield Violation("HANDOFF_CALLBACK_MISSING", run.where, f"{source} handed over to {target} "
                        f"{count} times without its callback having been called")
    for lane, taken in by_lane.items():
        for turn in taken:
            to = _target(plan, turn)
            if to is not None and _unfit(plan, turn) and held[lane, turn.agent, to]:
                yield Violation("HANDOFF_UNFIT_ACCEPTED", run.where, f"{turn.agent} handed over "
                                f"to {to} with arguments that are not of the declared type")


def _unfit(plan: Plan, turn: Turn) -> bool:
    """Whether all calls of transfer functions give a field of another type than declared."""
    tools = handoff_tools(plan, turn.agent)
    calls = [item for item in turn.output or () if item.get("name") in tools]
    return bool(calls) and all(_misfits(plan, turn.agent, item) for item in calls)


def _misfits(plan: Plan, agent: str, item: Item) -> bool:
    target = handoff_tools(plan, agent)[item["name"]]
    handoff = next((plan.handoffs[name] for name in handoffs_of(plan, agent)
                    if name in plan.handoffs and plan.handoffs[name].to == target), None)
    if handoff is None or handoff.input_type is None:
        return False
    declared = plan.types[handoff.input_type]
    try:
        given = json.loads(item.get("arguments") or "{}")
    except ValueError:
        return False
    return declared.strict and isinstance(given, dict) and any(
        name in declared.fields and not of_type(declared.fields[name].type, value)
        for name, value in given.items())


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
        "HANDOFF_MAPPER_IGNORED": "the next agent sees another history than the mapper gave",
        "HANDOFF_NESTING_IGNORED": "the next agent sees raw tool or reasoning items beside the "
                                   "summary of them",
        "HANDOFF_ITEM_REPEATED": "the next agent is told a message more often than it was said",
        "HANDOFF_CALLBACK_MISSING": "a handoff happened, its callback was never called",
        "HANDOFF_UNFIT_ACCEPTED": "a handoff happened with arguments not of its declared type",
    },
    applies=lambda plan, seen: bool(seen.runs) and any(
        agent.handoffs for agent in plan.agents.values()),
    violations=_violations,
)
