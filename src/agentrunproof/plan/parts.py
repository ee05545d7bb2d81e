"""The parts a plan is made of: items, model turns, tools, guardrails, agents, session, options.

Fields that name other parts of the plan hold their names; `agentrunproof.plan.rules` checks that
they exist. Decimals are strings, because no float may enter canonical bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from agentrunproof.shape import Count, Decimal, Name, Positive, Text

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
        delay: seconds of virtual time that the model then takes.
        hang: never answer.
    """

    output: tuple[Item, ...] = ()
    usage: StepUsage = field(default_factory=StepUsage)
    response_id: str | None = None
    error: ModelError | None = None
    after: Name | None = None
    opens: Name | None = None
    delay: Decimal | None = None
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
class InputFilter:
    """What ``RunConfig.call_model_input_filter`` makes of each model input, in this order.

    Args:
        keep: only so many of the last items.
        add: a user message with this text at the end.
        instructions: these instead of the agent's.
        error: it raises ``FilterFailure`` with this message.
        malformed: it returns the items alone, which the SDK must refuse.
    """

    keep: Count | None = None
    add: str | None = None
    instructions: str | None = None
    error: str | None = None
    malformed: bool = False


@dataclass(frozen=True, kw_only=True)
class Run:
    """Options of every run of the plan (the SDK's ``Runner.run`` arguments and ``RunConfig``).

    Args:
        on_max_turns: the final output that an error handler supplies when turns run out.
        server: by which of the SDK's options the server keeps the conversation, so that only new
            items are sent; the ids are those of `plan.items.SERVER_IDS`.
        callables: what the functions are that the plan gives to the SDK (instructions, callbacks
            and filters of handoffs): functions, objects that can be called, or such objects that
            count as false.
        retries: how often the Runner tries a failed model call again, whatever the error was (the
            SDK's ``ModelRetrySettings``).
        sensitive_traces: whether spans may tell what tools and models were given and gave
            (the SDK's ``trace_include_sensitive_data``).
        input_filter: what is made of each model input just before the model is called.
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
    server: Literal["none", "conversation_id", "previous_response_id",
                    "auto_previous_response_id"] = "none"
    callables: Literal["function", "object", "false_object"] = "function"
    input_filter: InputFilter | None = None
