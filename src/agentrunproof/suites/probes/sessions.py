"""Cases of the session suite, run on a backend of the SDK's own."""

from __future__ import annotations

from agentrunproof.suites.session import CASES, run
from agentrunproof.suites.session.backends import BACKENDS

#: Seconds of real time that a case may take: less than a phase, so that it can tell.
_DEADLINE = 10.0


def case(backend: str, name: str) -> dict[str, str]:
    """Verdict and code of a case on a backend.

    Args:
        backend: name of one of `BACKENDS`.
        name: of the case.
    """
    [result] = run(BACKENDS[backend](), [CASES[name]], _DEADLINE)
    return {"verdict": result.verdict, "code": result.code}
