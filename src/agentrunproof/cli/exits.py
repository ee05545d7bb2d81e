"""Exit codes, decided here and nowhere else.

| code | meaning |
|---|---|
| 0 | all as expected: every verdict PASS, every record valid, no difference, a cause found |
| 1 | an observed violation: a FAIL verdict, probed or recorded; ``diff`` found a difference |
| 2 | invalid or unverifiable input, wrong usage, UNTESTABLE, an environment that cannot be had |
| 3 | nothing stable to attribute: no cause found, or decided too rarely; or no fix passes |
| 4 | the budget ran out before an answer |
| 70 | agentrunproof itself crashed |
| 130 | interrupted (Ctrl-C, SIGTERM) |
| 141 | whoever read our output went away |

Of several scenarios, records or runs the gravest decides: 130, 1, 2, 4, 3, 0, in this order. So a
FAIL stays 1 even if another scenario was untestable or its own certificate could not be written.
"""

from __future__ import annotations

from collections.abc import Iterable

OK = 0
VIOLATION = 1
UNUSABLE = 2
NOTHING = 3
BUDGET = 4
CRASH = 70
INTERRUPTED = 130
READER_GONE = 141

_OF_VERDICT = {"ONSET": OK, "HEALTHY": NOTHING,
               "PASS": OK, "FAIL": VIOLATION, "UNTESTABLE": UNUSABLE, "ERROR": UNUSABLE,
               "CAUSE": OK, "NONE": NOTHING, "UNSTABLE": NOTHING, "BUDGET": BUDGET,
               "STOPPED": INTERRUPTED}
_GRAVEST_FIRST = (INTERRUPTED, VIOLATION, UNUSABLE, BUDGET, NOTHING, OK)


def of_verdict(verdict: str) -> int:
    """The exit code that a verdict stands for, or the answer of an ablation record."""
    return _OF_VERDICT[verdict]


def worst(codes: Iterable[int]) -> int:
    """The gravest of `codes`; `OK` if there is none."""
    return min(codes, key=_GRAVEST_FIRST.index, default=OK)
