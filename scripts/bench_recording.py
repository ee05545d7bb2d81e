"""What recording and reading runs costs: bench_recording.py [--steps N] [--megabytes N]

Recording: an agent of N steps, each of which adds a tool result of 5 kB to the conversation and
sends all of it, given once as Python tables and once as the request texts that a client sends.
The figure is the CPU time of recording alone. Reading: a file of N megabytes in a process of its
own; its CPU time and greatest memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentrunproof.recorders import record
from agentrunproof.runs import folder

Json = dict[str, Any]
WORDS = [
    "order", "shipment", "invoice", "warranty", "the", "a", "of", "to",
    "customer", "depot", "supplier", "catalog", "is", "was", "moved", "closed",
    "opened", "paused", "late", "early",
]
TOOLS = [{"type": "function", "function": {
    "name": f"tool_{number}", "description": "Does one thing. " * 20,
    "parameters": {"type": "object", "properties": {}}}} for number in range(10)]


def text(source: random.Random, size: int) -> str:
    """Words of `size` letters in all, or a few more."""
    words: list[str] = []
    while size > 0:
        words.append(source.choice(WORDS))
        size -= len(words[-1]) + 1
    return " ".join(words)


def conversation(steps: int, size: int = 5000) -> list[Json]:
    """The messages of an agent that calls a tool in each step."""
    source = random.Random(steps)
    messages: list[Json] = [{"role": "system", "content": text(source, 1000)},
                            {"role": "user", "content": text(source, 200)}]
    for step in range(steps):
        call = {"id": f"call_{step}", "type": "function",
                "function": {"name": "tool_1", "arguments": json.dumps({"page": step})}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": f"call_{step}",
                      "content": text(source, size)}]
    return messages


def recording(steps: int, where: Path, prepare: Callable[[Json], Any]) -> tuple[float, int]:
    """CPU seconds of recording and the size of the file."""
    messages = conversation(steps)
    spent = 0.0
    history: list[Json] = []
    with record("bench", folder=where) as rec:
        for step in range(steps):
            history += messages[len(history):2 + 2 * step]
            body = prepare({"model": "x", "messages": history, "tools": TOOLS})
            reply = {"choices": [{"index": 0, "message": messages[2 + 2 * step]}]}
            begun = time.process_time()
            with rec.model_call("openai.chat", body) as call:
                call.returned(reply)
            spent += time.process_time() - begun
    assert rec.path is not None
    run = folder.load(rec.path)
    assert run.body(run.call("last"))["messages"] == history
    return spent, rec.path.stat().st_size


READ = """if True:
    import re, sys, time
    from pathlib import Path
    from agentrunproof.runs import folder
    begun = time.process_time()
    run = folder.load(Path(sys.argv[1]))
    loaded = time.process_time() - begun
    run.body(run.call("last"))
    body = time.process_time() - begun - loaded
    # not getrusage: that counts what the parent had before it started this program
    peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())
    print(loaded, body, int(peak[1]) // 1024)
"""


def reading(megabytes: int, where: Path, size: int) -> tuple[float, float, int]:
    """CPU seconds to load a file and to rebuild its last request, and MiB of memory."""
    steps = megabytes * 1_000_000 // (size + 700)
    messages = conversation(steps, size)
    with record("large", folder=where) as rec:
        for step in range(100):  # most of the content in few requests: making them is not measured
            upto = 2 + 2 * steps * (step + 1) // 100
            with rec.model_call("openai.chat", {"model": "x", "messages": messages[:upto]}) as call:
                call.returned({"text": "done"})
    assert rec.path is not None
    done = subprocess.run([sys.executable, "-c", READ, str(rec.path)], capture_output=True,
                          text=True, check=True)
    loaded, body, memory = done.stdout.split()
    return float(loaded), float(body), int(memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    ways: dict[str, Callable[[Json], Any]] = {
        "tables": lambda body: body,
        "texts": lambda body: json.dumps(body, separators=(",", ":")).encode()}
    with tempfile.TemporaryDirectory() as name:
        for way, prepare in ways.items():
            for steps in (options.steps // 2, options.steps):
                spent, size = recording(steps, Path(name), prepare)
                print(f"record {way:<7} {steps:>5} steps of 5 kB: {spent:5.2f} s CPU, "
                      f"{size / 1e6:5.1f} MB")
        for size in (5000, 100):
            loaded, body, memory = reading(options.megabytes, Path(name), size)
            print(f"read {options.megabytes} MB of texts of {size:>4} bytes: {loaded:5.2f} s CPU, "
                  f"{memory} MiB; last request rebuilt in {body:4.2f} s")


if __name__ == "__main__":
    main()
