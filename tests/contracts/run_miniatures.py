"""Miniatures of the contracts on what a run is given, what it came to and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from agentrunproof.plan.model import ModelSettings
from agentrunproof.record.events import make
from tests.contracts import run_worlds, worlds
from tests.contracts.damage import Edit, both, change, insert, less, more, on, swapped
from tests.contracts.miniature import Miniature
from tests.contracts.play import say
from tests.contracts.worlds import QUIET

_USER = {"role": "user", "content": "new"}
_STORE = ModelSettings(store=True)


def _made(edit: Callable[[Any], Any], history: Callable[[Any], Any] | None = None) -> Edit:
    """Change the new items of a result; `history`: and its input list, which begins with one."""
    edits = [change("result", new_items=edit)]
    return both(*edits, *([change("result", history=history)] if history is not None else []))


def _field(position: int, **fields: str) -> Callable[[Any], Any]:
    return lambda entries: tuple(entry | (fields if n == position else {})
                                 for n, entry in enumerate(entries))


RUNS: tuple[Miniature, ...] = (
    # --- final_output
    Miniature("final_output", "NOT_WHAT_WAS_SAID", lambda: worlds.handoff(run=QUIET),
              on("one", change("result", final_output="other"))),
    Miniature("final_output", "NOT_WHAT_WAS_SAID", lambda: run_worlds.spoken(
        say("wait", "1"), say("done", "2"), final="wait")),
    Miniature("final_output", "NOT_WHAT_WAS_SAID", lambda: run_worlds.spoken(
        run_worlds.in_parts("do", "ne"), final="ne")),
    *(Miniature("final_output", "NOT_WHAT_WAS_SAID", lambda final=final: (  # type: ignore[misc]
        run_worlds.structured(final=final))) for final in ('{"n":6}', '{"m":5}', "5", "")),
    *(Miniature("final_output", "UNFIT_ACCEPTED", lambda text=text: (  # type: ignore[misc]
        run_worlds.structured(text, text))) for text in ("{", "[]", '{"m":5}', '{"n":"5"}')),
    Miniature("final_output", "FIT_REFUSED", lambda: run_worlds.structured(
        error="ModelBehaviorError")),
    Miniature("final_output", "PAUSED_WITH_OUTPUT", worlds.twins,
              on("pause", change("result", final_output="paid"))),
    # --- turn_input
    Miniature("turn_input", "TURN_ITEM_LOST", worlds.handoff,
              on("one", change("model_called", 1, input=less(0)))),
    Miniature("turn_input", "TURN_ITEM_LOST", worlds.twins,
              on("stored", change("model_called", input=less(0)))),
    Miniature("turn_input", "TURN_ITEM_ADDED", worlds.twins,
              on("stored", change("model_called", input=more(_USER)))),
    Miniature("turn_input", "TURN_ITEM_ADDED", worlds.nested,
              on("rest", change("model_called", input=more(_USER, 0)))),
    Miniature("turn_input", "TURN_ORDER_CHANGED", lambda: worlds.tools(run=QUIET),
              on("one", change("model_called", 1, input=swapped(0, 1)))),
    # --- session_input
    Miniature("session_input", "INPUT_NOT_LAST", worlds.tools,
              on("two", change("model_called", input=swapped(-1, -2)))),
    Miniature("session_input", "INPUT_NOT_LAST", worlds.tools,
              on("two", change("model_called", input=more(_USER)))),
    *(Miniature("session_input", "HISTORY_LOST", worlds.tools,
                on("two", change("model_called", input=less(*positions))))
      for positions in ((0,), (3, 5), (-2,))),
    Miniature("session_input", "HISTORY_LOST", lambda: run_worlds.remembered(
        run_worlds.OLD, 2, (3,))),
    Miniature("session_input", "HISTORY_FOREIGN", worlds.tools,
              on("two", change("model_called", input=more(_USER, 0)))),
    Miniature("session_input", "HISTORY_FOREIGN", lambda: run_worlds.remembered(
        run_worlds.OLD, 2, (2, 3), (_USER,))),
    Miniature("session_input", "HISTORY_REORDERED", worlds.tools,
              on("two", change("model_called", input=swapped(0, 1)))),
    *(Miniature("session_input", "LIMIT_IGNORED", lambda limit=limit: (  # type: ignore[misc]
        run_worlds.remembered(run_worlds.OLD, limit))) for limit in (0, 2, 3)),
    # --- new_items
    Miniature("new_items", "ITEM_LOST", lambda: worlds.handoff(run=QUIET),
              on("one", _made(less(2), less(3)))),
    Miniature("new_items", "ITEM_FOREIGN", lambda: worlds.handoff(run=QUIET), on("one", _made(
        more({"type": "message_output_item", "agent": "b", "item": say("new")}),
        more(say("new"))))),
    Miniature("new_items", "ITEM_ORDER", lambda: worlds.handoff(run=QUIET),
              on("one", _made(swapped(2, 3), swapped(3, 4)))),
    *(Miniature("new_items", "ITEM_TYPE_DIFFERS", worlds.handoff,
                on("one", _made(_field(position, type=type))))
      for position, type in ((0, "handoff_call_item"), (1, "handoff_output_item"),
                             (2, "reasoning_item"), (3, "tool_call_item"),
                             (4, "tool_call_output_item"))),
    Miniature("new_items", "ITEM_TYPE_DIFFERS", lambda: run_worlds.spoken(
        run_worlds.SEARCH, say("done")), on("one", _made(_field(0, type="reasoning_item")))),
    Miniature("new_items", "ITEM_TYPE_DIFFERS", run_worlds.thoughtful,
              on("one", _made(_field(0, type="message_output_item")))),
    *(Miniature("new_items", "ITEM_TYPE_DIFFERS", run_worlds.two_transfers,
                on("one", _made(_field(position, type=type))))
      for position, type in ((1, "tool_call_item"), (2, "handoff_output_item"),
                             (3, "tool_call_output_item"))),
    *(Miniature("new_items", "ITEM_AGENT_DIFFERS", worlds.handoff,
                on("one", _made(_field(position, agent=agent))))
      for position, agent in ((0, "b"), (1, "b"), (2, "b"), (5, "a"))),
    # --- input_list
    *(Miniature("input_list", "ORIGINAL_INPUT_DIFFERS", world,
                on("one", change("result", history=edit)))
      for world, edit in ((worlds.handoff, swapped(0, -1)), (worlds.tools, swapped(0, -1)),
                          (worlds.handoff, more(_USER, 0)))),
    Miniature("input_list", "GENERATED_ITEMS_DIFFER", worlds.handoff,
              on("one", change("result", history=more(_USER)))),
    Miniature("input_list", "GENERATED_ITEMS_DIFFER", worlds.handoff,
              on("one", change("result", history=less(-1)))),
    Miniature("input_list", "GENERATED_ITEMS_DIFFER", worlds.tools,
              on("one", change("result", history=swapped(1, -1)))),
    # --- server_conversation
    Miniature("server_conversation", "CHAIN_BROKEN", run_worlds.continued,
              on("rest", change("model_called", conversation_id=""))),
    Miniature("server_conversation", "CHAIN_BROKEN", lambda: run_worlds.continued(
        "previous_response_id"), on("one", change("model_called", previous_response_id=""))),
    *(Miniature("server_conversation", "CHAIN_BROKEN", lambda: run_worlds.continued(
        "auto_previous_response_id"),
        on(phase, change("model_called", which, previous_response_id="r9")))
      for phase, which in (("one", 0), ("one", 1), ("rest", 0), ("rest", 1))),
    *(Miniature("server_conversation", "OLD_ITEM_SENT", run_worlds.continued,
                on(phase, change("model_called", which, input=more(_USER, 0))))
      for phase, which in (("one", 0), ("one", 1), ("rest", 0), ("rest", 1))),
    *(Miniature("server_conversation", "NEW_ITEM_UNSENT", run_worlds.continued,
                on(phase, change("model_called", which, input=less(-1))))
      for phase, which in (("one", 0), ("one", 1), ("rest", 0), ("rest", 1))),
    # --- model_settings
    *(Miniature("model_settings", "SETTING_LOST", world) for world in (
        lambda: run_worlds.asked(_STORE), lambda: run_worlds.asked(None, _STORE))),
    *(Miniature("model_settings", "SETTING_DIFFERS", world) for world in (
        lambda: run_worlds.asked(_STORE, given={"store": False}),
        lambda: run_worlds.asked(ModelSettings(max_tokens=5), given={"max_tokens": 6}),
        lambda: run_worlds.asked(ModelSettings(temperature="0.5"), ModelSettings(temperature="1"),
                                 {"temperature": "0.5"}))),
    # --- tool_choice
    *(Miniature("tool_choice", "TOOL_CHOICE_LOST", world) for world in (
        lambda: run_worlds.chosen(None, None), lambda: run_worlds.chosen("auto", None),
        lambda: run_worlds.chosen("required", None, reset=False))),
    Miniature("tool_choice", "TOOL_CHOICE_KEPT", lambda: run_worlds.chosen(
        "required", "required")),
    Miniature("tool_choice", "TOOL_CHOICE_KEPT", lambda: run_worlds.chosen(
        "required", "required", searches=True)),
    # --- max_turns_fallback
    Miniature("max_turns_fallback", "FALLBACK_NOT_GIVEN", lambda: run_worlds.fallen_back("3"),
              also={"stop_at_tool": "ENDED_AT_TOOL"}),
    Miniature("max_turns_fallback", "FALLBACK_EARLY", lambda: run_worlds.fallen_back(limit=3)),
    Miniature("max_turns_fallback", "FALLBACK_NOT_APPENDED", lambda: run_worlds.fallen_back(
        kept=False)),
    # --- tool_linkage
    Miniature("tool_linkage", "DANGLING_REASONING", run_worlds.thoughtful,
              on("one", change("model_called", 1, input=less(2, 3, 4, 5))),
              also={"handoff_history": "HANDOFF_HISTORY_LOST"}),
    Miniature("tool_linkage", "DANGLING_REASONING", worlds.tools,
              on("two", change("model_called", input=more(run_worlds.THOUGHT, -1))),
              also={"session_input": "HISTORY_FOREIGN"}),
    # --- agent_tool
    *(Miniature("agent_tool", "AGENT_TOOL_OUTPUT_DIFFERS", partial(
        run_worlds.ended_at_a_tool, "other", stops)) for stops in (True, False)),
    # --- agent_request
    Miniature("agent_request", "INSTRUCTIONS_DIFFER", worlds.tools,
              on("one", change("model_called", instructions="other"))),
    Miniature("agent_request", "TOOLS_DIFFER", worlds.tools,
              on("one", change("model_called", tools=()))),
    Miniature("agent_request", "TOOLS_DIFFER", worlds.tools,
              on("one", change("model_called", tools=("add", "add")))),
    Miniature("agent_request", "TOOLS_DIFFER", run_worlds.one_name,
              on("one", change("model_called", tools=("transfer_to_b",)))),
    Miniature("agent_request", "HANDOFFS_DIFFER", worlds.handoff,
              on("one", change("model_called", handoffs=()))),
    # --- guardrail_results
    Miniature("guardrail_results", "GUARDRAIL_RESULT_LOST", worlds.guarded,
              on("one", change("result", guardrails=less(0)))),
    Miniature("guardrail_results", "GUARDRAIL_RESULT_LOST", worlds.blocked,
              on("one", change("raised", guardrails=()))),
    # --- cancellation
    Miniature("cancellation", "TURN_AFTER_CANCEL", worlds.cancelled,
              on("one", insert(make("model_called", agent="a", input=(
                  {"role": "user", "content": "Hi"}, say("one")))))),
)
