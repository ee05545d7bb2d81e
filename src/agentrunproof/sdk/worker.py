"""The worker process: plans on stdin, JSON lines of what was observed on stdout.

Run by its path (``python -I worker.py``) inside any environment that holds the SDK. Each line in is
a request; it ends with its input. Lines out: ``hello`` (SDK, Python, network guard; once), ``run``
(one phase in one mode, of a plan or of a variant of it; an event that a line of the plan holds
already is the number of that one, counted from 0), ``done`` (end of a plan, with the capabilities
the release lacks), ``error`` (a plan that could not be driven), ``footer`` (end of a request).
A phase that passes its deadline is reported as timed out, and the process ends with status 3 and
without a footer, because nothing can be trusted to stop what hangs.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

TIMED_OUT = 3

_JSON = json.JSONEncoder(separators=(",", ":"))


def main() -> int:
    """Serve the requests from stdin; returns the exit status."""
    _make_importable()
    lines, out = _private_streams()
    request = json.loads(lines.readline())
    sys.path[:0] = request.get("path", [])

    from agentrunproof.sdk import guard

    network = "audit-hook"
    if guard.enter_empty_namespace():
        network += "+namespace"
    # Importing the SDK makes many objects and no garbage. Later, what is collected when must not
    # depend on how much ran before: `_serve` collects after each plan, and what outlives a plan
    # (modules imported late, caches of the SDK) is not looked at again: that took a fifth of the
    # time.
    gc.disable()
    from agentrunproof.sdk import compat

    gc.freeze()
    _send(out, hello={"sdk": {"version": compat.sdk_version(), "files": compat.sdk_files_digest()},
                      "python": ".".join(map(str, sys.version_info[:3])), "network": network})
    guard.close_network_everywhere()
    while request:
        for entry in request["plans"]:
            _serve(entry, float(request["deadline"]), out)
        _send(out, footer={"plans": len(request["plans"])})
        request = json.loads(lines.readline() or "null")
    return 0


def _serve(entry: dict[str, Any], deadline: float, out: TextIO) -> None:
    from agentrunproof.plan.model import Plan
    from agentrunproof.sdk import features
    from agentrunproof.sdk.drive import Watch, drive

    id = entry["id"]
    missing = features.missing(entry.get("needs", []))
    if not missing:
        try:
            watch = Watch()
            told: dict[str, int] = {}
            plan = Plan.from_json(entry["plan"])
            variants = {name: Plan.from_json(varied)
                        for name, varied in entry.get("variants", {}).items()}

            def send(run: Any) -> None:
                _send_run(out, id, run, told)

            for run in _timed(drive(plan, watch, variants), watch, deadline, send):
                send(run)
        except Exception as exc:
            _send(out, error={"plan": id, "code": "DRIVE_FAILED",
                              "message": f"{type(exc).__name__}: {exc}"})
            return
    gc.collect()
    gc.freeze()
    _send(out, done={"plan": id, "missing": missing})


def _timed(runs: Any, watch: Any, deadline: float, send: Callable[[Any], None]) -> Any:
    """Yield runs, each within `deadline` seconds of real time, or `send` the rest and exit."""

    def overdue() -> None:
        from agentrunproof.sdk.drive import timed_out

        if watch.snapshot is not None:
            send(timed_out(watch.snapshot()))
        os._exit(TIMED_OUT)

    with _Alarm(overdue) as alarm:
        while True:
            alarm.set(deadline)
            run = next(runs, None)
            alarm.set(None)
            if run is None:
                return
            yield run


class _Alarm:
    """One thread that calls `ring` unless it is set anew in time.

    It is woken only for a time before the one it sleeps to, for it is set twice in each run.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._changed = threading.Condition()
        self._due: float | None = None
        self._awake_at: float | None = None
        self._over = False

    def set(self, seconds: float | None) -> None:
        with self._changed:
            self._due = None if seconds is None else time.monotonic() + seconds
            if self._due is not None and (self._awake_at is None or self._due < self._awake_at):
                self._changed.notify()

    def __enter__(self) -> _Alarm:
        threading.Thread(target=self._wait, name="asyncio_alarm", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._over = True
            self._changed.notify()

    def _wait(self) -> None:
        with self._changed:
            while not self._over:
                left = None if self._due is None else self._due - time.monotonic()
                if left is not None and left <= 0:
                    self._ring()
                    return
                self._awake_at = self._due
                self._changed.wait(left)


def _send_run(out: TextIO, id: str, run: Any, told: dict[str, int]) -> None:
    """Send a run, each event of it whole or as its place in `told`, which it adds to.

    The runs of a plan and of its variants are much alike, and all that is sent must be read.
    """
    events = []
    for event in run.events:
        text = _JSON.encode(event)
        events.append(str(told[text]) if text in told else text)
        told.setdefault(text, len(told))
    head = _JSON.encode({"plan": id, "variant": run.variant, "mode": run.mode,
                         "phase": run.phase})
    out.write(f'{{"run":{head[:-1]},"events":[{",".join(events)}]}}}}\n')
    out.flush()


def _send(out: TextIO, **message: Any) -> None:
    out.write(_JSON.encode(message) + "\n")
    out.flush()


def _private_streams() -> tuple[TextIO, TextIO]:
    """Keep the real stdin and stdout for the protocol: a scenario reads nothing, and whatever it
    prints goes to stderr."""
    lines, out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(lines, encoding="utf-8"), os.fdopen(out, "w", encoding="utf-8")


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
