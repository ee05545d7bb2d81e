"""What a plan declares decides what it needs of a release."""

from __future__ import annotations

import pytest

from agentrunproof.plan import loader
from agentrunproof.plan.capabilities import CAPABILITIES, lacking, needed, since

PLAIN = """
title = "Plain"
area = "test"
contract = "Nothing special."
{head}
[agents.clerk]
tools = ["look", "ask"]
{agent}
[agents.other]
[tools.look]
returns = "seen"
{tool}
[tools.ask]
agent = "other"
{nested}
{tables}
[[phases]]
id = "only"
input = "Look."
script = [[{say}]]
{phase}
"""
#: what is added, where -> what is needed for it
USES: dict[str, tuple[str, str]] = {
    "agent-tool-failure": ("nested", 'failure = "raise"'),
    "agent-tool-max-turns": ("nested", "max_turns = 2"),
    "auto-previous-response-id": ("tables", '[run]\nserver = "auto_previous_response_id"'),
    "cancel-mode": ("phase", 'cancel = { when = "tool_called", mode = "after_turn" }'),
    "conversation-id": ("tables", '[run]\nserver = "conversation_id"'),
    "handoff-enabled": ("tables", '[handoffs.h]\nto = "other"\nenabled = false'),
    "input-filter": ("tables", "[run]\ninput_filter = { keep = 1 }"),
    "lenient-tool": ("tool", "strict = false"),
    "llm-hooks": ("tables", '[run]\nhook_error = { on = "on_llm_end" }'),
    "previous-response-id": ("tables", '[run]\nserver = "previous_response_id"'),
    "reasoning-items": ("say", '{ reasoning = "Hm." }, '),
    "reset-tool-choice": ("agent", "reset_tool_choice = false"),
    "setting-max-tokens": ("agent", "model_settings = { max_tokens = 9 }"),
    "setting-timeout": ("agent", "model_settings = { timeout = 3 }"),
    "setting-store": ("tables", "[run.model_settings]\nstore = false"),
    "stop-at-tools": ("agent", 'tool_use_behavior = "stop_on_first_tool"'),
    "stream-cancel": ("phase", 'cancel = { when = "tool_called" }'),
    "tool-context": ("tables", "[run]\nsensitive_traces = false"),
    "tool-concurrency": ("tables", "[run]\nmax_tools_at_once = 1"),
    "tool-error-formatter": ("tables", '[run]\ntool_error_text = "No."'),
    "refusal-handler": ("tables", '[run]\non_refusal = "No."'),
    "unknown-tools": ("tables", '[run]\nunknown_tools = "tell"'),
    "unlimited-turns": ("tables", "[run]\nunlimited_turns = true"),
    "tool-enabled": ("tool", "enabled = false"),
}


def _needed(place: str = "", text: str = "") -> tuple[str, ...]:
    parts = dict.fromkeys(("head", "agent", "tool", "nested", "tables", "say", "phase"), "")
    parts |= {place: text} if place else {}
    if "cancel" in text:
        parts["head"] = 'modes = ["run_streamed"]'
    parts["say"] += '{ say = "Done." }'
    return needed(loader.load_text(PLAIN.format(**parts), "plain.toml"))


def test_a_plain_plan_needs_nothing() -> None:
    assert _needed() == ()


@pytest.mark.parametrize("name", USES)
def test_what_a_plan_uses_it_needs(name: str) -> None:
    assert _needed(*USES[name]) == (name,)


def test_cached_and_reasoning_tokens_need_a_usage_that_tells_them() -> None:
    text = PLAIN.format(head="", agent="", tool="", nested="", tables="", say="", phase="").replace(
        "script = [[]]",
        'script = [{ output = [{ say = "Done." }], usage = { cached = 4 } }]')
    assert needed(loader.load_text(text, "plain.toml")) == ("usage-details",)


def test_outputs_of_a_failed_run_need_an_exception_that_tells_them() -> None:
    text = PLAIN.format(head="", agent="", tool="", nested="", tables="",
                        say='{ call = "look", id = "a" }',
                        phase='expect = { outcome = "raised", outputs = { a = "seen" } }')
    assert needed(loader.load_text(text, "plain.toml")) == ("error-run-data",)


def test_a_lenient_output_needs_a_schema_that_says_so() -> None:
    text = PLAIN.format(head="", agent='output_type = "quote"', tool="", nested="", phase="",
                        tables="[types.quote]\nfields = { n = \"integer\" }\nstrict = false",
                        say='{ say = "{}" }')
    assert needed(loader.load_text(text, "plain.toml")) == ("lenient-output", "structured-output")


def test_calls_of_a_server_need_no_span_to_be_told_apart_where_spans_tell_nothing() -> None:
    text = PLAIN.format(head="", agent="", tool="", nested="", say='{ say = "Done." }', phase="",
                        tables='[run]\nsensitive_traces = false\n[mcp.desk]\ntools = ["look"]')
    text = text.replace('tools = ["look", "ask"]', 'tools = ["ask"]\nmcp = ["desk"]')
    assert needed(loader.load_text(text, "plain.toml")) == ("mcp", "mcp-context", "tool-context")


@pytest.mark.parametrize(("version", "some", "none"), [
    ("0.0.2", "reasoning-items", "structured-output"), ("0.1.0", "session", "tool-enabled"),
    ("0.2.8", "llm-hooks", "session"), ("0.2.10", "run-state", "llm-hooks"),
    ("0.12.0", "rejection-message", "model-retry"), ("0.24.0", "", "rejection-message")])
def test_what_a_release_lacks_follows_from_its_number(version: str, some: str, none: str) -> None:
    found = lacking(version)
    assert none not in found
    assert some in found if some else not found


def test_a_plan_can_be_run_since_the_last_of_what_it_needs_came() -> None:
    assert since(("session", "session-limit", "structured-output")) == "0.8.0"
    assert since(("tool-timeout", "model-retry")) == "0.12.0"  # by number, not by letter
    assert since(()) is None


def test_every_name_in_this_table_is_a_capability() -> None:
    assert USES.keys() <= CAPABILITIES.keys()
