"""Steps of a conversation: messages of agents, of people, and of what executes their calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentrunproof.localize.trace import clip
from agentrunproof.record import speakers
from agentrunproof.record.localization import Step, StepKind, StepStatus

_EXIT_CODE = re.compile(r"exit ?code:? *(-?\d+)", re.I)


@dataclass(frozen=True)
class Message:
    """One message.

    Args:
        agent: who wrote it: a name, or a role such as ``user`` and ``tool``.
        text: what it says.
        calls: the tools it calls, each with the text of its arguments.
    """

    agent: str
    text: str
    calls: tuple[tuple[str, str], ...] = ()


def steps(messages: Iterable[Message]) -> tuple[Step, ...]:
    """The steps of a conversation, each message one, numbered from 0.

    In a talk in which no person says anything, the first message is the task.
    """
    messages = tuple(messages)
    peopled = any(speakers.read(message.agent).kind == "person" for message in messages)
    return tuple(_Reading(peopled).steps(messages))


def of_openai(messages: Sequence[Any]) -> tuple[Step, ...]:
    """The steps of a conversation in the form of Chat Completions messages."""
    read = []
    for message in messages:
        calls = tuple((str(call["function"]["name"]), str(call["function"]["arguments"]))
                      for call in message.get("tool_calls") or ())
        read.append(Message(str(message["role"]), str(message.get("content") or ""), calls))
    return steps(read)


class _Reading:
    """Reads one message after the other and knows which calls are open.

    Args:
        peopled: whether people speak in it.
    """

    def __init__(self, peopled: bool) -> None:
        self._peopled = peopled
        self._open: list[tuple[int, str, str]] = []
        self._last: int | None = None

    def steps(self, messages: Iterable[Message]) -> Iterator[Step]:
        for number, message in enumerate(messages):
            speaker = speakers.read(message.agent)
            if speaker.kind == "person" or not (number or self._peopled):
                yield Step(number=number, kind="input", agent=message.agent,
                           input=clip(message.text))
            elif speaker.kind == "executor":
                yield self._result(number, message)
                continue
            else:
                yield self._answer(number, message, speaker)
            self._last = number

    def _answer(self, number: int, message: Message, speaker: speakers.Speaker) -> Step:
        self._open = [(number, *call) for call in message.calls]
        made = "".join(f"\n{tool}({arguments})" for tool, arguments in message.calls)
        kind: StepKind = "handoff" if speaker.to else "answer"
        facts = {"to": speaker.to} if speaker.to else \
            {"aside": speaker.aside} if speaker.aside else {}
        return Step(number=number, kind=kind, agent=speaker.name, output=clip(message.text + made),
                    facts=facts)

    def _result(self, number: int, message: Message) -> Step:
        """The result of the call that is open, or of what the message before wrote."""
        by, tool, arguments = self._open.pop(0) if self._open else (self._last, message.agent, "")
        code = _EXIT_CODE.match(message.text)
        status: StepStatus = "error" if code and code[1] != "0" else "ok"
        return Step(number=number, kind="tool", agent="", tool=tool, asked_by=by,
                    input=clip(arguments), output=clip(message.text), status=status,
                    error=f"exited with {code[1]}" if code and status == "error" else "")
