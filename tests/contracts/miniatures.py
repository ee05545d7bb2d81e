"""Miniatures: worlds broken in exactly one behaviour, and the checks that must say so.

Each names the one check it flips, with its code. Where one behaviour is bound to show in a
second check too, `also` declares it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from agentrunproof.plan.model import Run, Sees, Session
from agentrunproof.record.events import make
from tests.contracts import worlds
from tests.contracts.boundaries import BOUNDARY_MINIATURES
from tests.contracts.call_boundaries import CALL_BOUNDARY_MINIATURES
from tests.contracts.call_miniatures import CALLS
from tests.contracts.damage import (
    both,
    change,
    drop,
    insert,
    less,
    more,
    on,
    repeat,
    swapped,
    to_front,
    without,
)
from tests.contracts.failure_boundaries import FAILURE_BOUNDARY_MINIATURES
from tests.contracts.flow_miniatures import FLOW
from tests.contracts.function_worlds import FUNCTION_MINIATURES
from tests.contracts.given_worlds import GIVEN
from tests.contracts.linkage_boundaries import LINKAGE_BOUNDARY_MINIATURES
from tests.contracts.linkage_worlds import LINKAGE_MINIATURES
from tests.contracts.miniature import Miniature
from tests.contracts.option_miniatures import OPTIONS
from tests.contracts.play import call, output, say
from tests.contracts.raised_worlds import RAISED
from tests.contracts.reading_worlds import READING_MINIATURES
from tests.contracts.relation_boundaries import RELATION_BOUNDARY_MINIATURES
from tests.contracts.run_miniatures import RUNS
from tests.contracts.server_worlds import SERVERS
from tests.contracts.turn_boundaries import TURN_BOUNDARY_MINIATURES
from tests.contracts.untold_boundaries import UNTOLD_BOUNDARY_MINIATURES
from tests.contracts.variations import RELATED
from tests.contracts.worlds import QUIET, World

STREAMED = "run_streamed"


def _expecting(**expect: object) -> Callable[[], World]:
    return lambda: worlds.tools(expect=expect)


def _retitled(world: Callable[[], World], run: Run) -> Callable[[], World]:
    """The world under other run options, as if the Runner had not heeded them."""
    def made() -> World:
        plan, seen = world()
        return dataclasses.replace(plan, run=run), seen

    return made


_STARTED = make("tool_started", tool="pay", call="p1")
_OBSERVED = {"op": "observe"}
_SECOND_CALL = {"which": 1}

MINIATURES: tuple[Miniature, ...] = (
    *FUNCTION_MINIATURES,
    *GIVEN,
    # --- execution_outcome
    Miniature("execution_outcome", "PHASE_NOT_RUN", worlds.tools, without("two")),
    Miniature("execution_outcome", "TIMEOUT", worlds.tools,
              on("two", change("run_finished", outcome="timeout"))),
    Miniature("execution_outcome", "OUTCOME_DIFFERS", worlds.tools,
              on("two", change("run_finished", outcome="cancelled"))),
    Miniature("execution_outcome", "ERROR_DIFFERS", worlds.failing,
              on("one", change("raised", error={"type": "ValueError", "message": "boom"}))),
    Miniature("execution_outcome", "FINAL_OUTPUT_DIFFERS", _expecting(final_output="other")),
    Miniature("execution_outcome", "LAST_AGENT_DIFFERS", _expecting(last_agent="b")),
    Miniature("execution_outcome", "PENDING_DIFFERS", worlds.fork,
              on("untouched", both(drop("interruption", call="p1"), insert(
                  make("interruption", call="p1", tool="pay", agent="a"))))),
    Miniature("execution_outcome", "TOOL_CALLS_DIFFER", _expecting(tool_calls={"add": 3})),
    Miniature("execution_outcome", "MODEL_CALLS_DIFFER", _expecting(model_calls={"a": 1})),
    Miniature("execution_outcome", "OUTPUTS_DIFFER", _expecting(outputs={"c1": "4"})),
    Miniature("execution_outcome", "SESSION_DIFFERS", _expecting(session=("user:old",))),
    Miniature("execution_outcome", "MODEL_INPUT_DIFFERS",
              _expecting(sees=(Sees(agent="a", items=("user:Hi", "user:old")),))),
    Miniature("execution_outcome", "SESSION_UNOBSERVED", _expecting(session=("user:old",)),
              on("one", drop("session_read", **_OBSERVED)),
              also={"session_persistence": "SESSION_UNOBSERVED"}),
    # --- stream_parity
    Miniature("stream_parity", "OUTCOMES_DIFFER", worlds.tools,
              on("two", change("run_finished", outcome="cancelled"), STREAMED),
              also={"execution_outcome": "OUTCOME_DIFFERS"}),
    Miniature("stream_parity", "ERRORS_DIFFER", worlds.failing,
              on("one", change("raised", error={"type": "RuntimeError", "message": "bang"}),
                 STREAMED)),
    Miniature("stream_parity", "ERROR_DATA_DIFFERS", worlds.failing,
              on("one", change("raised", responses=less(-1)), STREAMED)),
    Miniature("stream_parity", "SESSION_CONTENTS_DIFFER", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=lambda items: (
                  *items[:-1], items[-1] | {"id": "msg-other"})), STREAMED)),
    Miniature("stream_parity", "SESSION_WRITES_DIFFER", worlds.tools,
              on("two", insert(make("session_written", op="pop")), STREAMED)),
    Miniature("stream_parity", "HANDOFFS_DIFFER", lambda: worlds.handoff(run=QUIET),
              on("one", drop("handoff"), STREAMED),
              also={"handoff_history": "HANDOFF_CALLBACK_MISSING"}),
    Miniature("stream_parity", "INTERRUPTIONS_DIFFER", worlds.fork,
              on("pause", change("interruption", arguments='{"x":1}'), STREAMED),
              also={"pending_approvals": "PENDING_DETAILS_DIFFER"}),
    Miniature("stream_parity", "MODEL_CALLS_DIFFER", worlds.tools,
              on("one", change("model_called", settings={"store": True}), STREAMED)),
    Miniature("stream_parity", "TOOL_EXECUTIONS_DIFFER", worlds.tools,
              on("one", insert(make("tool_cancelled", tool="add", call="c1")), STREAMED)),
    Miniature("stream_parity", "HOOKS_DIFFER", worlds.tools,
              on("one", change("hook", match={"on": "on_tool_end"}, output="4"), STREAMED),
              also={"hook_subject": "HOOK_RESULT_DIFFERS"}),
    Miniature("stream_parity", "GUARDRAILS_DIFFER", worlds.guarded,
              on("one", drop("guardrail_checked", stage="output"), STREAMED),
              also={"guardrail_scope": "GUARDRAIL_SKIPPED"}),
    Miniature("stream_parity", "RESULTS_DIFFER", worlds.tools,
              on("one", change("result", guardrails=("g",)), STREAMED)),
    Miniature("stream_parity", "USAGES_DIFFER", worlds.failing,
              on("one", change("usage", input=0), STREAMED)),
    # --- tool_linkage
    Miniature("tool_linkage", "ORPHAN_OUTPUT", worlds.tools,
              on("one", change("model_called", **_SECOND_CALL, input=less(3))),
              also={"turn_input": "TURN_ITEM_LOST"}),
    Miniature("tool_linkage", "UNANSWERED_CALL", worlds.tools,
              on("one", change("model_called", **_SECOND_CALL, input=less(-1)))),
    Miniature("tool_linkage", "DUPLICATE_CALL", worlds.tools,
              on("one", change("model_called", **_SECOND_CALL,
                               input=more(call("add", "c1"), 4))),
              also={"turn_input": "TURN_ITEM_ADDED"}),
    Miniature("tool_linkage", "DUPLICATE_OUTPUT", worlds.tools,
              on("one", change("model_called", **_SECOND_CALL, input=more(output("c1", "3"))))),
    Miniature("tool_linkage", "ORPHAN_OUTPUT", worlds.tools,
              on("one", change("result", history=less(2))),
              also={"input_list": "GENERATED_ITEMS_DIFFER"}),
    Miniature("tool_linkage", "ORPHAN_OUTPUT", worlds.handoff,
              on("one", change("result", new_items=less(0))),
              also={"new_items": "ITEM_LOST", "input_list": "GENERATED_ITEMS_DIFFER"}),
    Miniature("tool_linkage", "UNANSWERED_CALL", worlds.handoff,
              on("one", change("result", new_items=less(1))),
              also={"input_list": "GENERATED_ITEMS_DIFFER"}),
    Miniature("tool_linkage", "ORPHAN_OUTPUT", worlds.failing,
              on("one", change("raised", new_items=less(0)))),
    Miniature("tool_linkage", "DUPLICATE_OUTPUT", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=more(output("c1", "3")))),
              also={"session_persistence": "SESSION_ITEM_FOREIGN"}),
    Miniature("tool_linkage", "UNANSWERED_CALL", lambda: worlds.failing(session=Session()),
              on("one", change("session_read", match=_OBSERVED, items=less(-1))),
              also={"session_persistence": "SESSION_EFFECT_LOST"}),
    # --- exactly_once
    Miniature("exactly_once", "DUPLICATE_EXECUTION",
              lambda: worlds.tools(run=QUIET, expect={"tool_calls": {"add": 3}}),
              on("one", repeat("tool_started"))),
    Miniature("exactly_once", "UNAPPROVED_EXECUTION", lambda: worlds.fork(run=QUIET),
              on("approved", insert(make("tool_started", tool="pay", call="p2")))),
    Miniature("exactly_once", "MISSING_EXECUTION",
              lambda: worlds.tools(run=QUIET, expect={"tool_calls": {"add": 1}}),
              on("one", both(drop("tool_started"), drop("tool_finished")))),
    Miniature("exactly_once", "DUPLICATE_EXECUTION", lambda: worlds.nested(run=QUIET),
              on("rest", repeat("tool_started", tool="pay"))),
    Miniature("exactly_once", "UNAPPROVED_EXECUTION", lambda: worlds.fork(run=QUIET),
              on("pause", insert(_STARTED))),
    Miniature("exactly_once", "MISSING_EXECUTION", lambda: worlds.nested(run=QUIET),
              on("rest", drop("tool_started", tool="pay"))),
    Miniature("exactly_once", "SENSELESS_EXECUTION", worlds.misfits, on("one", insert(
        make("tool_started", tool="count", call="c1", arguments="[]")))),
    Miniature("exactly_once", "UNAPPROVED_EXECUTION", worlds.trusted_elsewhere),
    Miniature("exactly_once", "DISABLED_EXECUTION", worlds.revoked),
    # --- model_script_consumed
    Miniature("model_script_consumed", "SCRIPT_NOT_CONSUMED", lambda: worlds.tools(script=3)),
    Miniature("model_script_consumed", "SCRIPT_OVERRUN", lambda: worlds.tools(script=1)),
    # --- state_transition
    Miniature("state_transition", "STATE_CHANGED", worlds.fork,
              on("pause", change("state_restored", changed=("/usage",)))),
    Miniature("state_transition", "STATE_NOT_RESTORED", worlds.fork,
              on("pause", change("state_restored", error={"type": "UserError"}))),
    Miniature("state_transition", "PENDING_LOST", worlds.fork,
              on("pause", change("state_restored", pending=("p1",)))),
    Miniature("state_transition", "PENDING_LOST", worlds.fork,
              on("pause", change("state_saved", match={"branch": "b"}, pending=("p1",)))),
    Miniature("state_transition", "DECISIONS_DIFFER", worlds.fork,
              on("approved", drop("decision"))),
    Miniature("state_transition", "DECISION_WITHOUT_EFFECT",
              lambda: worlds.stuck(approve=True, nested=False)),
    Miniature("state_transition", "STATE_UNOBSERVED", worlds.fork,
              on("approved", drop("state_restored"))),
    *(Miniature("state_transition", "STATE_UNOBSERVED", worlds.fork,
                on("pause", drop(kind, branch=branch)))
      for kind, branch in (("state_saved", "b"), ("state_saved", "probe-json"),
                           ("state_restored", "probe-json"))),
    Miniature("state_transition", "STATE_NOT_RESTORED", worlds.fork, on("approved", both(
        change("state_restored", error={"type": "UserError"}), drop("decision", None)))),
    Miniature("state_transition", "RESULT_DEPENDS_ON_WAY", worlds.twins, on("stored", change(
        "result", new_items=more({"type": "tool_approval_item", "agent": "a",
                                  "item": call("pay", "p1")})))),
    # --- state_fork_isolation
    Miniature("state_fork_isolation", "SIBLING_STATE_MUTATED",
              lambda: worlds.fork(mutated=True)),
    Miniature("state_fork_isolation", "SIBLING_STATE_MUTATED", worlds.fork,
              on("untouched", change("state_restored", pending=("p1",)))),
    Miniature("state_fork_isolation", "SIBLING_STATE_MUTATED", lambda: worlds.fork(run=QUIET),
              on("untouched", insert(_STARTED)),
              also={"exactly_once": "UNAPPROVED_EXECUTION"}),
    # --- recursive_approval_routing
    Miniature("recursive_approval_routing", "APPROVED_NESTED_STATE_REMAINED_INTERRUPTED",
              lambda: worlds.stuck(approve=True, nested=True)),
    Miniature("recursive_approval_routing", "REJECTED_NESTED_STATE_REMAINED_INTERRUPTED",
              lambda: worlds.stuck(approve=False, nested=True)),
    # --- session_persistence
    Miniature("session_persistence", "SESSION_HISTORY_CHANGED", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=less(0)))),
    Miniature("session_persistence", "SESSION_ITEM_LOST", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=less(-1)))),
    Miniature("session_persistence", "SESSION_ITEM_DUPLICATED", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=more(say("again"))))),
    Miniature("session_persistence", "SESSION_ITEM_FOREIGN", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=more(say("never said"))))),
    Miniature("session_persistence", "SESSION_ORDER_CHANGED", worlds.tools,
              on("two", change("session_read", match=_OBSERVED, items=swapped(-1, -2)))),
    Miniature("session_persistence", "SESSION_EFFECT_LOST",
              lambda: worlds.failing(session=Session()),
              on("one", change("session_read", match=_OBSERVED, items=less(-1, -2)))),
    Miniature("session_persistence", "SESSION_UNOBSERVED", worlds.tools,
              on("two", drop("session_read", **_OBSERVED))),
    # --- hook_order
    *(Miniature("hook_order", "HOOK_MISSING", worlds.handoff,
                on("one", drop("hook", scope=scope, on=hook)))
      for scope in ("run", "agent")
      for hook in ("on_llm_start", "on_llm_end", "on_tool_start", "on_tool_end", "on_handoff",
                   "on_agent_start", "on_agent_end")),
    *(Miniature("hook_order", "HOOK_DUPLICATED", worlds.handoff,
                on("one", repeat("hook", scope="agent", on=hook)))
      for hook in ("on_llm_start", "on_llm_end", "on_tool_start", "on_tool_end", "on_handoff",
                   "on_agent_start", "on_agent_end")),
    Miniature("hook_order", "HOOK_OUT_OF_ORDER", worlds.handoff,
              on("one", to_front("hook", scope="run", on="on_llm_start"))),
    *(Miniature("hook_order", "HOOK_OUT_OF_ORDER", worlds.handoff, on("one", both(
        drop("hook", -1, scope="run", on=hook),
        insert(make("hook", scope="run", on=hook, agent="b", output="done"), place, agent="b"))))
      for hook, place in (("on_llm_start", "model_responded"), ("on_llm_end", "model_responded"),
                          ("on_agent_end", "model_called"))),
    Miniature("hook_order", "HOOK_OUT_OF_ORDER", worlds.handoff, on("one", change(
        "hook", match={"scope": "run", "on": "on_agent_start", "agent": "b"}, agent="a"))),
    Miniature("hook_order", "HOOK_OUT_OF_ORDER", worlds.handoff, on("one", change(
        "hook", match={"scope": "run", "on": "on_agent_end"}, agent="a"))),
    *(Miniature("hook_order", "HOOK_MISSING", worlds.nested,
                on("rest", drop("hook", scope=scope, on=hook, parent="o1")))
      for scope in ("run", "agent") for hook in ("on_llm_start", "on_tool_start", "on_tool_end")),
    Miniature("hook_order", "HOOK_OUT_OF_ORDER", worlds.handoff, on("one", both(
        drop("hook", scope="run", on="on_tool_start"),
        insert(make("hook", scope="run", on="on_tool_start", agent="a", tool="add", call="c1"),
               "tool_finished")))),
    Miniature("hook_order", "HOOK_OUT_OF_ORDER", worlds.handoff, on("one", change(
        "hook", match={"scope": "run", "on": "on_handoff"}, other="c"))),
    Miniature("hook_order", "HOOK_MISSING", worlds.failing,
              on("one", drop("hook", on="on_llm_end"))),
    Miniature("hook_order", "HOOK_DUPLICATED", worlds.failing, on("one", both(
        *[insert(make("hook", scope="run", on="on_agent_end", agent="a"))] * 2))),
    # --- span_tree
    Miniature("span_tree", "SPAN_ORPHANED", worlds.tools,
              on("one", change("span_finished", match={"type": "function"}, parent=99))),
    Miniature("span_tree", "SPAN_ORPHANED", worlds.tools,
              on("one", change("span_finished", match={"type": "agent"}, parent=None))),
    Miniature("span_tree", "SPAN_NOT_CLOSED", worlds.tools, on("one", both(
        drop("span_finished", type="function", span=2),
        insert(make("span_started", span=2, type="function", name="add", parent=1),
               "span_finished", span=3)))),
    Miniature("span_tree", "SPAN_LATE", worlds.tools,
              on("one", change("span_finished", match={"type": "function"}, late=True))),
    *(Miniature("span_tree", "SPAN_MISSING", worlds.handoff,
                on("one", drop("span_finished", -1, type=type)))
      for type in ("function", "handoff", "agent")),
    Miniature("span_tree", "SPANS_UNOBSERVED", worlds.tools,
              on("one", drop("span_finished", None))),
    Miniature("span_tree", "SPAN_TELLS_TOO_MUCH",
              _retitled(worlds.tools, Run(sensitive_traces=False))),
    *(Miniature("span_tree", "SPAN_TELLS_TOO_LITTLE", worlds.tools, on("one", change(
        "span_finished", match={"type": "function"}, holds=(part,))))
      for part in ("input", "output")),
    Miniature("span_tree", "SPAN_WITHOUT_ERROR", worlds.hook_failing, on("one", change(
        "span_finished", match={"type": "agent"}, error=""))),
    # --- usage_sum
    Miniature("usage_sum", "USAGE_DIFFERS", worlds.nested,
              on("rest", change("usage", input=20))),
    Miniature("usage_sum", "USAGE_DIFFERS", worlds.tools,
              on("one", change("usage", requests=3))),
    Miniature("usage_sum", "USAGE_DIFFERS", worlds.twins,
              on("stored", change("usage", requests=3))),
    Miniature("usage_sum", "USAGE_DIFFERS", worlds.tried_again,
              on("one", change("usage", requests=1))),
    Miniature("usage_sum", "USAGE_ENTRIES_DIFFER", worlds.tools,
              on("one", change("usage", entries=1))),
    Miniature("usage_sum", "USAGE_UNOBSERVED", worlds.tools, on("one", drop("usage"))),
    # --- response_linkage
    Miniature("response_linkage", "RESPONSES_DIFFER", worlds.tools,
              on("one", change("result", responses=less(0)))),
    Miniature("response_linkage", "RESPONSES_DIFFER", worlds.nested,
              on("rest", change("result", responses=more((say("outer"),))))),
    Miniature("response_linkage", "EFFECT_UNTOLD", worlds.failing,
              on("one", change("raised", new_items=less(1)))),
    # --- handoff_history
    Miniature("handoff_history", "HANDOFF_TO_WRONG_AGENT", lambda: worlds.handoff(run=QUIET),
              on("one", change("result", last_agent="a"))),
    Miniature("handoff_history", "HANDOFF_TO_WRONG_AGENT", lambda: worlds.handoff(run=QUIET),
              on("one", both(change("model_called", 2, agent="c"),
                             change("model_responded", 2, agent="c"))),
              also={"model_script_consumed": "SCRIPT_NOT_CONSUMED",
                    "stream_complete": "STREAM_AGENTS_DIFFER",
                    "new_items": "ITEM_AGENT_DIFFERS"}),
    *(Miniature("handoff_history", "HANDOFF_HISTORY_LOST", worlds.handoff,
                on("one", change("model_called", 2, input=less(*positions))))
      for positions in ((1, 2), (3,), (4, 5))),
    Miniature("handoff_history", "HANDOFF_HISTORY_LOST", worlds.handoff,
              on("one", change("model_called", 2, input=less(0)))),
    Miniature("handoff_history", "HANDOFF_FILTER_IGNORED", lambda: worlds.handoff(filtered=True),
              on("one", change("model_called", 2, input=lambda items: (
                  *items, call("add", "c1"), output("c1", "3"))))),
    Miniature("handoff_history", "HANDOFF_HISTORY_LOST", worlds.nested_history,
              on("one", change("model_called", 1, input=lambda items: (
                  {"role": "assistant", "content": "<CONVERSATION HISTORY>\n1. user: Hi\n"},)))),
    Miniature("handoff_history", "HANDOFF_NESTING_IGNORED", worlds.nested_history,
              on("one", change("model_called", 1, input=more({"type": "reasoning"}))),
              also={"tool_linkage": "DANGLING_REASONING"}),
    Miniature("handoff_history", "HANDOFF_ITEM_REPEATED", worlds.nested_history,
              on("one", change("model_called", 1, input=more(say("over to b", "m0"))))),
    Miniature("handoff_history", "HANDOFF_CALLBACK_MISSING", lambda: worlds.handoff(run=QUIET),
              on("one", drop("handoff"))),
    Miniature("handoff_history", "HANDOFF_UNFIT_ACCEPTED",
              lambda: worlds.typed_handoff('{"n":"5"}')),
    # --- guardrail_before_effect
    Miniature("guardrail_before_effect", "MODEL_CALLED_AFTER_TRIP",
              lambda: worlds.blocked(called=True)),
    Miniature("guardrail_before_effect", "TOOL_STARTED_AFTER_TRIP", worlds.blocked,
              on("one", insert(make("tool_started", tool="add", call="c1")))),
    Miniature("guardrail_before_effect", "TOOL_STARTED_AFTER_TRIP",
              lambda: worlds.raced(started=True)),
    Miniature("guardrail_before_effect", "REJECTED_TOOL_STARTED", worlds.guarded,
              on("one", insert(make("tool_started", tool="add", call="c1")))),
    Miniature("guardrail_before_effect", "TRIP_NOT_RAISED", worlds.let_through),
    Miniature("guardrail_before_effect", "REFUSED_OUTPUT_STORED", worlds.refused,
              on("one", change("session_read", match=_OBSERVED, items=more(say("the secret"))))),
    *(Miniature("guardrail_before_effect", "REFUSED_OUTPUT_STORED", world,
                on("one", change("session_read", match=_OBSERVED, items=kept)),
                also={"session_persistence": "SESSION_ITEM_FOREIGN"})
      for world, kept in (
          (lambda: worlds.refused(stops=True), lambda items: (
              *items[:-1], output("c1", "the secret"))),
          (lambda: worlds.refused(fallback="a secret"), more(say("a secret"))))),
    # --- max_turns
    Miniature("max_turns", "MAX_TURNS_OVERRUN", _retitled(worlds.tools, Run(max_turns=1))),
    Miniature("max_turns", "MAX_TURNS_OVERRUN", lambda: worlds.nested(nested_turns=1)),
    Miniature("max_turns", "MAX_TURNS_OVERRUN", lambda: worlds.nested(phase_turns=1)),
    Miniature("max_turns", "MAX_TURNS_EARLY", lambda: worlds.failing(
        Run(max_turns=3), "MaxTurnsExceeded")),
    Miniature("max_turns", "MAX_TURNS_HANDLER_IGNORED", lambda: worlds.failing(
        Run(max_turns=2, on_max_turns="gave up"), "MaxTurnsExceeded")),
    # --- task_cleanup
    Miniature("task_cleanup", "TASK_LEAKED", worlds.tools,
              on("one", insert(make("task_leaked", name="Runner._stray")))),
    *CALLS,
    *RUNS,
    *RELATED,
    *FLOW,
    *BOUNDARY_MINIATURES,
    *CALL_BOUNDARY_MINIATURES,
    *FAILURE_BOUNDARY_MINIATURES,
    *LINKAGE_BOUNDARY_MINIATURES,
    *LINKAGE_MINIATURES,
    *READING_MINIATURES,
    *RELATION_BOUNDARY_MINIATURES,
    *TURN_BOUNDARY_MINIATURES,
    *UNTOLD_BOUNDARY_MINIATURES,
    *SERVERS,
    *OPTIONS,
    *RAISED,
)
