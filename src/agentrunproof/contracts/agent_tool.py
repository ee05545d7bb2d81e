"""An agent as a tool is asked with what was generated for it, and answers with its final output.

"In handoffs, the new agent receives the conversation history. In this tool, the new agent receives
generated input"; "In handoffs, the new agent takes over the conversation. In this tool, the new
agent is called as a tool, and the conversation is continued by the original agent";
"custom_output_extractor: A function that extracts the output from the agent. If not provided, the
final output is used." (https://openai.github.io/openai-agents-python/ref/agent/, Agent.as_tool;
openai-agents-python#2112)

So what happens inside is no part of the outer stream; that it is no part of the outer result and
session either is the promise of `new_items` and `session_persistence`. The final output of an agent
that stops at its only call is what the tool gave. An answer that is empty or of a structured type
is not compared, nor one that a guardrail or a failing hook may have kept from becoming the final
output; a refusal is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import Item, message_text, refuses, words
from agentrunproof.plan.items import item_text
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        for event in _asked(plan, run):
            lane = "/".join(filter(None, (event["parent"], event["call"])))
            yield from _input(run, event, lane)
            yield from _output(plan, run, event, lane)
        leaked = _leaked(run)
        if leaked:
            yield Violation("NESTED_ITEM_LEAKED", run.where, f"{words(sorted(leaked))} of a nested "
                            "run was announced in the outer stream")


def _asked(plan: Plan, run: PhaseRun) -> list[Event]:
    return [event for event in run.of("tool_started")
            if event["tool"] in plan.tools and plan.tools[event["tool"]].agent is not None]


def _input(run: PhaseRun, asked: Event, lane: str) -> Found:
    """The first model call inside sees the generated input and nothing else.

    A nested run that goes on after a pause sees what it had before.
    """
    given = _argument(asked["arguments"])
    calls = [event for event in run.of("model_called") if event["parent"] == lane]
    if given is None or not calls or run.of("state_restored"):
        return
    told = [(item.get("role"), item_text(item)) for item in calls[0]["input"]]
    if told != [("user", given)]:
        yield Violation("AGENT_TOOL_INPUT_DIFFERS", run.where, f"{asked['tool']} was asked "
                        f"{given!r}, its agent sees {words(text for _, text in told)}")


def _argument(arguments: str) -> str | None:
    try:
        given = json.loads(arguments)
    except ValueError:
        return None
    text = given.get("input") if isinstance(given, dict) else None
    return text if isinstance(text, str) else None


def _output(plan: Plan, run: PhaseRun, asked: Event, lane: str) -> Found:
    answers = [event for event in run.of("model_responded") if event["parent"] == lane]
    gave = [event for event in run.of("tool_finished")
            if (event["parent"], event["call"]) == (asked["parent"], asked["call"])]
    if not answers or not gave or _failed(plan, run, lane):
        return
    final = _final(plan, run, answers[-1], lane)
    if final and gave[-1]["output"] != final:
        yield Violation("AGENT_TOOL_OUTPUT_DIFFERS", run.where, f"{asked['tool']} gave "
                        f"{gave[-1]['output']!r}, the final output of its agent is {final!r}")


def _failed(plan: Plan, run: PhaseRun, lane: str) -> bool:
    """Whether a nested run had an answer, and may have been refused it: a failure is told."""
    checks = [event for event in run.of("guardrail_checked") if event["parent"] == lane]
    return plan.run.hook_error is not None or any(
        check["tripped"] or check["error"] or check["behavior"] not in ("", "allow")
        for check in checks)


def _final(plan: Plan, run: PhaseRun, answer: Event, lane: str) -> str | None:
    """The final output of an agent that gives text, if its answer is one that ends its run."""
    agent = plan.agents.get(answer["agent"])
    if agent is None or agent.output_type is not None or refuses(answer["output"]):
        return None
    calls = [item for item in answer["output"] if item.get("type") == "function_call"]
    if not calls:
        said = [message_text(item) for item in answer["output"] if item.get("type") == "message"]
        return said[-1] if said else None
    (call, *others) = (str(item.get("call_id")) for item in calls)
    stops = agent.tool_use_behavior == "stop_on_first_tool" or (
        calls[0].get("name") in agent.stop_at_tools)
    gave = [event["output"] for event in run.of("tool_finished")
            if (event["parent"], event["call"]) == (lane, call)]
    return gave[0] if stops and len(gave) == 1 and not others else None


def _leaked(run: PhaseRun) -> set[str]:
    """Ids of items of nested runs that the outer stream announces."""
    nested = set(_ids(item for event in run.of("model_responded") if event["parent"]
                      for item in event["output"]))
    own = set(_ids(item for event in run.of("model_responded") if not event["parent"]
                   for item in event["output"]))
    return (nested - own) & set(_ids(event["item"] for event in run.of("stream_event")
                                     if isinstance(event["item"], dict)))


def _ids(items: Iterable[Item]) -> Iterator[str]:
    """What tells an item from all others: the id of its call, or its own."""
    return (str(item.get("call_id") or item.get("id")) for item in items)


CONTRACT = Contract(
    name="agent_tool",
    promise="An agent as a tool sees its input only, and only its final output is seen outside.",
    source="https://openai.github.io/openai-agents-python/ref/agent/",
    codes={
        "AGENT_TOOL_INPUT_DIFFERS": "a nested run sees other things than its generated input",
        "AGENT_TOOL_OUTPUT_DIFFERS": "an agent tool gave another text than its agent's output",
        "NESTED_ITEM_LEAKED": "an item of a nested run is announced in the outer stream",
    },
    applies=lambda plan, seen: any(_asked(plan, run) for run in seen.runs),
    violations=_violations,
)
