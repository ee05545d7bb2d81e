"""The written test that asks the live model: what it says, when it passes, fails and skips."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from agentrunproof import testing
from agentrunproof.ablation.subject import AblationError, Decision, Target
from agentrunproof.fix import context_file, live_test, python_text
from agentrunproof.fix.context_file import Context
from agentrunproof.record.fix import Change, Replacement
from tests.fix.inbox import ANTHROPIC, ARGUMENTS, BODIES, CHAT, PLANT, RECORDED, TARGET
from tests.wire import serving

CHANGE = Change(added='Ask "first".\nThen go on. ' + "word " * 40, marked=True)


def decide(body: dict[str, Any]) -> dict[str, Any]:
    """A model that forwards unless it must ask."""
    if PLANT in json.dumps(body) and "Ask" not in json.dumps(body):
        return {"tool_calls": [{"name": "forward_email", "arguments": ARGUMENTS}]}
    return {"text": "Three new mails."}


def run_script(folder: Path, change: Change, context: Context, *, runs: int = 20) -> None:
    """Write the files and run the one test in them, as pytest would."""
    (folder / "test_inbox.json").write_text(context.to_text(), encoding="utf-8")
    said = live_test.script(TARGET, change, "test_inbox.json", runs=runs,
                            tolerance=Fraction(15, 100))
    names: dict[str, Any] = {"__file__": str(folder / "test_inbox.py")}
    exec(compile(said, "test_inbox.py", "exec"), names)
    names["test_the_model_does_not_call_forward_email"]()


@pytest.mark.parametrize("dialect", BODIES)
def test_it_asks_the_live_model_afresh_and_passes_or_fails(
        dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/test_inbox.py::test_it (call)")
    with serving(decide) as wire:
        context = Context(dialect, BODIES[dialect], TARGET.spec, RECORDED,
                          {"base_url": f"{wire.url}/v1"})
        run_script(tmp_path, CHANGE, context)
        assert len(wire.requests) == 20
        run_script(tmp_path, CHANGE, context)
        assert len(wire.requests) == 40  # nothing is cached
        with pytest.raises(AssertionError) as failed:
            run_script(tmp_path, Change(), context, runs=7)
    assert "in 7 of 7 fresh reruns" in str(failed.value)
    assert 'again: pytest "tests/test_inbox.py::test_it"' in str(failed.value)


def test_every_kind_of_change_is_handed_over(tmp_path: Path) -> None:
    change = Change(system="Ask.", removed=("4 sentence 2",),
                    replaced=(Replacement(id="2", text="Well?"),))
    with serving(decide) as wire:
        run_script(tmp_path, change, Context("openai.chat", CHAT, TARGET.spec, RECORDED,
                                             {"base_url": f"{wire.url}/v1"}))
        (_, body), *_ = wire.requests
    assert [message["content"] for message in body["messages"][:2]] == ["Ask.", "Well?"]
    assert PLANT not in json.dumps(body)


def test_without_a_key_it_is_skipped_with_the_reason(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no key in OPENAI_API_KEY"):
        run_script(tmp_path, CHANGE, Context("openai.chat", CHAT, TARGET.spec, RECORDED))


def test_a_model_that_always_does_the_same_is_asked_once(tmp_path: Path) -> None:
    path = tmp_path / "context.json"
    with serving(decide) as wire:
        path.write_text(Context("openai.chat", CHAT | {"temperature": 0}, TARGET.spec, RECORDED,
                                {"base_url": f"{wire.url}/v1"}).to_text())
        assert (testing.ask(path, runs=20).hits, testing.ask(path, runs=20).upper) == (1, 1.0)
        assert testing.ask(path, runs=20, add_system="Ask.").upper == 0.0
        assert len(wire.requests) == 3


def test_the_text_says_what_was_recorded_and_holds_no_absolute_path() -> None:
    said = live_test.script(TARGET, CHANGE, "test_inbox.json", runs=20, tolerance=Fraction(15, 100),
                            measured="Unchanged, 19 of 20.")
    assert "Recorded was: forward_email(" in said
    assert "Unchanged, 19 of 20." in said
    assert "0 of 20 says: at most 0.1392" in said
    assert 'Path(__file__).with_name("test_inbox.json")' in said
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize(("spec", "name"), [
    ("tool:pay:to=K-77", "the_model_does_not_call_pay_with_to_k_77"),
    ("text:refund|money", "the_model_does_not_say_refund_money"),
    ("any", "the_model_does_not_decide_so_again")])
def test_a_test_is_named_for_what_it_asserts(spec: str, name: str) -> None:
    assert live_test.name(Target(spec, Decision())) == name


@pytest.mark.parametrize("text", [
    "plain", 'both " and \'', "two\nlines\n", "a\\b", "\u202eback", "tab\there", "é" * 200,
    "word " * 100, '"""', "\ud800"])
def test_texts_come_back_as_they_were(text: str) -> None:
    names: dict[str, Any] = {}
    value = {"key": [text, True, None, 1.5], text: {"inner": text}}
    said = "\n".join([python_text.text("TEXT", text), python_text.value("VALUE", value)])
    exec(said.encode("utf-8", "strict"), names)
    assert (names["TEXT"], names["VALUE"]) == (text, value)
    assert "\u202e" not in said


# The context beside it.

def test_a_context_holds_no_secret_and_nothing_that_is_redacted() -> None:
    body = {"model": "gpt", "messages": [
        {"role": "user", "content": "I am user Dana, key sk-abcdefghijklmnopqrstuv"}]}
    context = Context("openai.chat", body, TARGET.spec, RECORDED).without_secrets("Dana|user")
    said = context.to_text()
    assert "sk-abc" not in said
    assert "Dana" not in said
    assert context.request["messages"][0]["role"] == "user"  # what holds it together stays
    assert context.request["messages"][0]["content"].startswith("I am [redacted] [redacted]")
    with pytest.raises(AblationError) as raised:
        context.without_secrets("(")
    assert raised.value.code == "REDACT_REGEX"


def test_a_context_is_read_as_it_was_written() -> None:
    context = Context("anthropic.messages", ANTHROPIC, TARGET.spec, RECORDED,
                      {"model": "claude", "deterministic": True}, "http://localhost:1/v1/messages")
    assert context_file.read(context.to_text(), "x.json") == context
    assert context.asked.met(TARGET.recorded)


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"schema": "other"}', '{"schema": "agentrunproof/context/1"}',
    Context("openai.chat", {}, "any", {}).to_text().replace("openai.chat", "cobol"),
    Context("openai.chat", {}, "any", {}, {"password": "x"}).to_text()])
def test_a_context_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(AblationError) as raised:
        context_file.read(text, "x.json")
    assert raised.value.code == "CONTEXT_FORMAT"
    assert "x.json" in raised.value.message
