"""An instruction that was not followed: a forbidden call, or a format that was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label

POINTS_OF_CALL = 4
POINTS_OF_FORMAT = 2
_FORBIDS = re.compile(r"\b(?:do not|don't|never|must not|may not|not allowed to)\b([^.\n;]{1,80})",
                      re.I)
_JSON = re.compile(r"\b(?:answer|respond|reply|output|return)\b[^.\n]{0,40}"
                   r"\b(?:only|valid|strict)\b[^.\n]{0,20}\bjson\b|"
                   r"\bjson\b[^.\n]{0,10}\bonly\b", re.I)
_NAME = re.compile(r"[\w.\-]*\w")
_FENCE = re.compile(r"^```(?:json)?\s*|\s*```$")


def find(trace: Trace) -> Iterator[Seen]:
    """Calls of tools that the task forbids by name, and a last answer that is not as declared."""
    task = trace.task
    forbidden = " ".join(_FORBIDS.findall(task))
    if forbidden:
        named = frozenset(_NAME.findall(forbidden))
        for at in trace.tools:
            if trace.steps[at].tool in named:
                yield Seen(trace.writer(at), f"called {label(trace.steps[at])}, which the task "
                           "forbids", POINTS_OF_CALL, (at,), soft=True)
                break
    if trace.answers and _JSON.search(task):
        at = trace.answers[-1]
        if at not in trace.asked and not _is_json(trace.steps[at].output):
            yield Seen(at, "the task asks for JSON only, and the answer is none",
                       POINTS_OF_FORMAT, soft=True)


def _is_json(text: str) -> bool:
    try:
        json.loads(_FENCE.sub("", text.strip()))
    except (ValueError, RecursionError):
        return False
    return True
