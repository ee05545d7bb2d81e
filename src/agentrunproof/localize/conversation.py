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
_EMPTY = re.compile(r"(?:exit ?code: 0 \(execution succeeded\)\s*(?:code )?output:)?\s*"
                    r"(?P<said>\[\]|\{\}|none|null|false|\"\"|no results?(?: found)?\.?|)\s*", re.I)


def substantial(step: Step) -> bool:
    """Whether an answer does more than agree, wait or end the talk."""
    return len(step.output.strip()) >= _SUBSTANCE


def idle(step: Step) -> bool:
    """Whether an executor was given nothing to execute."""
    return step.kind == "tool" and bool(_IDLE.search(step.output[:200]))


def called(trace: Trace, at: int) -> bool:
    """Whether an answer made a call; an executor that had nothing to execute was not called."""
    return any(not idle(trace.steps[call]) for call in trace.asked.get(at, ()))


def empty(step: Step) -> bool:
    """Whether a call gave nothing: no output of a program, an empty list, none.

    Tools of which the arguments are known often return nothing because all is done, and of a call
    without any output the trace may just not say it.
    """
    if step.kind != "tool" or step.status != "ok" or not 0 < len(step.output) < 100:
        return False
    match = _EMPTY.fullmatch(step.output)
    return match is not None and bool(match["said"] or not step.input)


def text(step: Step) -> str:
    """What a step says."""
    return step.input if step.kind in ("input", "start") else step.output
