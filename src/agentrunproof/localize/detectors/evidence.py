"""Going on without evidence: what was to be checked could not be, and is taken as checked.

An answer that says it looked something up, or that it assumes something, without any call,
after a call that failed, gave nothing, or was never made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize import conversation
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

#: Less than a failed call: it says that something was left open, not what is wrong.
POINTS = 3
#: Whoever does so later follows the first.
POINTS_AGAIN = 1

_LOOKED = re.compile(
    r"manual(?:ly)? (?:verif|check|review|inspect|cross)|(?:after|upon) (?:review|visit|inspect|"
    r"check|verif|watch|examin)\w+|\bI (?:have|'ve) (?:\w+ )?(?:verified|checked|reviewed|"
    r"confirmed|located|found)|(?:has|have) been (?:\w+ )?(?:verified|confirmed)|"
    r"\bI will (?:now )?(?:watch|review|inspect|manually)", re.I)
_ASSUMED = re.compile(
    r"\bassum(?:e|ing|ption)|general(?:ly)? (?:information|knowledge|speaking)|\b(?:hypothetical|"
    r"placeholder|simulated?|mock)\b|for the sake of|based on (?:my|general|common|typical) "
    r"knowledge|educated guess", re.I)


def find(trace: Trace) -> Iterator[Seen]:
    """Each such answer, in conversations in which calls are executed for their agents."""
    work = frozenset(trace.workers)
    called = missed = again = False
    for at, step in enumerate(trace.steps):
        if step.kind == "tool":
            called = True
            missed = missed or step.status != "ok" or conversation.idle(step) or \
                conversation.empty(step)
        elif at in work and conversation.substantial(step) and (missed or not called) and \
                not conversation.called(trace, at) and \
                not conversation.PROGRAM.search(step.output):
            match = _LOOKED.search(step.output) or _ASSUMED.search(step.output)
            if match:
                yield Seen(at, f"went on without evidence ({match[0]!r:.40}): no call shows it",
                           POINTS_AGAIN if again else POINTS, soft=True)
                again = True
