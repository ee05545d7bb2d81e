"""Live capture: a processor of the OpenAI Agents SDK that records each trace as a run.

What it is told is all it knows: of models that make no spans (classes of one's own) it hears
nothing; `Recorder.agents_sdk` taps those.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from agents.tracing.processor_interface import TracingProcessor

from agentrunproof.recorders.agents_spans import Spans, passing
from agentrunproof.recorders.tape import Tape


@dataclass(frozen=True)
class _Trace:
    """A trace that is not over: its run, its spans, what was being handled when it began."""

    tape: Tape
    spans: Spans
    handled: BaseException | None


class LiveCapture(TracingProcessor):
    """Records each trace as a run of its own; the file is there while it lasts.

    Args:
        name: what the runs are called; the workflow's name unless given.
        folder: where their files are made; None for the folder of all runs.
        redact: what is done to each text before it is written, or None.
    """

    def __init__(self, name: str, folder: Path | None, redact: Callable[[str], str] | None
                 ) -> None:
        self._name, self._folder, self._redact = name, folder, redact
        self._traces: dict[str, _Trace] = {}
        self._lock = Lock()

    def on_trace_start(self, trace: Any) -> None:
        """Begin a run."""
        with self._lock:
            if trace.trace_id not in self._traces:
                tape = Tape(self._name or trace.name, None, self._folder, self._redact)
                self._traces[trace.trace_id] = _Trace(tape, Spans(tape, models=True),
                                                      sys.exc_info()[1])

    def on_trace_end(self, trace: Any) -> None:
        """End a run: it raised, if an exception passes by or the outermost agent failed."""
        with self._lock:
            known = self._traces.pop(trace.trace_id, None)
        if known is not None:
            error = passing(known.handled) or known.spans.failure
            known.tape.close("raised" if error else "completed", error)

    def on_span_start(self, span: Any) -> None:
        """Know what begins."""
        known = self._traces.get(span.trace_id)
        if known is not None:
            known.spans.started(span)

    def on_span_end(self, span: Any) -> None:
        """Record what ended."""
        known = self._traces.get(span.trace_id)
        if known is not None:
            known.spans.ended(span)

    def shutdown(self) -> None:
        """End the runs whose traces the process leaves open."""
        with self._lock:
            left, self._traces = list(self._traces.values()), {}
        for known in left:
            known.tape.close("interrupted")

    def force_flush(self) -> None:
        """Nothing to flush: events are written as they happen."""
