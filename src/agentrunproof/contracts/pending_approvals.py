"""A paused run tells each call that waits for a decision, once and with its details.

"If the approval rule requires approval and no decision for that tool call is stored, execution
pauses, and RunResult.interruptions (or RunResultStreaming.interruptions) contains ToolApprovalItem
entries with details such as agent.name, tool_name, and arguments. This includes approvals raised
after a handoff or inside nested Agent.as_tool() executions."
(https://openai.github.io/openai-agents-python/human_in_the_loop/#how-the-approval-flow-works)

In which order they stand is not promised. A call of a nested run may not have been reached when
its sibling paused; so only those of the outermost run must all be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import Call, calls, offered, told
from agentrunproof.contracts.reading import decided, lineage, pending
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        if run.outcome != "interrupted":
            continue
        runs = lineage(plan, seen, run)
        made = {call.id: call for call in calls(runs)}
        for id, count in Counter(pending(run)).items():
            if count > 1:
                yield Violation("PENDING_REPEATED", run.where, f"call {id} is told {count} times")
        yield from _details(plan, run, made)
        for call in made.values():
            if _waits(plan, runs, call) and call.id not in pending(run):
                yield Violation("PENDING_MISSING", run.where, f"call {call.id} of {call.name} "
                                "needs a decision, and is not among those that wait for one")


def _waits(plan: Plan, runs: tuple[PhaseRun, ...], call: Call) -> bool:
    """Whether a call of the outermost run's last answer must wait for a decision."""
    tool = offered(plan, call)
    return (tool is not None and tool.needs_approval and not call.parent
            and decided(plan, runs, call.id, call.name) is None and not told(runs[-1], call))


def _details(plan: Plan, run: PhaseRun, made: dict[str, Call]) -> Found:
    for event in run.of("interruption"):
        call = made.get(event["call"])
        tool = plan.tools.get(event["tool"])
        if call is None or (tool is not None and not tool.needs_approval):
            yield Violation("PENDING_FOREIGN", run.where, f"call {event['call']} of "
                            f"{event['tool']} waits for a decision that it does not need")
            continue
        for what, told_, due in (("tool", event["tool"], call.name),
                                 ("agent", event["agent"], call.agent),
                                 ("arguments", event["arguments"], call.arguments or "{}")):
            if told_ != due:
                yield Violation("PENDING_DETAILS_DIFFER", run.where, f"the {what} of call "
                                f"{call.id} is told as {told_}, it is {due}")


CONTRACT = Contract(
    name="pending_approvals",
    promise="A paused run tells each call that waits for a decision, once and with its details.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#how-the-approval-flow-works",
    codes={
        "PENDING_MISSING": "a call that needs a decision is not told",
        "PENDING_FOREIGN": "a call is told that needs no decision, or that nobody made",
        "PENDING_REPEATED": "a call is told more than once",
        "PENDING_DETAILS_DIFFER": "a call is told with another agent, tool or arguments",
    },
    applies=lambda plan, seen: any(run.outcome == "interrupted" for run in seen.runs),
    violations=_violations,
)
