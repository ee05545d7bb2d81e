"""Miniatures of contracts on the options of a run, failing writes and staged input."""

from __future__ import annotations

from agentrunproof.plan.model import SessionInput
from agentrunproof.record.events import make
from tests.contracts.damage import both, change, insert, less, more, on
from tests.contracts.miniature import Miniature
from tests.contracts.option_worlds import (
    INVALID,
    MORE,
    handled,
    joined,
    late,
    limited,
    mapped,
    rejected_in_words,
    sieved,
    slow,
    timed,
    told_unknown,
    unkept,
    unwritten,
    waiting,
)
from tests.contracts.play import call, say
from tests.contracts.run_worlds import REFUSAL

OPTIONS: tuple[Miniature, ...] = (
    # --- error_fallback
    Miniature("error_fallback", "HANDLER_IGNORED", lambda: handled(
        REFUSAL, final=None, error="ModelRefusalError")),
    Miniature("error_fallback", "HANDLER_IGNORED", lambda: handled(
        say("?"), final=None, error="ModelBehaviorError", **INVALID)),
    Miniature("error_fallback", "HANDLER_OUTPUT_DIFFERS", lambda: handled(
        REFUSAL, final="no")),
    Miniature("error_fallback", "HANDLER_OUTPUT_DIFFERS", lambda: handled(
        say("?"), final='{"n":1}', **INVALID)),
    Miniature("error_fallback", "HANDLED_WITHOUT_CAUSE", lambda: handled(
        say("yes"), final="sorry"), also={"final_output": "NOT_WHAT_WAS_SAID"}),
    Miniature("error_fallback", "HANDLED_WITHOUT_CAUSE", lambda: handled(
        say('{"n":1}'), final='{"n":0}', **INVALID),
        also={"final_output": "NOT_WHAT_WAS_SAID"}),
    Miniature("error_fallback", "HANDLER_HISTORY_DIFFERS", lambda: handled(
        REFUSAL, final="sorry", kept=False)),
    Miniature("error_fallback", "HANDLER_HISTORY_DIFFERS", lambda: handled(
        REFUSAL, final="sorry", fallback_in_history=False)),
    # --- model_timeout
    Miniature("model_timeout", "MODEL_TIMEOUT_IGNORED", lambda: timed("3")),
    Miniature("model_timeout", "MODEL_TIMEOUT_IGNORED", lambda: timed("3", by_run=True)),
    Miniature("model_timeout", "MODEL_TIMEOUT_IGNORED", lambda: timed("3", before=("1", "1"))),
    Miniature("model_timeout", "MODEL_TIMEOUT_NOT_RAISED", lambda: timed(
        "3", "RuntimeError", answers=False)),
    Miniature("model_timeout", "MODEL_TIMEOUT_NOT_RAISED", lambda: timed(
        None, "CancelledError", answers=False, hang=True)),
    Miniature("model_timeout", "MODEL_TIMEOUT_EARLY", lambda: timed(
        "1", "ModelTimeoutError", answers=False)),
    # --- tool_concurrency
    *(Miniature("tool_concurrency", "TOO_MANY_AT_ONCE", lambda n=n: limited(n))  # type: ignore[misc]
      for n in (2, 3)),
    # --- write_recovery
    Miniature("write_recovery", "DONE_AGAIN", unwritten, on("again", insert(make(
        "hook", scope="run", on="on_tool_end", agent="a", tool="pay", call="p1", output="paid"))),
        also={"hook_order": "HOOK_OUT_OF_ORDER"}),
    Miniature("write_recovery", "DONE_AGAIN", unwritten, on("again", insert(make(
        "tool_started", tool="pay", call="p1"))), also={"exactly_once": "DUPLICATE_EXECUTION"}),
    Miniature("write_recovery", "DONE_AGAIN", unwritten, on("again", insert(make(
        "guardrail_checked", guardrail="g", stage="tool_input", agent="a", call="p1",
        behavior="allow"))), also={"guardrail_results": "GUARDRAIL_RESULT_LOST"}),
    Miniature("write_recovery", "ENDED_RUN_GOES_ON", lambda: unwritten(at_end=True), on(
        "again", insert(make("hook", scope="run", on="on_agent_start", agent="a")))),
    Miniature("write_recovery", "ENDED_RUN_NOT_REFUSED", lambda: unwritten(
        at_end=True, refusal="RuntimeError")),
    # --- staged_input
    Miniature("staged_input", "STAGED_INPUT_LOST", late, on(
        "go", change("model_called", input=less(-1)))),
    Miniature("staged_input", "STAGED_INPUT_NOT_LAST", late, on(
        "go", change("model_called", input=lambda items: (*items[:-2], items[-1], items[-2])))),
    Miniature("staged_input", "STAGED_INPUT_REPEATED", late, on(
        "go", change("model_called", input=more(MORE))),
        also={"turn_input": "TURN_ITEM_ADDED"}),
    Miniature("staged_input", "STAGED_INPUT_REPEATED", late, on("go", both(
        change("result", new_items=lambda items: tuple(
            entry for entry in items if entry["item"].get("role") != "user")),
        change("result", history=lambda items: tuple(
            item for item in items if item.get("content") != "More."))))),
    # --- result_facts
    Miniature("result_facts", "FACTS_DISAGREE", lambda: limited(1), on(
        "one", change("result", amiss=("last_response_id",)))),
    # --- codes of contracts that stand elsewhere
    Miniature("max_turns_fallback", "FALLBACK_APPENDED", lambda: unkept(kept=True)),
    Miniature("unfit_call", "UNKNOWN_TOOL_RAISED", lambda: told_unknown(
        error="ModelBehaviorError")),
    Miniature("unfit_call", "UNKNOWN_TOOL_UNTOLD", lambda: told_unknown(None)),
    Miniature("unfit_call", "UNKNOWN_TOOL_UNTOLD", lambda: told_unknown("no", "Ask.")),
    Miniature("handoff_history", "HANDOFF_MAPPER_IGNORED", lambda: mapped("Long.")),
    Miniature("handoff_history", "HANDOFF_FILTER_IGNORED", sieved, on(
        "one", change("model_called", 2, input=more(call("add", "c1")))),
        also={"tool_linkage": "UNANSWERED_CALL"}),
    Miniature("tool_guardrail_timing", "WAITING_CHECKED", lambda: waiting(True, before=False)),
    Miniature("tool_guardrail_timing", "WAITING_UNCHECKED", lambda: waiting(False, before=True)),
    Miniature("rejection", "REJECTION_MESSAGE_DIFFERS", lambda: rejected_in_words(
        "approval was refused")),
    Miniature("session_input", "LIMIT_IGNORED", lambda: joined(SessionInput(keep=1), 0, 1, 2)),
    Miniature("session_input", "HISTORY_LOST", lambda: joined(SessionInput(keep=1), 2)),
    Miniature("session_input", "INPUT_NOT_LAST", lambda: joined(SessionInput(instead="X"), 0, 1)),
    Miniature("tool_timeout", "TIMEOUT_UNTOLD", lambda: slow("timed out after 2 seconds")),
    Miniature("tool_timeout", "TIMEOUT_EARLY", lambda: slow("Later.", "1"),
              also={"tool_output": "OUTPUT_DIFFERS"}),
    Miniature("failure_raised", "FAILURE_REPLACED", unwritten, on(
        "locked", change("raised", error={"type": "RuntimeError"})),
        also={"execution_outcome": "ERROR_DIFFERS"}),
)
