"""Miniatures of the contracts on calls, their outputs and the decisions on them."""

from __future__ import annotations

from agentrunproof.record.events import make
from tests.contracts import call_worlds, worlds
from tests.contracts.damage import both, change, drop, given, insert, on, repeat
from tests.contracts.miniature import Miniature

CALLS: tuple[Miniature, ...] = (
    # --- tool_output
    Miniature("tool_output", "OUTPUT_DIFFERS", worlds.tools,
              on("one", change("model_called", 1, input=given("c2", "4")))),
    Miniature("tool_output", "OUTPUT_DIFFERS", worlds.failing,
              on("one", change("raised", new_items=given("c2", "4")))),
    Miniature("tool_output", "OUTPUT_DIFFERS", worlds.nested,
              on("rest", change("model_called", input=given("p1", "lost")))),
    Miniature("tool_output", "REJECTION_DIFFERS", worlds.guarded,
              on("one", change("model_called", 1, input=given("c1", "3")))),
    Miniature("tool_output", "REJECTION_DIFFERS", lambda: call_worlds.passed_on("3")),
    # --- tool_arguments
    Miniature("tool_arguments", "ARGUMENTS_DIFFER", worlds.tools,
              on("one", change("tool_started", arguments='{"x":1}'))),
    Miniature("tool_arguments", "ARGUMENTS_DIFFER", worlds.nested,
              on("rest", change("tool_started", match={"tool": "pay"}, arguments='{"x":1}'))),
    Miniature("tool_arguments", "ANOTHER_TOOL_STARTED", call_worlds.stopped,
              on("one", both(change("tool_started", tool="pay"),
                             change("tool_finished", tool="pay")))),
    # --- tool_failure
    *(Miniature("tool_failure", "FAILURE_ENDED_RUN", world) for world in (
        lambda: call_worlds.failed_raising("default"),
        lambda: call_worlds.failed_raising("text"),
        lambda: call_worlds.failed_raising("default", "ToolFailure", "boom"))),
    Miniature("tool_failure", "FAILURE_UNTOLD", lambda: call_worlds.failed(told="fine")),
    Miniature("tool_failure", "FAILURE_UNTOLD", lambda: call_worlds.failed_inside(told="fine")),
    Miniature("tool_failure", "FAILURE_UNTOLD", lambda: call_worlds.failed(told=None),
              also={"tool_linkage": "UNANSWERED_CALL"}),
    Miniature("tool_failure", "FAILURE_TEXT_DIFFERS", lambda: call_worlds.failed_in_words(
        call_worlds.DEFAULT)),
    # --- tool_timeout
    Miniature("tool_timeout", "TIMEOUT_IGNORED", lambda: call_worlds.timed(ended="3", told="3")),
    Miniature("tool_timeout", "TIMEOUT_IGNORED", lambda: call_worlds.quick("2.5")),
    Miniature("tool_timeout", "TIMEOUT_IGNORED", lambda: call_worlds.timed(outcome="timeout")),
    Miniature("tool_timeout", "TIMEOUT_EARLY", call_worlds.early),
    Miniature("tool_timeout", "TIMEOUT_EARLY", lambda: call_worlds.early(None)),
    Miniature("tool_timeout", "TIMEOUT_EARLY", lambda: call_worlds.early(
        timeout_behavior="raise_exception", outcome="ToolTimeoutError")),
    Miniature("tool_timeout", "TIMEOUT_NOT_RAISED", lambda: call_worlds.timed(
        timeout_behavior="raise_exception")),
    Miniature("tool_timeout", "TIMEOUT_ENDED_RUN", lambda: call_worlds.timed(
        outcome="ToolTimeoutError")),
    Miniature("tool_timeout", "TIMEOUT_UNTOLD", lambda: call_worlds.timed(told="3")),
    Miniature("tool_timeout", "TIMEOUT_UNTOLD", lambda: call_worlds.timed(told=None),
              also={"tool_linkage": "UNANSWERED_CALL"}),
    # --- unfit_call
    Miniature("unfit_call", "UNKNOWN_TOOL_ACCEPTED", lambda: call_worlds.unknown(completed=True)),
    Miniature("unfit_call", "MALFORMED_NOT_RAISED", lambda: call_worlds.malformed(
        failure="raise")),
    Miniature("unfit_call", "MALFORMED_ENDED_RUN", lambda: call_worlds.malformed(
        error="ModelBehaviorError")),
    Miniature("unfit_call", "MALFORMED_UNTOLD", lambda: call_worlds.malformed(told="3")),
    Miniature("unfit_call", "MALFORMED_UNTOLD", lambda: call_worlds.malformed("{", "3")),
    Miniature("unfit_call", "MALFORMED_UNTOLD", lambda: call_worlds.malformed(
        failure="text", failure_text="sorry")),
    Miniature("unfit_call", "MALFORMED_UNTOLD", lambda: call_worlds.malformed(told=None),
              also={"tool_linkage": "UNANSWERED_CALL"}),
    # --- stop_at_tool
    Miniature("stop_at_tool", "ASKED_AFTER_STOP", lambda: call_worlds.stopped(again=True)),
    Miniature("stop_at_tool", "ASKED_AFTER_STOP", lambda: call_worlds.stopped(
        "stop_at_tools", again=True)),
    Miniature("stop_at_tool", "ENDED_AT_TOOL", lambda: call_worlds.stopped("run_llm_again")),
    Miniature("stop_at_tool", "ENDED_AT_TOOL", lambda: call_worlds.stopped(
        "stop_at_tools", named=("other",))),
    Miniature("stop_at_tool", "OUTPUT_NOT_THE_TOOLS", lambda: call_worlds.stopped(final="paid")),
    Miniature("stop_at_tool", "OUTPUT_NOT_THE_TOOLS", lambda: call_worlds.stopped(
        "stop_at_tools", "3")),
    # --- pending_approvals
    Miniature("pending_approvals", "PENDING_MISSING", call_worlds.mixed,
              on("pause", drop("interruption"))),
    Miniature("pending_approvals", "PENDING_FOREIGN", call_worlds.mixed, on("pause", insert(
        make("interruption", call="c1", tool="add", agent="a")))),
    Miniature("pending_approvals", "PENDING_FOREIGN", call_worlds.mixed, on("pause", insert(
        make("interruption", call="p9", tool="pay", agent="a")))),
    Miniature("pending_approvals", "PENDING_REPEATED", call_worlds.mixed,
              on("pause", repeat("interruption"))),
    *(Miniature("pending_approvals", "PENDING_DETAILS_DIFFER", call_worlds.mixed,
                on("pause", change("interruption", **field)))  # type: ignore[arg-type]
      for field in ({"agent": "b"}, {"arguments": "{}"}, {"tool": "other"})),
    # --- rejection
    Miniature("rejection", "REJECTION_UNTOLD", lambda: call_worlds.decided(told="paid")),
    Miniature("rejection", "REJECTION_UNTOLD", lambda: call_worlds.decided(told=None),
              also={"tool_linkage": "UNANSWERED_CALL"}),
    Miniature("rejection", "REJECTION_MESSAGE_DIFFERS", lambda: call_worlds.decided("no")),
    # --- sticky_decision
    Miniature("sticky_decision", "STICKY_APPROVAL_IGNORED", lambda: call_worlds.decided(
        approve=True, always=True, later=True, waits=True)),
    Miniature("sticky_decision", "STICKY_REJECTION_IGNORED", lambda: call_worlds.decided(
        always=True, later=True, waits=True)),
)

