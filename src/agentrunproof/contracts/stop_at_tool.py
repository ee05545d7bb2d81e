"""An agent that stops at a tool has that tool's output as its final one; others answer themselves.

"run_llm_again: The default behavior. Tools are run, and then the LLM receives the results and gets
to respond. stop_on_first_tool: The output from the first tool call is treated as the final result.
In other words, it isn't sent back to the LLM for further processing but is used directly as the
final output. A StopAtTools object: The agent will stop running if any of the tools listed in
stop_at_tool_names is called. The final output will be the output of the first matching tool call.
The LLM does not process the result of the tool call."
(https://openai.github.io/openai-agents-python/ref/agent/, Agent.tool_use_behavior;
openai-agents-python#1689)

Judged for answers in the outermost run that call tools of their agent and hand over to nobody: what
an answer with both comes to is not said. A tool that is not enabled is none of the agent's; where
the model is told so, it is asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import Call, gives_an_object, told
from agentrunproof.contracts.reading import Turn, lineage, turns, words
from agentrunproof.plan.items import block_text
from agentrunproof.plan.model import Agent, Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _taken(plan: Plan, seen: Observation, run: PhaseRun) -> list[Turn]:
    """The turns of a lineage's outermost run."""
    return [turn for other in lineage(plan, seen, run) for turn in turns(other) if not turn.parent]


def _called(plan: Plan, turn: Turn) -> list[Call]:
    """The tool calls in the answer of a turn; none if it calls anything else as well."""
    agent = plan.agents.get(turn.agent)
    made = [Call(str(item.get("call_id")), str(item.get("name")), str(item.get("arguments")),
                 turn.agent, "")
            for item in turn.output or () if item.get("type") == "function_call"]
    return made if agent is not None and {call.name for call in made} <= {
        name for name in plan.tools_of(turn.agent) if plan.tools[name].enabled} else []


def _stops(agent: Agent, made: list[Call]) -> list[Call]:
    """Those of the calls at which the agent stops."""
    if agent.tool_use_behavior == "stop_at_tools":
        return [call for call in made if call.name in agent.stop_at_tools]
    return made if agent.tool_use_behavior == "stop_on_first_tool" else []


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        taken = _taken(plan, seen, run)
        for before, after in pairwise(taken):
            made = _called(plan, before)
            stops = _stops(plan.agents[before.agent], made) if made else []
            if stops and before.agent == after.agent:
                yield Violation("ASKED_AFTER_STOP", run.where, f"{before.agent} stops at "
                                f"{words(call.name for call in stops)}, and its model was asked "
                                "again")
        if taken and run.outcome == "completed":
            yield from _ended(plan, lineage(plan, seen, run), taken[-1])


def _ended(plan: Plan, runs: tuple[PhaseRun, ...], last: Turn) -> Found:
    """What a run that ended with the calls of its last answer ended with."""
    run = runs[-1]
    result = run.last("result")
    made = _called(plan, last)
    if result is None or not made:
        return
    final = result["final_output"]
    if final is not None and final == plan.run.on_max_turns:
        return
    stops = _stops(plan.agents[last.agent], made)
    if not stops:
        yield Violation("ENDED_AT_TOOL", run.where, f"the run ended with the call of "
                        f"{words(call.name for call in made)}, at which {last.agent} does not stop")
        return
    if gives_an_object(plan, runs, stops[0]):
        return
    for text in told(run, stops[0]):
        if final is None or block_text(final) != text:
            yield Violation("OUTPUT_NOT_THE_TOOLS", run.where, f"the final output is {final!r}, "
                            f"{stops[0].name} gave {text!r}")


CONTRACT = Contract(
    name="stop_at_tool",
    promise="A run ends at a tool if its agent stops there, with its output, and else never.",
    source="https://openai.github.io/openai-agents-python/ref/agent/",
    codes={
        "ASKED_AFTER_STOP": "the model was asked again after a tool at which its agent stops",
        "ENDED_AT_TOOL": "a run ended at a tool at which its agent does not stop",
        "OUTPUT_NOT_THE_TOOLS": "the final output is not that of the tool at which it stopped",
    },
    applies=lambda plan, seen: any(_called(plan, turn) for run in seen.runs
                                   for turn in _taken(plan, seen, run)),
    violations=_violations,
)
