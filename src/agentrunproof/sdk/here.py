"""Drive a plan in this process, in a thread of its own.

The thread has its own event loop, so this works inside a running loop, under pytest and in a
notebook. Spans need the process's trace provider while a plan runs, so plans take turns.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from agentrunproof.errors import LabError
from agentrunproof.plan.model import Plan
from agentrunproof.sdk import compat, guard
from agentrunproof.sdk.drive import DrivenRun, Watch, drive, timed_out

_TURN = threading.Lock()


def environment() -> dict[str, Any]:
    """What a worker says of itself in its ``hello``, said of this process."""
    return {"sdk": {"version": compat.sdk_version(), "files": compat.sdk_files_digest()},
            "python": ".".join(map(str, sys.version_info[:3])), "network": "audit-hook"}


def observe(plan: Plan, deadline: float, variants: Mapping[str, Plan]) -> Iterator[DrivenRun]:
    """Yield every phase in every mode.

    Args:
        plan: what to run.
        variants: other plans that are run after it, by name.
        deadline: seconds of real time that one phase run may take; a phase that passes it is
            reported as timed out, is the last one, and its thread is left to itself.

    Raises:
        LabError: an earlier plan in this process still hangs.
    """
    if not _TURN.acquire(timeout=deadline):
        raise LabError("SCENARIO_STILL_RUNNING", "another scenario runs in this process",
                       "a hanging tool can't be stopped in process; use the command line")
    runs: queue.Queue[DrivenRun | BaseException | None] = queue.Queue()
    watch = Watch()

    def work() -> None:
        try:
            with guard.no_network():
                for run in drive(plan, watch, variants):
                    runs.put(run)
            runs.put(None)
        except BaseException as exc:
            runs.put(exc)
        finally:
            _TURN.release()

    threading.Thread(target=work, name="agentrunproof", daemon=True).start()
    while True:
        try:
            found = runs.get(timeout=deadline)
        except queue.Empty:
            if watch.snapshot is not None:
                yield timed_out(watch.snapshot())
            return
        if found is None:
            return
        if isinstance(found, BaseException):
            raise found
        yield found
