"""Exit codes, decided here and nowhere else.

| code | meaning |
|---|---|
| 0 | all as expected: every verdict PASS, every record valid, no difference |
| 1 | an observed violation: a FAIL verdict, probed or recorded; ``diff`` found a difference |
| 2 | invalid or unverifiable input, wrong usage, UNTESTABLE, an environment that cannot be had |
| 70 | agentrunproof itself crashed |
| 130 | interrupted (Ctrl-C, SIGTERM) |
| 141 | whoever read our output went away |

Of several scenarios or records the gravest decides: 1 over 2, 2 over 0. So a FAIL stays 1 even
if another scenario was untestable or its own certificate could not be written.
"""

from __future__ import annotations

from collections.abc import Iterable

OK = 0
VIOLATION = 1
UNUSABLE = 2
CRASH = 70
INTERRUPTED = 130
READER_GONE = 141

_OF_VERDICT = {"PASS": OK, "FAIL": VIOLATION, "UNTESTABLE": UNUSABLE, "ERROR": UNUSABLE}
_GRAVEST_FIRST = (VIOLATION, UNUSABLE, OK)


def of_verdict(verdict: str) -> int:
    """The exit code that a verdict stands for."""
    return _OF_VERDICT[verdict]


def worst(codes: Iterable[int]) -> int:
    """The gravest of `OK`, `VIOLATION` and `UNUSABLE` among `codes`; `OK` if there is none."""
    return min(codes, key=_GRAVEST_FIRST.index, default=OK)
