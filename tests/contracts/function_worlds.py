"""Plans whose phases call functions, and what they leave behind, sound and broken."""

from __future__ import annotations

from agentrunproof.plan.model import OWN_CODE, Call, ExpectedOutcome, Phase, Plan
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import Observation, PhaseRun
from tests.contracts.damage import change, drop, on
from tests.contracts.miniature import Miniature

World = tuple[Plan, Observation]


def called() -> World:
    """A function of the user's that gives what is expected, and a case that passes."""
    own = Call(python=OWN_CODE + "sessions:case", arguments='{"backend":"sqlite","name":"pop"}')
    declared = Plan(title="t", area="x", contract="c", modes=("run",), phases=(
        Phase(id="asked", call=Call(python="python:shop:price"),
              expect=ExpectedOutcome(value="1")),
        Phase(id="case", call=own)))
    return declared, Observation((
        _gives("asked", "1"), _gives("case", '{"code":"OK","verdict":"PASS"}')))


def _gives(phase: str, value: str) -> PhaseRun:
    return PhaseRun("run", phase, (make("call_returned", value=value),
                                   make("run_finished", outcome="completed")))


def _lacks(_: list[Event]) -> list[Event]:
    return [make("raised", error={"type": "Lacking", "message": "agents does not have it"}),
            make("run_finished", outcome="raised")]


FUNCTION_WORLDS = {"called": called}

FUNCTION_MINIATURES: tuple[Miniature, ...] = (
    Miniature("execution_outcome", "VALUE_DIFFERS", called,
              on("asked", change("call_returned", value="2"))),
    Miniature("execution_outcome", "FEATURE_UNOBSERVED", called, on("asked", _lacks)),
    Miniature("session_suite", "CASE_FAILS", called,
              on("case", change("call_returned", value='{"code":"LOST","verdict":"FAIL"}'))),
    Miniature("session_suite", "CASE_UNOBSERVED", called,
              on("case", change("call_returned", value='{"code":"X","verdict":"UNTESTABLE"}'))),
    Miniature("session_suite", "CASE_UNOBSERVED", called, on("case", drop("call_returned"))),
)
