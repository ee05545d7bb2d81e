"""How long localizing takes: CPU seconds over made-up runs of 10,000 and 100,000 events.

    python scripts/bench_localize.py [EVENTS...]

An event is a call of a tool with its result (two lines of a run file); 5% of them fail. Every tenth
call writes a file that later ones read, so that there is data flow to follow. Reading the run is
measured apart.
"""

from __future__ import annotations

import json
import sys
import time

from agentrunproof.localize.ranking import localize
from agentrunproof.localize.steps import of_run
from agentrunproof.localize.trace import Trace
from agentrunproof.record import run_reader
from agentrunproof.record.run_writer import RunWriter


def run(events: int) -> bytes:
    """A run file with as many tool calls."""
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("bench")
    for number in range(events):
        call, path = f"t{number}", f"src/module_{number % 97}.py"
        tool = "write_file" if number % 10 == 0 else f"check_{number % 7}"
        writer.event("tool_started", call=call, tool=tool, arguments=json.dumps({"path": path}))
        if number % 20 == 7:
            writer.event("tool_failed", call=call, error={
                "type": "ToolError", "message": f"{path} does not compile"})
        else:
            writer.event("tool_finished", call=call, output=f"checked {path}: {number} lines")
    writer.finish("raised")
    return b"".join(lines)


def main(sizes: list[int]) -> None:
    """Print a line for each size."""
    for size in sizes:
        data = run(size)
        start = time.process_time()
        steps = of_run(run_reader.read(data, "bench"))
        read = time.process_time()
        result = localize(Trace(steps))
        done = time.process_time()
        print(f"{size:>8} events: read {read - start:.2f} s, localize {done - read:.2f} s CPU; "
              f"onset step {result.onset}, {len(result.findings)} findings")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [10_000, 100_000])
