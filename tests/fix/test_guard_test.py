"""The written test that needs no model: it fails for an agent that nothing guards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentrunproof.ablation.subject import AblationError, Call, Decision, Target
from agentrunproof.fix import guard_test
from agentrunproof.fix.agent_name import Named, named
from agentrunproof.fix.context_file import Context
from tests.fix.inbox import CHAT, DRAFT, RECORDED, TARGET

#: Agents with different guards. What must not happen is `outbox.send`.
AGENTS = '''
from agents import (
    Agent, GuardrailFunctionOutput, ToolGuardrailFunctionOutput, function_tool, input_guardrail,
    tool_input_guardrail)
from dataclasses import dataclass
import outbox

@dataclass
class Report:
    count: int

OURS = "@harbour.example"

def tool(**options):
    @function_tool(**options)
    def forward_email(to: str) -> str:
        outbox.send(to)
        return "sent"
    return forward_email

@function_tool
def forward_inside(to: str) -> str:
    if not to.endswith(OURS):
        return "refused"
    outbox.send(to)
    return "sent"
forward_inside.name = "forward_email"

@tool_input_guardrail
def only_ours(data):
    if OURS in data.context.tool_arguments:
        return ToolGuardrailFunctionOutput.allow()
    return ToolGuardrailFunctionOutput.reject_content("not to strangers")

@tool_input_guardrail
def stops(data):
    return ToolGuardrailFunctionOutput.raise_exception()

@input_guardrail(run_in_parallel=False)
def no_orders(context, agent, given):
    return GuardrailFunctionOutput(output_info=None,
                                   tripwire_triggered="Assistants, forward" in str(given))

def made(*guards):
    forward = tool()
    forward.tool_input_guardrails = list(guards)
    return Agent(name="inbox", tools=[forward])

unguarded = made()
approving = Agent(name="inbox", tools=[tool(needs_approval=True)])
refusing = made(only_ours)
stopping = made(stops)
checking = Agent(name="inbox", tools=[forward_inside])
reading = Agent(name="inbox", tools=[tool()], input_guardrails=[no_orders])
toolless = Agent(name="inbox")
typed = Agent(name="inbox", tools=[tool(needs_approval=True)], output_type=Report)

def build():
    return approving

class Kept:
    inner = refusing
'''
OUTBOX = 'def send(to):\n    raise AssertionError("the real one was called")\n'

#: What the written test is told of the agent, and what must not happen, by file.
CASES: dict[str, tuple[Named | None, str]] = {
    **{name: (Named("assistant", name, makes=False), "") for name in (
        "unguarded", "approving", "refusing", "stopping", "reading", "typed", "toolless")},
    "inner": (Named("assistant", "Kept.inner", makes=False), ""),
    "built": (Named("assistant", "build", makes=True), ""),
    "unnamed": (None, ""),
    "checking": (Named("assistant", "checking", makes=False), "outbox.send"),
    "approving_effect": (Named("assistant", "approving", makes=False), "outbox.send"),
    "unguarded_effect": (Named("assistant", "unguarded", makes=False), "outbox.send")}


@pytest.mark.sdk
def test_an_unguarded_agent_fails_and_every_guard_passes(tmp_path: Path) -> None:
    # one process for all, since the SDK is slow to import; each case is a file of its own
    (tmp_path / "assistant.py").write_text(AGENTS)
    (tmp_path / "outbox.py").write_text(OUTBOX)
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_inbox.json").write_text(
        Context("openai.chat", CHAT, TARGET.spec, RECORDED).to_text())
    for case, (agent, effect) in CASES.items():
        (tests / f"test_{case}.py").write_text(
            guard_test.script(TARGET, "test_inbox.json", agent=agent, effect=effect))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rsf", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path, capture_output=True, text=True, check=False)
    failed = {line.split("::")[0].rpartition("_")[2] for line in done.stdout.splitlines()
              if line.startswith("FAILED")}
    assert failed == {"unguarded.py", "effect.py", "toolless.py"}
    for said in ("3 failed, 9 passed, 1 skipped", "forward_email was run with",
                 "outbox.send was called", "inbox has no tool forward_email",
                 "return your agent here", "--agent MODULE:ATTRIBUTE"):
        assert said in done.stdout


def test_the_written_file_holds_no_path_and_needs_nothing_of_ours() -> None:
    said = guard_test.script(TARGET, "test_inbox.json", agent=Named("a.b", "made.agent", True))
    assert "agentrunproof" not in said
    assert "from a.b import made\n\n    return made.agent()" in said
    assert 'Path(__file__).with_name("test_inbox.json")' in said
    compile(said, "test_inbox_guard.py", "exec")


def test_only_the_calls_that_are_asked_about_are_played_back() -> None:
    pay = [Call("pay", {"to": "A"}), Call("read", {}), Call("pay", {"to": "B"})]
    recorded = Decision(tuple(pay))
    assert guard_test.asked_about(Target("tool:pay", recorded)) == [pay[0], pay[2]]
    assert guard_test.asked_about(Target("tool:pay:to=B", recorded)) == [pay[2]]
    assert guard_test.asked_about(Target("any", recorded)) == [pay[0], pay[2]]
    assert guard_test.asked_about(Target("text:x", Decision(text="x"))) == []
    with pytest.raises(AblationError) as raised:
        guard_test.script(Target("tool:pay", DRAFT), "x.json")
    assert raised.value.code == "GUARD_NO_CALL"


@pytest.mark.parametrize(("word", "code"), [
    ("assistant", "AGENT_FORM"), ("no such:agent", "AGENT_FORM"), ("json:dumps.x", "AGENT_IMPORT"),
    ("no_such_module:agent", "AGENT_IMPORT"), ("json:__name__", "AGENT_FORM"),
    ("tests.fix.agents:other", "AGENT_TOOL")])
def test_an_agent_that_is_none_is_refused_by_name(word: str, code: str) -> None:
    with pytest.raises(AblationError) as raised:
        named(word, "forward_email")
    assert raised.value.code == code


def test_an_agent_and_what_makes_one_are_told_apart() -> None:
    assert named("python:tests.fix.agents:agent", "forward_email") == Named(
        "tests.fix.agents", "agent", makes=False)
    assert named("tests.fix.agents:build", "forward_email").makes
