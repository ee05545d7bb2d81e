"""What ``localize`` takes as a command: CPU seconds and memory, over traces that are made up.

    python scripts/bench_localize.py [EVENTS...]

Each trace has as many calls of tools, of which 5% fail, and is made in each form: a recorded run,
runopsy's events, spans of the OpenAI Agents SDK, OTLP, ATIF. Every tenth call writes a file that
later ones read, so that there is data flow to follow. Measured is the whole command in a process of
its own, user and system time, the least of three runs. CPU time on a machine that does other
things, too, is up to twice that of a quiet one: the first line says how long a loop of fixed work
takes, 0.08 s on the machine of the published figures.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agentrunproof.record.run_writer import RunWriter

_START = 1_767_225_600  # 2026-01-01, in seconds since 1970
_TIMES = 3


def calls(events: int) -> Iterator[tuple[int, str, dict[str, str], str, str]]:
    """Of each tool call its number, the tool, arguments, result and error."""
    for number in range(events):
        path = f"src/module_{number % 97}.py"
        tool = "write_file" if number % 10 == 0 else f"check_{number % 7}"
        error = f"{path} does not compile" if number % 20 == 7 else ""
        yield number, tool, {"path": path}, f"checked {path}: {number} lines", error


def recorded(events: int) -> bytes:
    """A run as recorders write it: two lines for each call."""
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("bench")
    for number, tool, arguments, output, error in calls(events):
        writer.event("tool_started", call=f"t{number}", tool=tool, arguments=json.dumps(arguments))
        if error:
            writer.event("tool_failed", call=f"t{number}", error={
                "type": "ToolError", "message": error})
        else:
            writer.event("tool_finished", call=f"t{number}", output=output)
    writer.finish("raised")
    return b"".join(lines)


def runopsy(events: int) -> bytes:
    """Runopsy's events, one a line, which hold digests in place of texts."""
    return _lines({
        "schema_version": "0.2.0", "event_id": f"e{number}", "run_id": "bench", "agent_id": "a",
        "sequence": number, "timestamp": _time(number), "kind": "tool_call", "tool": {
            "name": tool, "status": "error" if error else "ok", "exit_code": 1 if error else 0,
            "arguments_hash": f"sha256:{arguments['path']}", "output_hash": f"sha256:{output}",
            "duration_ms": 5}}
        for number, tool, arguments, output, error in calls(events))


def agents_sdk(events: int) -> bytes:
    """Spans as the OpenAI Agents SDK exports them, one a line."""
    return _lines([{"object": "trace", "id": "trace_1", "workflow_name": "bench"}, *({
        "object": "trace.span", "id": f"span_{number}", "trace_id": "trace_1", "parent_id": None,
        "started_at": _time(number), "ended_at": _time(number), "span_data": {
            "type": "function", "name": tool, "input": json.dumps(arguments),
            "output": None if error else output},
        "error": {"message": error, "data": None} if error else None}
        for number, tool, arguments, output, error in calls(events))])


def otlp(events: int) -> bytes:
    """OTLP JSON, one batch."""
    spans = [{
        "traceId": "t1", "spanId": f"s{number}", "name": f"execute_tool {tool}",
        "startTimeUnixNano": str((_START + number) * 10**9),
        "endTimeUnixNano": str((_START + number) * 10**9 + 5), "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in (
                ("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", tool),
                ("gen_ai.tool.call.arguments", json.dumps(arguments)),
                ("gen_ai.tool.call.result", output))],
        "status": {"code": 2, "message": error} if error else {}}
        for number, tool, arguments, output, error in calls(events)]
    return _lines([{"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}])


def atif(events: int) -> bytes:
    """ATIF: a turn for each call, so that the conversation grows with every one."""
    steps = [{
        "step_id": number + 1, "source": "agent", "message": f"turn {number}",
        "tool_calls": [{"tool_call_id": f"c{number}", "function_name": tool,
                        "arguments": arguments}],
        "observation": {"results": [{"source_call_id": f"c{number}", "content": error or output,
                                     "extra": {"is_error": bool(error)}}]}}
        for number, tool, arguments, output, error in calls(events)]
    return _lines([{"schema_version": "ATIF-v1.6", "session_id": "s",
                    "agent": {"name": "a", "version": "1"}, "steps": steps}])


FORMS: dict[str, Callable[[int], bytes]] = {
    "recorded run": recorded, "runopsy": runopsy, "openai-agents": agents_sdk, "otlp": otlp,
    "atif": atif}


def cost(words: list[str]) -> tuple[float, int, bytes]:
    """CPU seconds of a command, the most memory that any took up to now in MiB, what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "agentrunproof", *words], capture_output=True,
                          check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr.decode())
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            after.ru_maxrss // 1024, done.stdout)


def main(sizes: list[int]) -> None:
    """Print a line for each form and size."""
    print(f"fixed work: {_fixed_work():.3f} s")
    with TemporaryDirectory() as folder:
        for size in sizes:
            for form, make in FORMS.items():
                path = Path(folder) / f"trace.json{'' if form in ('otlp', 'atif') else 'l'}"
                path.write_bytes(make(size))
                took = min(cost(["localize", str(path)]) for _ in range(_TIMES))
                print(f"{size:>8} events, {form:13} {path.stat().st_size / 2**20:6.1f} MiB: "
                      f"{took[0]:6.2f} s CPU, memory up to {took[1]} MiB", flush=True)


def _fixed_work() -> float:
    start = time.process_time()
    known: dict[int, str] = {}
    for number in range(400_000):
        known[number % 1000] = str(number)
    return time.process_time() - start


def _time(number: int) -> str:
    return f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"


def _lines(values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [10_000, 100_000])
