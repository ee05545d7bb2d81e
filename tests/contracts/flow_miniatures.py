"""Miniatures of the contracts around a run: guardrails, failures, streams, spans, agent tools."""

from __future__ import annotations

from functools import partial
from typing import Any

from agentrunproof.plan.model import HookError, Run
from agentrunproof.record.events import make
from tests.contracts import flow_worlds as flow
from tests.contracts import worlds
from tests.contracts.damage import both, change, drop, insert, less, more, on, repeat, to_front
from tests.contracts.miniature import Miniature
from tests.contracts.play import call, output, say
from tests.contracts.worlds import QUIET

STREAMED = "run_streamed"
_OBSERVED = {"op": "observe"}


def _check(guardrail: str, stage: str, agent: str) -> Any:
    return both(insert(make("guardrail_checked", guardrail=guardrail, stage=stage, agent=agent)),
                change("result", guardrails=more(guardrail)))


def _again(guardrail: str) -> Any:
    return both(repeat("guardrail_checked", guardrail=guardrail),
                change("result", guardrails=more(guardrail)))


def _moved(kind: str, before: str, match: dict[str, Any], **place: Any) -> Any:
    """An event that happens earlier or later than it did."""
    def edit(events: list[Any]) -> list[Any]:
        event = next(event for event in events if event["kind"] == kind
                     and all(event[name] == value for name, value in match.items()))
        return insert(event, before, **place)(drop(kind, **match)(events))

    return edit


def _told(name: str, item: Any = None) -> Any:
    return make("stream_event", type="item" if item else "raw", name=name, item=item)


FLOW: tuple[Miniature, ...] = (
    # --- guardrail_scope
    *(Miniature("guardrail_scope", "GUARDRAIL_ELSEWHERE", flow.passed_on,
                on("one", _check(*check)))
      for check in (("b_in", "input", "b"), ("a_out", "output", "a"))),
    *(Miniature("guardrail_scope", "GUARDRAIL_ELSEWHERE", flow.passed_on, on("one", change(
        "guardrail_checked", match={"guardrail": name}, agent=agent)))
      for name, agent in (("run_in", "b"), ("run_out", "a"))),
    *(Miniature("guardrail_scope", "GUARDRAIL_REPEATED", flow.passed_on,
                on("one", _again(name))) for name in ("a_in", "run_out")),
    *(Miniature("guardrail_scope", "GUARDRAIL_SKIPPED", flow.passed_on,
                on("one", drop("guardrail_checked", guardrail=name)))
      for name in ("a_in", "run_in", "b_out", "run_out")),
    Miniature("guardrail_scope", "GUARDRAIL_ELSEWHERE",
              lambda: flow.tripped("output", "OutputGuardrailTripwireTriggered"), on("one", change(
                  "guardrail_checked", agent="b"))),
    # --- tool_guardrail_timing
    *(Miniature("tool_guardrail_timing", "INPUT_UNCHECKED", flow.checked,
                on("one", drop("guardrail_checked", guardrail=name))) for name in ("in1", "in2")),
    Miniature("tool_guardrail_timing", "INPUT_UNCHECKED", flow.checked, on("one", _moved(
        "guardrail_checked", "tool_finished", {"guardrail": "in2"}))),
    *(Miniature("tool_guardrail_timing", "OUTPUT_UNCHECKED", flow.checked,
                on("one", drop("guardrail_checked", guardrail=name))) for name in ("out1", "out2")),
    Miniature("tool_guardrail_timing", "OUTPUT_CHECKED_EARLY", flow.checked, on("one", _moved(
        "guardrail_checked", "tool_finished", {"guardrail": "out1"}))),
    *(Miniature("tool_guardrail_timing", "CALL_CHECKED_AGAIN", flow.checked,
                on("one", _again(name))) for name in ("in1", "out2")),
    # --- tripwire_exception
    *(Miniature("tripwire_exception", "TRIPWIRE_UNFOUNDED",
                partial(flow.tripped, "", error))
      for error in ("InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered",
                    "ToolInputGuardrailTripwireTriggered", "ToolTimeoutError")),
    Miniature("tripwire_exception", "TRIPWIRE_UNFOUNDED",
              lambda: flow.tripped("input", "OutputGuardrailTripwireTriggered")),
    *(Miniature("tripwire_exception", "TRIPWIRE_DISGUISED",
                partial(flow.tripped, stage, "RuntimeError"))
      for stage in ("input", "output")),
    Miniature("tripwire_exception", "TRIPWIRE_DISGUISED",
              lambda: flow.tripped("tool_input", "UserError", "raise_exception")),
    # --- failure_raised
    *(Miniature("failure_raised", "FAILURE_SWALLOWED", partial(flow.broken, by, None))
      for by in ("guardrail", "model")),
    *(Miniature("failure_raised", "FAILURE_REPLACED", partial(flow.broken, by, "Other"))
      for by in ("guardrail", "model", "tool", "handoff")),
    Miniature("failure_raised", "FAILURE_REPLACED", lambda: flow.broken("model", "Boom", "yes")),
    Miniature("failure_raised", "FAILURE_REPLACED",
              lambda: flow.broken("tool", "UserError", "yes")),
    *(Miniature("failure_raised", "FAILURE_REPLACED", partial(
        flow.broken, "", "Other", hook=HookError(on="on_llm_end", cancel=cancel)))
      for cancel in (True, False)),
    Miniature("failure_raised", "FAILURE_REPLACED", lambda: flow.tripped(
        "tool_input", "Other", "reject_content", beside=flow.BESIDE[0])),
    # --- model_retry
    Miniature("model_retry", "RETRY_TOO_OFTEN", lambda: flow.tried(2, 1)),
    Miniature("model_retry", "RETRY_TOO_OFTEN", lambda: flow.tried(2, 1, fails=False)),
    Miniature("model_retry", "RETRY_MISSING", lambda: flow.tried(1, 2)),
    Miniature("model_retry", "RETRY_MISSING", lambda: flow.tried(0, 1)),
    Miniature("model_retry", "RETRY_DIFFERS", lambda: flow.tried(1, 1), on("one", change(
        "model_called", which=1, input=more(say("more")))),
              also={"turn_input": "TURN_ITEM_ADDED"}),
    Miniature("model_retry", "RETRY_DIFFERS", lambda: flow.tried(2, 2, fails=False), on(
        "one", change("model_called", which=2, output_type="other"))),
    *(Miniature("model_retry", "RETRY_UNSAFE", lambda: flow.tried(1, 1), on("one", both(
        *(change("model_called", which, **{named: "id-1"}) for which in range(2)))))
      for named in ("conversation_id", "previous_response_id")),
    # --- stream_complete
    Miniature("stream_complete", "STREAM_DELTAS_DIFFER", worlds.tools, on("one", change(
        "stream_event", match={"name": "response.output_text.delta"}, text="let me"), STREAMED)),
    Miniature("stream_complete", "STREAM_DELTAS_DIFFER", worlds.tools, on("one", drop(
        "stream_event", name="response.function_call_arguments.delta"), STREAMED)),
    Miniature("stream_complete", "STREAM_DELTAS_DIFFER", worlds.model_fails, on("one", change(
        "stream_event", match={"name": "response.function_call_arguments.delta"}, text="{"),
        STREAMED)),
    Miniature("stream_complete", "STREAM_RESPONSES_DIFFER", worlds.tools,
              on("one", drop("stream_event", name="response.completed"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_MISSING", worlds.tools,
              on("one", drop("stream_event", name="tool_output"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_MISSING", worlds.tools,
              on("one", drop("stream_event", name="message_output_created"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_REPEATED", worlds.tools,
              on("one", repeat("stream_event", name="tool_output"), STREAMED)),
    Miniature("stream_complete", "STREAM_AGENTS_DIFFER", worlds.handoff,
              on("one", drop("stream_event", 1, type="agent"), STREAMED)),
    Miniature("stream_complete", "STREAM_ORDER", worlds.tools, on("one", both(
        drop("stream_event", name="tool_output"),
        insert(make("stream_event", type="item", name="tool_output", item=output("c1", "3")),
               "stream_event", name="tool_called")), STREAMED)),
    Miniature("stream_complete", "STREAM_ORDER", worlds.tools,
              on("one", to_front("stream_event", name="response.output_text.delta"), STREAMED)),
    Miniature("stream_complete", "STREAM_UNOBSERVED", worlds.tools,
              on("one", drop("stream_event", None), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_REPEATED", worlds.failing,
              on("one", repeat("stream_event", name="tool_output"), STREAMED)),
    # --- stream_items
    Miniature("stream_items", "STREAM_NAME_DIFFERS", worlds.tools, on("one", change(
        "stream_event", match={"name": "tool_called"}, name="handoff_requested"), STREAMED)),
    *(Miniature("stream_items", "STREAM_NAME_DIFFERS", worlds.handoff, on("one", change(
        "stream_event", -1, match={"name": name}, name=other), STREAMED))
      for name, other in (("handoff_requested", "tool_called"),
                          ("tool_output", "message_output_created"),
                          ("message_output_created", "tool_called"))),
    Miniature("stream_items", "STREAM_NAME_DIFFERS", worlds.tools, on("one", change(
        "stream_event", match={"name": "tool_output"}, name="handoff_occured"), STREAMED)),
    Miniature("stream_items", "STREAM_ITEM_EARLY", worlds.tools, on("one", _moved(
        "stream_event", "stream_event", {"name": "message_output_created"},
        name="response.output_item.added"), STREAMED)),
    Miniature("stream_items", "STREAM_AGENT_LATE", worlds.handoff, on("one", _moved(
        "stream_event", "span_finished", {"type": "agent", "name": "b"}), STREAMED)),
    # --- raw_events
    Miniature("raw_events", "RAW_ORDER_DIFFERS", worlds.tools, on("one", drop(
        "stream_event", name="response.created"), STREAMED)),
    Miniature("raw_events", "RAW_ORDER_DIFFERS", worlds.tools, on("one", drop(
        "stream_event", -1, name="response.output_item.added"), STREAMED)),
    Miniature("raw_events", "RAW_ORDER_DIFFERS", worlds.failing, on("one", drop(
        "stream_event", name="response.output_item.done"), STREAMED)),
    Miniature("raw_events", "RAW_ITEM_DIFFERS", worlds.tools, on("one", change(
        "stream_event", match={"name": "response.output_item.done"}, item=say("other")), STREAMED)),
    # --- cancel_modes
    Miniature("cancel_modes", "EVENT_AFTER_CANCEL", lambda: flow.stopped("immediate"), on(
        "one", lambda events: [*events, _told("response.completed")])),
    Miniature("cancel_modes", "EVENT_AFTER_CANCEL", lambda: flow.stopped("immediate"), on(
        "one", lambda events: [*events, _told("tool_called", call("add", "c2"))])),
    Miniature("cancel_modes", "EVENT_AFTER_CANCEL", lambda: flow.stopped(
        "immediate", "agent_updated_stream_event", ended=False), on(
        "one", lambda events: [*events, _told("response.created")])),
    Miniature("cancel_modes", "EVENT_AFTER_CANCEL", lambda: flow.stopped(
        "immediate", "response.function_call_arguments.delta", ended=False), on(
        "one", change("stream_event", -1, count=3))),
    Miniature("cancel_modes", "TURN_CUT_SHORT", lambda: flow.stopped(ended=False)),
    Miniature("cancel_modes", "TURN_CUT_SHORT", worlds.cancelled, on("one", drop(
        "model_responded"))),
    Miniature("cancel_modes", "TURN_NOT_SAVED", flow.stopped, on("one", change(
        "session_read", match=_OBSERVED, items=less(-1)))),
    Miniature("cancel_modes", "TURN_NOT_COUNTED", flow.stopped, on("one", change(
        "usage", requests=0))),
    # --- tracing_disabled
    *(Miniature("tracing_disabled", "SPAN_DESPITE_DISABLED", lambda: worlds.tools(run=QUIET), on(
        "one", insert(make(kind, span=0, type="trace"))))
      for kind in ("span_started", "span_finished")),
    # --- cancellation
    Miniature("cancellation", "TURN_AFTER_CANCEL", lambda: flow.gone(3)),
    # --- hook_order
    Miniature("hook_order", "HOOK_OUT_OF_ORDER", lambda: flow.forbidden(started=True)),
    # --- span_home
    Miniature("span_home", "SPAN_REPEATED", worlds.tools, on("one", lambda events: [
        *events, flow.span(9, "function", "add", 1)])),
    Miniature("span_home", "SPAN_REPEATED", worlds.handoff, on("one", lambda events: [
        *events, flow.span(9, "handoff", "a -> b", 1)])),
    Miniature("span_home", "SPAN_REPEATED", lambda: flow.traced(a=3, b=1)),
    Miniature("span_home", "TRACE_REPEATED", worlds.tools, on("one", lambda events: [
        *events, flow.span(9, "trace", "Agent workflow", None)])),
    Miniature("span_home", "TRACE_REPEATED", worlds.fork, on("approved", lambda events: [
        *events, flow.span(9, "trace", "Agent workflow", None)]),
        also={"span_tree": "SPAN_ORPHANED"}),
    Miniature("span_home", "SPAN_ELSEWHERE", worlds.tools, on("one", change(
        "span_finished", match={"type": "function"}, parent=0))),
    Miniature("span_home", "SPAN_ELSEWHERE", worlds.handoff, on("one", lambda events: [
        event if event.get("type") != "function" else event | {"parent": 4, "span": 5}
        for event in sorted(events, key=lambda event: event.get("type") == "function")])),
    Miniature("span_home", "SPAN_ELSEWHERE", lambda: flow.traced(a=1, b=2)),
    # --- agent_tool
    Miniature("agent_tool", "AGENT_TOOL_INPUT_DIFFERS", flow.asked, on("one", both(*(change(
        "model_called", which, match={"parent": "o1"}, input=more(say("Hi"), 0))
        for which in (0, 1))))),
    Miniature("agent_tool", "AGENT_TOOL_OUTPUT_DIFFERS", lambda: flow.asked(gave="other")),
    Miniature("agent_tool", "NESTED_ITEM_LEAKED", flow.asked, on("one", lambda events: [
        *events, _told("message_output_created", say("let me see", "n0"))], STREAMED)),
    # --- error_data
    Miniature("error_data", "ERROR_AGENT_DIFFERS", worlds.failing,
              on("one", change("raised", last_agent="b"))),
    Miniature("error_data", "ERROR_RESPONSE_FOREIGN", worlds.failing,
              on("one", change("raised", responses=more((say("other"),))))),
    Miniature("error_data", "ERROR_RESPONSE_FOREIGN", worlds.failing,
              on("one", change("raised", responses=less(0)))),
    Miniature("error_data", "ERROR_RESPONSE_LOST", worlds.failing,
              on("one", change("raised", responses=()))),
    Miniature("error_data", "ERROR_RESPONSE_LOST", worlds.model_fails,
              on("one", change("raised", responses=()))),
    Miniature("error_data", "ERROR_RESPONSE_LOST",
              lambda: worlds.failing(Run(max_turns=2), "MaxTurnsExceeded"),
              on("one", change("raised", responses=less(-1)))),
    Miniature("error_data", "ERROR_AGENT_DIFFERS", flow.over_to_b,
              on("one", change("raised", last_agent="c"))),
    Miniature("error_data", "ERROR_ITEM_FOREIGN", worlds.failing,
              on("one", change("raised", new_items=more(
                  {"type": "message_output_item", "agent": "a", "item": say("other")})))),
    # --- hook_subject
    *(Miniature("hook_subject", "HOOK_AGENT_DIFFERS", worlds.handoff, on("one", change(
        "hook", match={"on": hook, "scope": "agent"}, agent="b")))
      for hook in ("on_tool_start", "on_tool_end")),
    *(Miniature("hook_subject", "HOOK_TOOL_DIFFERS", worlds.nested, on(phase, change(
        "hook", match={"on": hook, "scope": "run"}, tool="other")))
      for phase, hook in (("pause", "on_tool_start"), ("rest", "on_tool_end"))),
    *(Miniature("hook_subject", "HOOK_RESULT_DIFFERS", worlds.handoff, on("one", change(
        "hook", match={"on": hook, "scope": "run"}, output="other")))
      for hook in ("on_tool_end", "on_agent_end")),
)
