"""The worker process: plans on stdin, JSON lines of what was observed on stdout.

Run by its path (``python -I worker.py``) inside any environment that holds the SDK. Lines out:
``hello`` (SDK, Python, network guard), ``run`` (one phase in one mode), ``done`` (end of a plan,
with the capabilities the release lacks), ``error`` (a plan that could not be driven), ``footer``.
A phase that passes its deadline is reported as timed out, and the process ends with status 3 and
without a footer, because nothing can be trusted to stop what hangs.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import types
from pathlib import Path
from typing import Any, TextIO

TIMED_OUT = 3


def main() -> int:
    """Serve one request from stdin; returns the exit status."""
    _make_importable()
    out = _private_stdout()
    request = json.loads(sys.stdin.readline())
    sys.path[:0] = request.get("path", [])

    from agentrunproof.sdk import guard

    network = "audit-hook"
    if guard.enter_empty_namespace():
        network += "+namespace"
    gc.disable()  # importing the SDK makes a lot of objects and no garbage
    from agentrunproof.sdk import compat

    gc.enable()
    gc.freeze()
    _send(out, hello={"sdk": {"version": compat.sdk_version(), "files": compat.sdk_files_digest()},
                      "python": ".".join(map(str, sys.version_info[:3])), "network": network})
    guard.close_network_everywhere()
    for entry in request["plans"]:
        _serve(entry, float(request["deadline"]), out)
    _send(out, footer={"plans": len(request["plans"])})
    return 0


def _serve(entry: dict[str, Any], deadline: float, out: TextIO) -> None:
    from agentrunproof.plan.model import Plan
    from agentrunproof.sdk import compat
    from agentrunproof.sdk.drive import Watch, drive

    id = entry["id"]
    missing = compat.missing(entry.get("needs", []))
    if not missing:
        try:
            watch = Watch()
            plan = Plan.from_json(entry["plan"])
            for run in _timed(drive(plan, watch), watch, id, deadline, out):
                _send_run(out, id, run)
        except Exception as exc:
            _send(out, error={"plan": id, "code": "DRIVE_FAILED",
                              "message": f"{type(exc).__name__}: {exc}"})
            return
    _send(out, done={"plan": id, "missing": missing})


def _timed(runs: Any, watch: Any, id: str, deadline: float, out: TextIO) -> Any:
    """Yield runs, each within `deadline` seconds of real time, or end the process."""

    def overdue() -> None:
        from agentrunproof.sdk.drive import timed_out

        if watch.snapshot is not None:
            _send_run(out, id, timed_out(watch.snapshot()))
        out.flush()
        os._exit(TIMED_OUT)

    while True:
        timer = threading.Timer(deadline, overdue)
        timer.daemon = True
        timer.start()
        try:
            run = next(runs, None)
        finally:
            timer.cancel()
        if run is None:
            return
        yield run


def _send_run(out: TextIO, id: str, run: Any) -> None:
    _send(out, run={"plan": id, "mode": run.mode, "phase": run.phase, "events": run.events})


def _send(out: TextIO, **message: Any) -> None:
    out.write(json.dumps(message, ensure_ascii=True, separators=(",", ":")) + "\n")
    out.flush()


def _private_stdout() -> TextIO:
    """Keep the real stdout for the protocol; whatever a scenario prints goes to stderr."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")


def _make_importable() -> None:
    """Let ``agentrunproof`` be found beside this file without putting its folder on the path.

    The folder that holds the package may hold a whole environment, whose packages must not mix
    with those of the environment this process runs in.
    """
    if "agentrunproof" not in sys.modules:
        package = types.ModuleType("agentrunproof")
        package.__path__ = [str(Path(__file__).resolve().parent.parent)]
        sys.modules["agentrunproof"] = package


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    sys.exit(main())
