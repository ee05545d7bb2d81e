"""The declared plan: everything a scenario is, as frozen data.

A plan is written as TOML (`agentrunproof.plan.loader`) or built with these classes directly; both
give the same canonical JSON (`Plan.to_json`), which is what a certificate embeds and what its
digest names. Nothing here knows the SDK.

Fields that name other parts of the plan hold their names; `agentrunproof.plan.rules` checks that
they exist. Decimals are strings, because no float may enter canonical bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from agentrunproof.shape import Count, Decimal, Name, Positive, Text, decode, encode

Mode = Literal["run", "run_streamed", "run_sync"]
Via = Literal["memory", "json", "string"]
Outcome = Literal["completed", "interrupted", "raised", "cancelled", "timeout"]
ItemKind = Literal["user", "system", "developer", "say", "refusal", "reasoning", "call",
                   "handoff", "output"]

ScenarioId = Annotated[str, Text(r"[a-z0-9]+(-[a-z0-9]+)*", "words in lower case joined by -")]
PythonRef = Annotated[str, Text(r"python:[A-Za-z_][\w.]*:[A-Za-z_][\w.]*",
                                "python:package.module:attribute")]
ParamType = Literal["string", "integer", "number", "boolean", "object", "string[]", "integer[]"]

ITEM_KINDS: tuple[str, ...] = ("user", "system", "developer", "say", "refusal", "reasoning",
                               "call", "handoff", "output")
MODEL_ITEM_KINDS = frozenset({"say", "refusal", "reasoning", "call", "handoff"})


@dataclass(frozen=True, kw_only=True)
class Item:
    """One conversation item; exactly one of its nine kinds is set.

    Args:
        user, system, developer: text of an input message with that role.
        say: text of an assistant message.
        refusal: text of an assistant refusal.
        reasoning: summary text of a reasoning item.
        call: name of the function called; `id` is the call id, `arguments` its JSON text, which
            may be malformed on purpose.
        handoff: name of the agent handed to (a call of its transfer function).
        output: text of a function call output; `of` is the call id it answers.
        id: call id, or the item id of a message or reasoning item.
    """

    user: str | None = None
    system: str | None = None
    developer: str | None = None
    say: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    call: str | None = None
    handoff: Name | None = None
    output: str | None = None
    of: str | None = None
    id: str | None = None
    arguments: str | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in ITEM_KINDS if getattr(self, kind) is not None)

    @property
    def kind(self) -> str:
        """The one kind that is set (after `rules.check` has seen that it is one)."""
        return self.kinds[0]


@dataclass(frozen=True, kw_only=True)
class ModelError:
    """An exception that the scripted model raises instead of answering.

    `type` is ``ModelBehaviorError``, ``UserError`` (the SDK's), or a builtin exception name;
    ``CancelledError`` is asyncio's.
    """

    type: Literal["ModelBehaviorError", "UserError", "RuntimeError", "ValueError",
                  "ConnectionError", "TimeoutError", "CancelledError"] = "RuntimeError"
    message: str = "model failed"


@dataclass(frozen=True, kw_only=True)
class StepUsage:
    """Tokens the scripted model reports for one response."""

    input: Count = 10
    output: Count = 5
    cached: Count = 0
    reasoning: Count = 0


@dataclass(frozen=True, kw_only=True)
class ModelStep:
    """One turn of the scripted model: what it outputs, or the error it raises.

    Args:
        output: items in order; empty means an empty response.
        usage: tokens reported with the response.
        response_id: id of the response; default ``resp-<phase>-<agent>-<n>``.
        error: raise this; `output` items are streamed first, then the error breaks the stream.
        after: wait until this gate is open.
        opens: open this gate when the model call starts.
        hang: never answer.
    """

    output: tuple[Item, ...] = ()
    usage: StepUsage = field(default_factory=StepUsage)
    response_id: str | None = None
    error: ModelError | None = None
    after: Name | None = None
    opens: Name | None = None
    hang: bool = False


@dataclass(frozen=True, kw_only=True)
class Param:
    """One parameter of a function tool; it is required unless `default` is given."""

    type: ParamType = "string"
    description: str | None = None
    default: str | None = None


@dataclass(frozen=True, kw_only=True)
class ToolOutcome:
    """What one invocation of a tool does: exactly one of these.

    Args:
        returns: the output text; ``{name}`` stands for the argument of that name.
        error: raise ``ToolFailure`` with this message.
        cancel: raise ``asyncio.CancelledError`` from within.
        hang: never return.
        exit: call ``sys.exit`` with this status.
    """

    returns: str | None = None
    error: str | None = None
    cancel: bool = False
    hang: bool = False
    exit: int | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function tool, an agent as a tool (`agent`), or foreign Python (`python`).

    Args:
        outcomes: the nth invocation does the nth of these, the last one repeats.
        parameters: by name, in the order of `order`.
        order: names of the parameters as the function declares them.
        needs_approval: the run pauses before each call of it.
        failure: what the SDK makes of an exception: ``default`` text, ``raise`` (the SDK's
            ``failure_error_function=None``), or ``text`` (a function returning `failure_text`).
        timeout: seconds, in virtual time; `timeout_behavior` as in the SDK.
        delay: seconds of virtual time before the tool acts, an ordering barrier.
        after, opens: gate to wait for before acting; gate to open on being started.
        opens_done: gate to open after having acted.
        input_guardrails, output_guardrails: names of tool guardrails.
        enabled: whether it is offered to the model at all.
        enabled_until: gate with whose opening it is disabled.
        agent: make this agent the tool; `parameters` and `outcomes` stay empty.
        max_turns: of the nested run.
        python: a tool object, or a function to be wrapped as one.
    """

    description: str | None = None
    parameters: dict[Name, Param] = field(default_factory=dict)
    order: tuple[Name, ...] = ()
    outcomes: tuple[ToolOutcome, ...] = ()
    needs_approval: bool = False
    failure: Literal["default", "raise", "text"] = "default"
    failure_text: str | None = None
    timeout: Decimal | None = None
    timeout_behavior: Literal["error_as_result", "raise_exception"] = "error_as_result"
    delay: Decimal | None = None
    after: Name | None = None
    opens: Name | None = None
    opens_done: Name | None = None
    input_guardrails: tuple[Name, ...] = ()
    output_guardrails: tuple[Name, ...] = ()
    strict: bool = True
    enabled: bool = True
    enabled_until: Name | None = None
    agent: Name | None = None
    max_turns: Positive | None = None
    python: PythonRef | None = None


@dataclass(frozen=True, kw_only=True)
class Guardrail:
    """An input or output guardrail of an agent or a run.

    Args:
        kind: what it checks.
        trips: it trips always.
        trips_on: it trips when the checked text contains this.
        error: it raises ``GuardrailFailure`` with this message.
        blocking: an input guardrail that runs before the model rather than beside it
            (the SDK's ``run_in_parallel=False``).
        after, opens: gates, as for tools; `opens` is opened when the guardrail has decided.
        delay: seconds of virtual time before it decides.
        cleanup: seconds of virtual time it takes to stop when it is cancelled.
    """

    kind: Literal["input", "output"]
    trips: bool = False
    trips_on: str | None = None
    error: str | None = None
    blocking: bool = False
    after: Name | None = None
    opens: Name | None = None
    delay: Decimal | None = None
    cleanup: Decimal | None = None
    python: PythonRef | None = None


@dataclass(frozen=True, kw_only=True)
class ToolGuardrail:
    """A guardrail on a tool's input or output."""

    kind: Literal["input", "output"]
    behavior: Literal["allow", "reject_content", "raise_exception"] = "allow"
    message: str = "rejected by guardrail"
    when: str | None = None


@dataclass(frozen=True, kw_only=True)
class Handoff:
    """A handoff with options; an agent may also name another agent directly."""

    to: Name
    tool_name: Name | None = None
    description: str | None = None
    filter: Literal["none", "remove_all_tools"] = "none"
    nest_history: bool | None = None
    input_type: Name | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutputType:
    """A structured output: an object with these fields, in the order of `order`."""

    fields: dict[Name, Param]
    order: tuple[Name, ...] = ()
    strict: bool = True


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Model settings that the run must hand to the model."""

    temperature: Decimal | None = None
    top_p: Decimal | None = None
    max_tokens: Positive | None = None
    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None
    truncation: Literal["auto", "disabled"] | None = None
    store: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One agent. `stop_at_tools` is the SDK's ``StopAtTools``."""

    instructions: str | None = None
    handoff_description: str | None = None
    tools: tuple[Name, ...] = ()
    handoffs: tuple[Name, ...] = ()
    input_guardrails: tuple[Name, ...] = ()
    output_guardrails: tuple[Name, ...] = ()
    output_type: Name | None = None
    tool_use_behavior: Literal["run_llm_again", "stop_on_first_tool", "stop_at_tools"] = (
        "run_llm_again")
    stop_at_tools: tuple[Name, ...] = ()
    reset_tool_choice: bool = True
    model_settings: ModelSettings = field(default_factory=ModelSettings)


@dataclass(frozen=True, kw_only=True)
class Session:
    """The session all phases share.

    ``recording`` is an in-memory session of ours, ``sqlite`` the SDK's ``SQLiteSession`` on a
    file in a temporary folder, ``python`` a factory called with the session id. Whatever it is,
    each operation on it is recorded.
    """

    kind: Literal["recording", "sqlite", "python"] = "recording"
    id: str = "session-1"
    items: tuple[Item, ...] = ()
    limit: Count | None = None
    python: PythonRef | None = None


HookName = Literal["on_agent_start", "on_agent_end", "on_llm_start", "on_llm_end",
                   "on_tool_start", "on_tool_end", "on_handoff"]


@dataclass(frozen=True, kw_only=True)
class HookError:
    """A lifecycle hook that raises ``HookFailure`` the first time it is called.

    With `cancel` it raises ``asyncio.CancelledError`` instead, from within.
    """

    on: HookName
    message: str = "hook failed"
    cancel: bool = False


@dataclass(frozen=True, kw_only=True)
class HookDelay:
    """A hook of the agent that takes this many seconds of virtual time."""

    on: HookName
    delay: Decimal


@dataclass(frozen=True, kw_only=True)
class Run:
    """Options of every run of the plan (the SDK's ``Runner.run`` arguments and ``RunConfig``).

    Args:
        on_max_turns: the final output that an error handler supplies when turns run out.
        callables: what the functions are that the plan gives to the SDK (instructions, callbacks
            and filters of handoffs): functions, objects that can be called, or such objects that
            count as false.
        retries: how often the Runner tries a failed model call again, whatever the error was (the
            SDK's ``ModelRetrySettings``).
        sensitive_traces: whether spans may tell what tools and models were given and gave
            (the SDK's ``trace_include_sensitive_data``).
    """

    max_turns: Positive | None = None
    context: dict[str, Any] | None = None
    hooks: Literal["both", "run", "agent", "none"] = "both"
    hook_error: HookError | None = None
    hook_delay: HookDelay | None = None
    nest_handoff_history: bool = False
    input_guardrails: tuple[Name, ...] = ()
    output_guardrails: tuple[Name, ...] = ()
    model_settings: ModelSettings = field(default_factory=ModelSettings)
    on_max_turns: str | None = None
    retries: Positive | None = None
    tracing: bool = True
    sensitive_traces: bool = True
    callables: Literal["function", "object", "false_object"] = "function"


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
        decisions: made on the state before it is run.
    """

    from_: Name
    branch: Name = "main"
    via: Via = "memory"
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LiteralInput:
    """Start the phase from a text or from items, after the history of an earlier phase if told.

    `follow` names a phase whose ``to_input_list()`` comes first.
    """

    text: str | None = None
    items: tuple[Item, ...] = ()
    follow: Name | None = None


@dataclass(frozen=True, kw_only=True)
class StateProbe:
    """Save the paused state in each of these ways, restore it, and compare."""

    via: tuple[Via, ...] = ("json", "string")


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """Cancel a streamed run when the consumer has seen the `count`-th event named `when`.

    `when` is a run item event name (``tool_called``), or a raw event type
    (``response.output_text.delta``).
    """

    when: str
    count: Positive = 1
    mode: Literal["immediate", "after_turn"] = "immediate"


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


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One run of the Runner: where it starts, the model's script, what must come out.

    Exactly one of `input` and `resume` is set. `script` holds, by agent, the turns its model
    takes in this phase.
    """

    id: Name
    input: LiteralInput | None = None
    resume: ResumeInput | None = None
    agent: Name | None = None
    script: dict[Name, tuple[ModelStep, ...]] = field(default_factory=dict)
    context: dict[str, Any] | None = None
    max_turns: Positive | None = None
    cancel: Cancel | None = None
    reader: Reader | None = None
    probe: StateProbe | None = None
    expect: ExpectedOutcome = field(default_factory=ExpectedOutcome)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A whole scenario. `start` is the agent that runs first."""

    title: str
    area: Name
    contract: str
    revision: Positive = 1
    why: str = ""
    docs: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    requires: tuple[Name, ...] = ()
    modes: tuple[Mode, ...] = ("run", "run_streamed")
    start: Name
    agents: dict[Name, Agent]
    tools: dict[Name, Tool] = field(default_factory=dict)
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

    def phase(self, id: str) -> Phase:
        return next(phase for phase in self.phases if phase.id == id)

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
