"""The parts a plan is made of: items, model turns, tools, guardrails, agents, session.

Fields that name other parts of the plan hold their names; `agentrunproof.plan.rules` checks that
they exist. Decimals are strings, because no float may enter canonical bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from agentrunproof.shape import Count, Decimal, Name, Positive, Text

PythonRef = Annotated[str, Text(r"python:[A-Za-z_][\w.]*:[A-Za-z_][\w.]*",
                                "python:package.module:attribute")]
ParamType = Literal["string", "integer", "number", "boolean", "object", "string[]", "integer[]"]

ITEM_KINDS: tuple[str, ...] = ("user", "system", "developer", "say", "refusal", "reasoning",
                               "search", "call", "handoff", "output")
MODEL_ITEM_KINDS = frozenset({"say", "refusal", "reasoning", "search", "call", "handoff"})


@dataclass(frozen=True, kw_only=True)
class Item:
    """One conversation item; exactly one of its ten kinds is set.

    Args:
        user, system, developer: text of an input message with that role.
        say: text of an assistant message; `more`: texts of its further parts.
        refusal: text of an assistant refusal.
        reasoning: summary text of a reasoning item.
        search: query of a web search, which the model's provider has run already.
        call: name of the function called; `id` is the call id, `arguments` its JSON text, which
            may be malformed on purpose.
        handoff: name of the agent handed to (a call of its transfer function).
        output: text of a function call output; `of` is the call id it answers.
        id: call id, or the item id of a message, reasoning item or search.
    """

    user: str | None = None
    system: str | None = None
    developer: str | None = None
    say: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    search: str | None = None
    call: str | None = None
    handoff: Name | None = None
    output: str | None = None
    of: str | None = None
    id: str | None = None
    arguments: str | None = None
    more: tuple[str, ...] = ()

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
        timeout_text: what the model is told of a timeout (a ``timeout_error_function``).
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
    timeout_text: str | None = None
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
    """A handoff with options; an agent may also name another agent directly.

    Args:
        enabled: whether it is offered to the model at all.
        enabled_until: gate with whose opening it is disabled.
    """

    to: Name
    tool_name: Name | None = None
    description: str | None = None
    filter: Literal["none", "remove_all_tools"] = "none"
    nest_history: bool | None = None
    input_type: Name | None = None
    error: str | None = None
    enabled: bool = True
    enabled_until: Name | None = None


@dataclass(frozen=True, kw_only=True)
class OutputType:
    """A structured output: an object with these fields, in the order of `order`."""

    fields: dict[Name, Param]
    order: tuple[Name, ...] = ()
    strict: bool = True


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Model settings that the run must hand to the model; `timeout` in seconds of virtual time."""

    temperature: Decimal | None = None
    top_p: Decimal | None = None
    max_tokens: Positive | None = None
    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None
    truncation: Literal["auto", "disabled"] | None = None
    store: bool | None = None
    timeout: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One agent; `mcp` names its servers, `stop_at_tools` is the SDK's ``StopAtTools``."""

    instructions: str | None = None
    handoff_description: str | None = None
    tools: tuple[Name, ...] = ()
    mcp: tuple[Name, ...] = ()
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
    each operation on it is recorded, and takes `delay` seconds of virtual time.
    """

    kind: Literal["recording", "sqlite", "python"] = "recording"
    id: str = "session-1"
    items: tuple[Item, ...] = ()
    limit: Count | None = None
    delay: Decimal | None = None
    python: PythonRef | None = None
