"""A pytest file that needs no model: the recorded decision is played back to the application.

It holds the application's guard (approval, guardrail, a check of the tool's own) against the
decision, on the real Runner of the Agents SDK, with the SDK's public API alone.
"""

from __future__ import annotations

from agentrunproof.ablation.subject import AblationError, Call, Decision, Target
from agentrunproof.fix import python_text
from agentrunproof.fix.agent_name import Named

#: Where the tool itself is what must not happen.
_WATCHED = '''\
def watched(agent, ran):
    """The agent with a tool that only notes that it was run; its guards stay."""

    async def note(context, arguments):
        ran.append(arguments)
        return "noted"

    assert TOOL in [tool.name for tool in agent.tools], f"{agent.name} has no tool {TOOL}"
    return agent.clone(tools=[
        dataclasses.replace(tool, on_invoke_tool=note) if tool.name == TOOL else tool
        for tool in agent.tools])


def test_{test}(agent):
    ran = []
    play(watched(agent, ran))
    assert not ran, (
        f"{TOOL} was run with {ran[0]}: give it needs_approval, or a tool guardrail that refuses "
        "such a call")
'''
#: Where the user names what must not happen.
_EFFECT = '''\
def test_{test}(agent):
    with mock.patch(EFFECT, autospec=True) as effect:
        play(agent)
    assert not effect.call_args_list, (
        f"{EFFECT} was called, {effect.call_args_list[0]}: let {TOOL} wait for approval, or refuse "
        "such a call")
'''
_MODEL = '''\
class ScriptedModel(Model):
    """Decides as was recorded; no request leaves this process."""

    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=[
            ResponseFunctionToolCall(
                id=f"fc-{n}", type="function_call", call_id=f"recorded-{n}", name=TOOL,
                arguments=json.dumps(arguments), status="completed")
            for n, arguments in enumerate(ARGUMENTS)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def play(agent):
    """Run the agent up to its tools, unless something stops it before."""
    try:
        Runner.run_sync(agent, CONVERSATION, max_turns=1, run_config=RunConfig(
            model=ScriptedModel(), tracing_disabled=True))
    except (
        InputGuardrailTripwireTriggered,
        MaxTurnsExceeded,  # the one turn of the script is over
        ToolInputGuardrailTripwireTriggered,
    ):
        pass
'''
_IMPORTS = '''\
import json
from pathlib import Path
{more}
import pytest
from agents import (
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    ToolInputGuardrailTripwireTriggered,
    Usage,
)
from openai.types.responses import ResponseFunctionToolCall
'''
_UNNAMED = '''\
    pytest.skip("return your agent here, or write this test again with --agent MODULE:ATTRIBUTE")
'''


def script(target: Target, context: str, *, agent: Named | None = None, effect: str = "") -> str:
    """The text of the file.

    Args:
        target: what was decided, a tool call.
        context: name of the context's file, beside this one.
        agent: the user's agent, or what makes it; without it the test is skipped until it is
            filled in.
        effect: what must not be called, such as ``mail.outbox.send``; without it, the tool.

    Raises:
        AblationError: ``GUARD_NO_CALL``: the recorded decision has no call that is asked about.
    """
    calls = asked_about(target)
    if not calls:
        raise AblationError("GUARD_NO_CALL", f"{target.spec}: no tool call was recorded that "
                            "could be played back")
    tool = calls[0].name
    body = (_EFFECT if effect else _WATCHED).replace("{test}", name(tool))
    constants = [python_text.value("TOOL", tool),
                 python_text.value("ARGUMENTS", [call.arguments for call in calls]),
                 *([python_text.value("EFFECT", effect)] if effect else []),
                 "CONVERSATION = json.loads(\n"
                 f'    Path(__file__).with_name("{context}").read_text("utf-8"))["conversation"]']
    imports = _IMPORTS.replace("{more}", "from unittest import mock\n" if effect else "")
    parts = [_head(tool, effect, context),
             imports if effect else "import dataclasses\n" + imports,
             "\n".join(constants), _MODEL, _fixture(agent), body]
    return "\n".join([*(f"{part.rstrip()}\n" for part in parts[:2]),
                      *(f"{part.rstrip()}\n\n" for part in parts[2:])]).rstrip() + "\n"


def name(tool: str) -> str:
    """What the test is called, after ``test_``."""
    return f"{python_text.word(tool)}_is_not_run_because_the_model_says_so"


def asked_about(target: Target) -> list[Call]:
    """The recorded calls that are asked about, all of one tool."""
    calls = target.recorded.calls
    if target.spec != "any":
        calls = tuple(call for call in calls if target.met(Decision((call,))))
    return [call for call in calls if call.name == calls[0].name]


def _head(tool: str, effect: str, context: str) -> str:
    what = f"{effect} is called" if effect else "the tool is run"
    return python_text.docstring(
        f"{tool} is not run just because the model says so.",
        "What the model once decided is decided again by a scripted model, on the real Runner and "
        f"with the conversation in {context}; no request leaves this process. The test passes if "
        f"the call waits for approval, is refused, or is stopped by a guardrail. It fails if "
        f"{what}.")


def _fixture(agent: Named | None) -> str:
    lines = ["@pytest.fixture", "def agent():"]
    if agent is None:
        return "\n".join([*lines, _UNNAMED])
    first = agent.attribute.split(".")[0]
    return "\n".join([*lines, f"    from {agent.module} import {first}", "",
                      f"    return {agent.attribute}{'()' if agent.makes else ''}"])
