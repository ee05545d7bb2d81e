"""The answer that a run ended with, and which step wrote it first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentrunproof.localize import conversation, values
from agentrunproof.localize.trace import Trace

#: as many of the answer's values are looked for, and as many steps from the end looked into
_VALUES = 24
_LAST = 12
_WORDS = 12

_MARKED = re.compile(r"\bfinal answer:\s*([^\n]+)", re.I)
_NOISE = re.compile(r"\s*(?:SCENARIO\.PY|RUN\.SH)\b.*", re.S)
_CONCLUDES = re.compile(
    r"\bterminate\b|\bfinal answer:|\b(?:final|correct)\s(?:answer|result|output|list|outcome)\b"
    r"[^.\n]{0,40}(?:\bis\b|:)|\bcan (?:now )?conclude|\bconclude the\b|"
    r"\btask is (?:now )?complete|\brequest (?:is )?satisfied\b", re.I)
_LIST = re.compile(r"^\s*(?:#+\s*)?\d+[.)]\s", re.M)
_BLOCK = re.compile(r"```\w*\n?([^`]{1,80}?)\n?```")
_STRESSED = re.compile(r"\*\*([^*\n]{1,80}?)\*\*(?! *:)|[\"“]([^\"”\n]{2,80})[\"”]")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
_NAME = re.compile(r"(?:[A-Z][\w'\u2019&.\-]+ ){1,4}[A-Z][\w'\u2019&.\-]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")


@dataclass(frozen=True)
class Answer:
    """What a run ended with.

    Args:
        at: where it stands.
        values: what it is made of, as values are compared; all of it, where it is marked.
        marked: whether the run says which words are the answer.
    """

    at: int
    values: tuple[str, ...]
    marked: bool


def concluded(trace: Trace) -> bool:
    """Whether the run ended with an answer, by its last words, and was not just cut off."""
    return any(_CONCLUDES.search(trace.steps[at].output) for at in range(
        max(0, trace.last - 2), trace.last + 1) if trace.steps[at].kind == "answer")


def find(trace: Trace) -> Answer | None:
    """The last answer that says something which the task does not."""
    task = _plain(trace.task)
    for at in reversed(trace.answers[-_LAST:]):
        output = trace.steps[at].output
        marked = [_NOISE.sub("", words) for words in _MARKED.findall(output)]
        if marked and values.normal(marked[-1]):
            return Answer(at, (_THOUSANDS.sub("", values.normal(marked[-1])),), True)
        if conversation.substantial(trace.steps[at]):
            found = tuple(value for value in _values(output) if not values.holds(task, value))
            if found:
                return Answer(at, found[:_VALUES], False)
    return None


def origin(trace: Trace, answer: Answer) -> int | None:
    """Where the first step stands that holds half of an answer's values, or None.

    Short values stand everywhere by chance: of a marked answer they are not looked for.
    """
    wanted = answer.values
    if answer.marked and not all(map(values.telling, wanted)):
        return None
    for at in range(trace.first or 0, answer.at + 1):
        said = _plain(conversation.text(trace.steps[at]))
        if 2 * sum(values.holds(said, value) for value in wanted) >= len(wanted):
            return at
    return None


def _values(output: str) -> list[str]:
    text = _LIST.sub("", output)
    found = [*_BLOCK.findall(text),
             *(one or other for one, other in _STRESSED.findall(text)
               if not (one or other).rstrip().endswith(":")),
             *_NUMBER.findall(text), *_NAME.findall(text)]
    plain = (_THOUSANDS.sub("", values.normal(value)) for value in found)
    return [value for value in dict.fromkeys(plain)
            if value and value != "terminate" and len(value.split()) <= _WORDS]


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", _LIST.sub("", text).lower())
