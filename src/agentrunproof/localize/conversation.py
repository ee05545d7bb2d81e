"""What messages of a conversation are: of some substance, without effect, empty."""

from __future__ import annotations

import re

from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step

PROGRAM = re.compile(r"```(?:python|py|sh|bash|shell|javascript|js|sql)\b", re.I)
#: shorter than this, an answer only agrees, waits or ends the talk
_SUBSTANCE = 60
#: executors that were given nothing to execute say so
_IDLE = re.compile(r"there is no code (?:from|in|to)\b|no code (?:block )?(?:was )?(?:found|given)",
                   re.I)
#: what executors say before they tell what a program printed
_HEADER = re.compile(r"exit ?code: 0 \(execution succeeded\)\s*(?:code )?output:", re.I)
_EMPTY = re.compile(r"\[\]|\{\}|none|null|false|\"\"|no results?(?: found)?\.?|", re.I)
#: a line of a program that says in words that there was nothing to be had; no errors are good news
_NOTHING = re.compile(
    r"[^.\n]{0,80}\b(?:no(?:ne|thing)?\b(?! (?:\w+ ){0,2}(?:error|issue|problem|failure|warning))"
    r"[^.\n]{0,80}\bfound\b|not found\b|not (?:contain|find)\b|could(?: not|n't)\b|unable to\b|"
    r"failed to\b)", re.I)
#: a result longer than this has more to say, at least that something was found
_SHORT = 300


def substantial(step: Step) -> bool:
    """Whether an answer does more than agree, wait or end the talk."""
    return len(step.output.strip()) >= _SUBSTANCE


def idle(step: Step) -> bool:
    """Whether an executor was given nothing to execute."""
    return step.kind == "tool" and bool(_IDLE.search(step.output[:200]))


def called(trace: Trace, at: int) -> bool:
    """Whether an answer made a call; an executor that had nothing to execute was not called."""
    return any(not idle(trace.steps[call]) for call in trace.asked.get(at, ()))


def printed(step: Step) -> str:
    """What a call gave, without what the executor says about it."""
    header = _HEADER.match(step.output)
    return step.output[header.end() if header else 0:].strip()


def empty(step: Step) -> bool:
    """Whether a call gave nothing: no output of a program, an empty list, none.

    A program may say so in words. Tools of which the arguments are known often return nothing
    because all is done, and of a call without any output the trace may just not say it.
    """
    if step.kind != "tool" or step.status != "ok" or not 0 < len(step.output) < _SHORT:
        return False
    said = printed(step)
    if _EMPTY.fullmatch(said):
        return bool(said or not step.input)
    return not step.input and bool(_NOTHING.match(said)) and not idle(step)


def text(step: Step) -> str:
    """What a step says."""
    return step.input if step.kind in ("input", "start") else step.output
