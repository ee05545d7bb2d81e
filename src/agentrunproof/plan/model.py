"""The declared plan: everything a scenario is, as frozen data.

A plan is written as TOML (`agentrunproof.plan.loader`) or built with these classes directly; both
give the same canonical JSON (`Plan.to_json`), which is what a certificate embeds and what its
digest names. Nothing here knows the SDK.

Fields that name other parts of the plan hold their names; `agentrunproof.plan.rules` checks that
they exist. Decimals are strings, because no float may enter canonical bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from agentrunproof.plan.options import HookDelay as HookDelay
from agentrunproof.plan.options import HookError as HookError
from agentrunproof.plan.options import HookName as HookName
from agentrunproof.plan.options import InputFilter as InputFilter
from agentrunproof.plan.options import Run as Run
from agentrunproof.plan.options import SessionInput as SessionInput
from agentrunproof.plan.parts import ITEM_KINDS as ITEM_KINDS
from agentrunproof.plan.parts import MODEL_ITEM_KINDS as MODEL_ITEM_KINDS
from agentrunproof.plan.parts import Agent as Agent
from agentrunproof.plan.parts import Guardrail as Guardrail
from agentrunproof.plan.parts import Handoff as Handoff
from agentrunproof.plan.parts import Item as Item
from agentrunproof.plan.parts import ModelError as ModelError
from agentrunproof.plan.parts import ModelSettings as ModelSettings
from agentrunproof.plan.parts import ModelStep as ModelStep
from agentrunproof.plan.parts import OutputType as OutputType
from agentrunproof.plan.parts import Param as Param
from agentrunproof.plan.parts import ParamType as ParamType
from agentrunproof.plan.parts import PythonRef as PythonRef
from agentrunproof.plan.parts import Session as Session
from agentrunproof.plan.parts import StepUsage as StepUsage
from agentrunproof.plan.parts import Tool as Tool
from agentrunproof.plan.parts import ToolGuardrail as ToolGuardrail
from agentrunproof.plan.parts import ToolOutcome as ToolOutcome
from agentrunproof.plan.servers import McpServer as McpServer
from agentrunproof.shape import Count, Decimal, Name, Positive, Text, decode, encode

Mode = Literal["run", "run_streamed", "run_sync"]
Via = Literal["memory", "json", "string"]
Outcome = Literal["completed", "interrupted", "raised", "cancelled", "timeout"]
ScenarioId = Annotated[str, Text(r"[a-z0-9]+(-[a-z0-9]+)*", "words in lower case joined by -")]

#: Where the functions stand that a plan may call without running foreign code.
OWN_CODE = "python:agentrunproof.suites.probes."

# A plain name in one of these modules: a dotted one leads to what a module has imported.
_OWN_FUNCTION = re.compile(re.escape(OWN_CODE) + r"[a-z_]+:[a-z_]+")


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One decision on a pending call: approve or reject it, for this call or `always`.

    `message` is the rejection message the model is to see.
    """

    call: str
    approve: bool = True
    always: bool = False
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class ResumeInput:
    """Start the phase from the paused result of an earlier one.

    Args:
        from_: id of the phase that was interrupted.
        branch: states of one result under different names are made separately, all of them
            when the result is there, before any is run.
        via: how the state travels: the object itself, its JSON, or its JSON string.
        decisions: made on the state before it is run; of several on one call the last one holds.
        add: a user message staged on the state (``RunState.add_input``).
    """

    from_: Name
    branch: Name = "main"
    via: Via = "memory"
    decisions: tuple[Decision, ...] = ()
    add: str | None = None


@dataclass(frozen=True, kw_only=True)
class LiteralInput:
    """Start the phase from a text or from items, after the history of an earlier phase if told.

    `follow` names a phase whose ``to_input_list()`` comes first.
    """

    text: str | None = None
    items: tuple[Item, ...] = ()
    follow: Name | None = None


def is_own_code(reference: str) -> bool:
    """Whether a ``python:`` reference names a function that the package has for plans to call."""
    return _OWN_FUNCTION.fullmatch(reference) is not None


@dataclass(frozen=True, kw_only=True)
class Call:
    """A function that the phase calls in place of a run.

    Args:
        python: which; what it gives must be JSON.
        arguments: JSON text of its keyword arguments.
    """

    python: PythonRef
    arguments: str = "{}"

    @property
    def is_own(self) -> bool:
        """Whether it names a function of the package."""
        return is_own_code(self.python)


@dataclass(frozen=True, kw_only=True)
class StateProbe:
    """Save the paused state in each of these ways, restore it, and compare."""

    via: tuple[Via, ...] = ("json", "string")


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """Cancel a streamed run when the consumer has seen the `count`-th event named `when`.

    `when` is a run item event name (``tool_called``), or a raw event type
    (``response.output_text.delta``). With the mode ``task`` it is the consumer's own task that is
    cancelled, which the stream hears of when the consumer waits for it the next time.
    """

    when: str
    count: Positive = 1
    mode: Literal["immediate", "after_turn", "task"] = "immediate"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """How the consumer of a streamed run reads it, if not at once and to its end.

    Args:
        begins_after: seconds of virtual time until it begins.
        delay: seconds of virtual time it takes to deal with each event.
        events: whether it reads any; otherwise it waits for the run's own task
            (``RunResultStreaming.run_loop_task``).
    """

    begins_after: Decimal | None = None
    delay: Decimal | None = None
    events: bool = True


@dataclass(frozen=True, kw_only=True)
class FailingWrite:
    """A write to the session that raises ``SessionFailure``.

    Args:
        count: which of the phase's writes it is, from 1.
        stored: whether the items were stored all the same, and only nobody was told.
    """

    count: Positive = 1
    stored: bool = False


@dataclass(frozen=True, kw_only=True)
class Sees:
    """What the nth model call of an agent in this phase (from 0) is to be given, as labels.

    A label is ``user:TEXT``, ``assistant:TEXT``, ``call:ID``, ``output:ID``, ``reasoning:TEXT``,
    ``system:TEXT`` or ``developer:TEXT``; see `agentrunproof.plan.items.label`.
    """

    agent: Name
    call: Count = 0
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ExpectedOutcome:
    """What must come out of a phase; what is left out is not expected either way.

    Args:
        outcome: how the phase ends.
        error: class name of the exception, with ``raised``.
        final_output: text of the final output (JSON text of a structured one).
        last_agent: name of the agent that ended the run.
        pending: call ids that wait for a decision, in order.
        tool_calls: how often each tool was started in this phase.
        model_calls: how often each agent's model was called in this phase.
        outputs: output text by call id, as the model or the result got it.
        session: labels of the session's whole content after the phase.
        sees: model inputs.
        value: what a call gives, as JSON text with its keys sorted.
    """

    outcome: Outcome = "completed"
    error: str | None = None
    final_output: str | None = None
    last_agent: Name | None = None
    pending: tuple[str, ...] | None = None
    tool_calls: dict[Name, Count] | None = None
    model_calls: dict[Name, Count] | None = None
    outputs: dict[str, str] | None = None
    session: tuple[str, ...] | None = None
    sees: tuple[Sees, ...] = ()
    value: str | None = None


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One run of the Runner: where it starts, the model's script, what must come out.

    Exactly one of `input`, `resume` and `call` is set; with `call` there is no run. `script`
    holds, by agent, the turns its model takes in this phase.
    """

    id: Name
    input: LiteralInput | None = None
    resume: ResumeInput | None = None
    call: Call | None = None
    agent: Name | None = None
    script: dict[Name, tuple[ModelStep, ...]] = field(default_factory=dict)
    context: dict[str, Any] | None = None
    max_turns: Positive | None = None
    cancel: Cancel | None = None
    reader: Reader | None = None
    probe: StateProbe | None = None
    failing_write: FailingWrite | None = None
    expect: ExpectedOutcome = field(default_factory=ExpectedOutcome)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A whole scenario. `start` is the agent that runs first; a plan of calls has no agents.

    `relations` forbids metamorphic relations by name, each with the reason.
    """

    title: str
    area: Name
    contract: str
    revision: Positive = 1
    why: str = ""
    docs: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    requires: tuple[Name, ...] = ()
    relations: dict[Name, str] = field(default_factory=dict)
    modes: tuple[Mode, ...] = ("run", "run_streamed")
    start: Name = ""
    agents: dict[Name, Agent] = field(default_factory=dict)
    tools: dict[Name, Tool] = field(default_factory=dict)
    mcp: dict[Name, McpServer] = field(default_factory=dict)
    guardrails: dict[Name, Guardrail] = field(default_factory=dict)
    tool_guardrails: dict[Name, ToolGuardrail] = field(default_factory=dict)
    handoffs: dict[Name, Handoff] = field(default_factory=dict)
    types: dict[Name, OutputType] = field(default_factory=dict)
    session: Session | None = None
    run: Run = field(default_factory=Run)
    phases: tuple[Phase, ...]

    def to_json(self) -> dict[str, Any]:
        """The canonical JSON form, ready for `agentrunproof.canonical.dumps`."""
        table: dict[str, Any] = encode(self)
        return table

    @staticmethod
    def from_json(value: Any, path: str = "") -> Plan:
        """Read the canonical JSON form.

        Raises:
            ShapeError: the value is not of the declared shape.
        """
        plan: Plan = decode(Plan, value, path)
        return plan

    @property
    def calls(self) -> bool:
        """Whether the phases call functions; in all others the Runner runs agents."""
        return any(phase.call is not None for phase in self.phases)

    @property
    def served(self) -> frozenset[str]:
        """Names of the tools that are those of an MCP server."""
        return frozenset(name for server in self.mcp.values() for name in server.tools)

    def server_of(self, agent: str, tool: str) -> str | None:
        """The MCP server by which an agent has a tool, if one of its servers offers it."""
        declared = self.agents.get(agent)
        return next((name for name in (declared.mcp if declared is not None else ())
                     if tool in self.mcp[name].offered), None)

    def tools_of(self, agent: str) -> tuple[str, ...]:
        """The tools of an agent: those that its MCP servers offer, then its own."""
        declared = self.agents.get(agent)
        if declared is None:
            return ()
        return (*(tool for name in declared.mcp for tool in self.mcp[name].offered),
                *declared.tools)

    def phase(self, id: str) -> Phase:
        return next(phase for phase in self.phases if phase.id == id)

    def context_of(self, phase: Phase) -> dict[str, Any] | None:
        """The context with which a phase runs; a resumed one keeps that of the paused run."""
        if phase.context is None and phase.resume is not None:
            return self.context_of(self.phase(phase.resume.from_))
        return self.run.context if phase.context is None else phase.context

    def branches(self, phase_id: str) -> dict[str, Via]:
        """Branches taken from a phase, in the order in which they are first resumed."""
        found: dict[str, Via] = {}
        for phase in self.phases:
            if phase.resume is not None and phase.resume.from_ == phase_id:
                found.setdefault(phase.resume.branch, phase.resume.via)
        return found

    def python_refs(self) -> Iterator[tuple[str, str]]:
        """Every foreign Python object named, as (place in the plan, reference)."""
        for name, tool in self.tools.items():
            if tool.python:
                yield f"tools.{name}.python", tool.python
        for name, guardrail in self.guardrails.items():
            if guardrail.python:
                yield f"guardrails.{name}.python", guardrail.python
        for name, agent in self.agents.items():
            if agent.instructions and agent.instructions.startswith("python:"):
                yield f"agents.{name}.instructions", agent.instructions
        if self.session is not None and self.session.python:
            yield "session.python", self.session.python
        for phase in self.phases:
            if phase.call is not None and not phase.call.is_own:
                yield f"phases.{phase.id}.call", phase.call.python
