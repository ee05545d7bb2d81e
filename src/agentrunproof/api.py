"""The Python API: build a scenario, run it in this process, judge it, record it, check a record.

    from agentrunproof import (LiteralInput, Scenario, ScenarioAgent, ScenarioCase, ScenarioPhase,
                               ScenarioPlan, assistant_message, run_scenario)

    scenario = Scenario(
        id="greeting", title="A greeting", area="demo", contract="The model's text comes out.",
        case=ScenarioCase(agents={"greeter": ScenarioAgent()}),
        plan=ScenarioPlan(phases=(ScenarioPhase(
            id="only", input=LiteralInput(text="Hi"),
            script={"greeter": [assistant_message("Hello!")]}),)))
    assert run_scenario(scenario).verdict == "PASS"

The classes are those of `agentrunproof.plan.model`: a scenario built here and a TOML file that
says the same are the same plan, with the same digest.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrunproof.checker import check
from agentrunproof.checker.judgement import Judgement
from agentrunproof.errors import PlanError
from agentrunproof.plan import capabilities, rules, variants
from agentrunproof.plan.model import (
    Agent,
    Cancel,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Handoff,
    Item,
    LiteralInput,
    Mode,
    ModelError,
    ModelStep,
    OutputType,
    Param,
    Phase,
    Plan,
    ResumeInput,
    Run,
    Session,
    StateProbe,
    Tool,
    ToolGuardrail,
    ToolOutcome,
)
from agentrunproof.record import certificate as records
from agentrunproof.record import store
from agentrunproof.record.certificate import Certificate, Profile
from agentrunproof.record.observation import Observation, PhaseRun, gathered

if TYPE_CHECKING:
    from agentrunproof.sdk.scripted import DeterministicModel as DeterministicModel
    from agentrunproof.sdk.sessions import RecordingSession as RecordingSession

__all__ = [
    "Cancel", "Certificate", "Decision", "DeterministicModel", "ExpectedOutcome", "Item",
    "Judgement", "LiteralInput", "ModelError", "ModelStep", "Param", "RecordingSession",
    "ResumeInput", "Scenario", "ScenarioAgent", "ScenarioCase", "ScenarioGuardrail",
    "ScenarioHandoff", "ScenarioOutputType", "ScenarioPhase", "ScenarioPlan", "ScenarioResult",
    "ScenarioRun", "ScenarioSession", "ScenarioTool", "ScenarioToolGuardrail", "StateProbe",
    "ToolOutcome", "assistant_message", "build_certificate", "check_certificate",
    "function_call", "load_certificate", "run_scenario", "write_certificate",
]

ScenarioAgent = Agent
ScenarioTool = Tool
ScenarioGuardrail = Guardrail
ScenarioToolGuardrail = ToolGuardrail
ScenarioHandoff = Handoff
ScenarioOutputType = OutputType
ScenarioSession = Session
ScenarioRun = Run
ScenarioPhase = Phase

DEADLINE = 30.0


def __getattr__(name: str) -> Any:
    """The two names that import the SDK, when they are first asked for."""
    homes = {"DeterministicModel": "scripted", "RecordingSession": "sessions"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"agentrunproof.sdk.{homes[name]}"), name)


@dataclass(frozen=True, kw_only=True)
class ScenarioCase:
    """The world of a scenario: who takes part and with what. `start` runs first.

    Without `start` the first agent does. The order of a tool's parameters is that in which they
    stand.
    """

    agents: Mapping[str, Agent]
    start: str | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    guardrails: Mapping[str, Guardrail] = field(default_factory=dict)
    tool_guardrails: Mapping[str, ToolGuardrail] = field(default_factory=dict)
    handoffs: Mapping[str, Handoff] = field(default_factory=dict)
    types: Mapping[str, OutputType] = field(default_factory=dict)
    session: Session | None = None
    run: Run = field(default_factory=Run)


@dataclass(frozen=True, kw_only=True)
class ScenarioPlan:
    """What is done in that world: the phases, and the modes in which they are run."""

    phases: Sequence[Phase]
    modes: Sequence[Mode] = ("run", "run_streamed")
    requires: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A declared scenario, as a file under ``scenarios/`` would state it.

    Args:
        id: words in lower case joined by ``-``.
        title, area, contract, why: what it is about, where it belongs, what it promises, and
            whom it hurts when the promise is broken.
        case: agents, tools, session.
        plan: phases and modes.
        revision: raised whenever the meaning of the scenario changes.
        docs, upstream: links to documentation and to upstream issues.
    """

    id: str
    title: str
    area: str
    contract: str
    case: ScenarioCase
    plan: ScenarioPlan
    why: str = ""
    revision: int = 1
    docs: Sequence[str] = ()
    upstream: Sequence[str] = ()

    def to_plan(self) -> Plan:
        """The plan, checked like one read from a file.

        Raises:
            ShapeError, PlanError: with the place and what was expected there.
        """
        case = self.case
        start = case.start or next(iter(case.agents), "")
        plan = Plan(
            title=self.title, area=self.area, contract=self.contract, revision=self.revision,
            why=self.why, docs=tuple(self.docs), upstream=tuple(self.upstream),
            requires=tuple(self.plan.requires), modes=tuple(self.plan.modes), start=start,
            agents=dict(case.agents),
            tools={name: _in_order(tool) for name, tool in case.tools.items()},
            guardrails=dict(case.guardrails), tool_guardrails=dict(case.tool_guardrails),
            handoffs=dict(case.handoffs),
            types={name: _in_order(type_) for name, type_ in case.types.items()},
            session=case.session, run=case.run,
            phases=tuple(_with_steps(phase) for phase in self.plan.phases))
        plan = Plan.from_json(plan.to_json())
        rules.check(plan)
        return plan


@dataclass(frozen=True)
class ScenarioResult:
    """What a scenario did here, and the judgement of it."""

    certificate: Certificate

    @property
    def verdict(self) -> str:
        """``PASS``, ``FAIL``, ``UNTESTABLE``."""
        return self.certificate.verdict

    @property
    def checks(self) -> tuple[Any, ...]:
        """One `CheckResult` for each contract that applies."""
        return self.certificate.checks

    @property
    def observation(self) -> Observation:
        return self.certificate.observation


def assistant_message(text: str, *, id: str | None = None) -> Item:
    """A scripted assistant message, for `ModelStep`, `DeterministicModel` and plans."""
    return Item(say=text, id=id)


def function_call(name: str, arguments: Mapping[str, Any] | str | None = None, *,
                  call_id: str) -> Item:
    """A scripted function call.

    Args:
        name: of the function.
        arguments: a table, or JSON text (which may be malformed on purpose).
        call_id: the call's id, unique within the run and what resumes it.
    """
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(dict(arguments), ensure_ascii=False, separators=(",", ":"))
    return Item(call=name, id=call_id, arguments=arguments)


def run_scenario(scenario: Scenario | tuple[str, Plan], *, deadline: float = DEADLINE,
                 allow_python: bool | None = None, profile: Profile = "public"
                 ) -> ScenarioResult:
    """Run a scenario on the installed SDK, in this process and in a thread of its own.

    It may be called inside a running event loop (which it blocks until it is done) and under
    pytest. A phase that passes its deadline is a result, but its thread can't be stopped; the
    command line runs scenarios in child processes, which can.

    Args:
        scenario: a `Scenario`, or (id, plan) as `agentrunproof.plan.loader.load_file` gives it.
        deadline: seconds of real time for one phase in one mode.
        allow_python: whether ``python:`` references may be imported; by default those of a
            `Scenario` built here may, those of a plan that was read may not.
        profile: ``private`` records salted digests in place of payloads.

    Raises:
        PlanError: the plan contradicts itself, or names foreign Python that is not allowed.
        LabError: an earlier scenario in this process still hangs.
    """
    from agentrunproof.lab.probe import certify, producer, refuse_foreign
    from agentrunproof.lab.process import read_hello
    from agentrunproof.sdk import features, here

    if isinstance(scenario, Scenario):
        id, plan = scenario.id, scenario.to_plan()
    else:
        id, plan = scenario
    trusted = isinstance(scenario, Scenario) if allow_python is None else allow_python
    refuse_foreign(id, plan, trusted)
    missing = features.missing(list(capabilities.needed(plan)))
    varied = {variant.name: variant.plan for variant in variants.variants(plan)}
    runs = () if missing else here.observe(plan, deadline, varied)
    seen = gathered(((run.variant, PhaseRun(run.mode, run.phase, tuple(run.events)))
                     for run in runs), missing)
    return ScenarioResult(certify(id, plan, seen, producer(read_hello(here.environment())),
                                  profile))


def build_certificate(result: ScenarioResult) -> Certificate:
    """The certificate of a result."""
    return result.certificate


def write_certificate(certificate: Certificate, path: str | Path) -> str:
    """Write the certificate's canonical bytes to a file, all of them or nothing.

    Returns:
        The certificate's id.

    Raises:
        RecordError: the target is not a place to write to.
    """
    value = records.to_json(certificate)
    store.write(Path(path), records.file_bytes(value))
    return str(value["id"])


def load_certificate(path: str | Path) -> Certificate:
    """Read a certificate without judging it; `check_certificate` judges.

    Raises:
        RecordError, JsonError, ShapeError: it can't be read as one.
    """
    from agentrunproof import canonical

    return records.from_json(canonical.parse(store.read(Path(path))))


def check_certificate(source: str | Path | bytes | Certificate) -> Judgement:
    """Judge a certificate again from its bytes: every step of `agentrunproof.checker`."""
    if isinstance(source, Certificate):
        return check(records.to_bytes(source))
    return check(source if isinstance(source, bytes) else store.read(Path(source)))


def _in_order(declared: Any) -> Any:
    """A tool or output type whose `order` is that of its parameters, if it gives none."""
    names = tuple(getattr(declared, "parameters", None) or getattr(declared, "fields", {}))
    return replace(declared, order=names) if names and not declared.order else declared


def _with_steps(phase: Phase) -> Phase:
    """A phase whose script may hold bare items and lists of items, as full steps."""
    return replace(phase, script={agent: tuple(_step(step) for step in steps)
                                  for agent, steps in phase.script.items()})


def _step(step: Any) -> ModelStep:
    if isinstance(step, ModelStep):
        return step
    if isinstance(step, Item):
        return ModelStep(output=(step,))
    if isinstance(step, list | tuple) and all(isinstance(item, Item) for item in step):
        return ModelStep(output=tuple(step))
    raise PlanError("PLAN_STEP", f"a script holds {type(step).__name__}",
                    "give a ModelStep, an item, or a list of items")
