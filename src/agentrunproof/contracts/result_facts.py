"""What a result tells in several ways, it tells alike.

"last_response_id is the latest model response ID from the run."; "is_complete to see whether the
streamed run has fully finished"; "In streaming mode, final_output stays None until the stream has
finished processing."; "RunResultStreaming.current_agent updates as the run progresses, so you can
observe handoffs before the stream finishes." (https://openai.github.io/openai-agents-python/results/)
"request_usage_entries: List of RequestUsage entries for accurate per-request cost calculation."
(https://openai.github.io/openai-agents-python/ref/usage/; openai-agents-python#2144)

The driver holds each against the other as it reads the result, and records the names of those that
do not agree: the id against that of the last raw response, the sums of the usage entries against
the totals, `is_complete` against the stream's end, an early `final_output`, the current agent
against the agent that the stream named last, and `to_input_list()` against itself when it is
called again.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import words
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation


def _violations(_: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        told = run.last("result")
        if told is not None and told["amiss"]:
            yield Violation("FACTS_DISAGREE", run.where, "what the result tells does not agree "
                            f"with itself in {words(told['amiss'])}")


CONTRACT = Contract(
    name="result_facts",
    promise="What a result tells in several ways, it tells alike.",
    source="https://openai.github.io/openai-agents-python/results/",
    codes={"FACTS_DISAGREE": "two things that a result tells contradict each other"},
    applies=lambda plan, seen: any(run.of("result") for run in seen.runs),
    violations=_violations,
)
