"""What recording and reading runs costs: bench_recording.py [--steps N] [--megabytes N]

Recording: an agent of N steps, each of which adds a tool result of 5 kB to the conversation and
sends all of it: given as Python tables, as request texts, and sent by an httpx client, which is
where OpenAI's and Anthropic's are recorded. (They themselves need minutes for 1,600 such requests,
recorded or not.) The figure is the CPU time of recording alone; of the client, what it takes more
than without.

Reading: files of N megabytes, each in a process of its own; its CPU time and greatest memory. One
run holds a long conversation in few requests, one is of an agent with many steps, one is a trace
of OpenTelemetry, imported.
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
from functools import partial
from pathlib import Path
from typing import Any

from agentrunproof.recorders import Recorder, record
from agentrunproof.recorders.calls import ModelCall
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


def conversation(steps: int, size: int = 5000, seed: int = 0) -> list[Json]:
    """The messages of an agent that calls a tool in each step."""
    source = random.Random(seed)
    messages: list[Json] = [{"role": "system", "content": text(source, 1000)},
                            {"role": "user", "content": text(source, 200)}]
    for step in range(steps):
        call = {"id": f"call_{step}", "type": "function",
                "function": {"name": "tool_1", "arguments": json.dumps({"page": step})}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": f"call_{step}",
                      "content": text(source, size)}]
    return messages


class Agent:
    """A conversation that grows step by step, as tables and as the text that is sent.

    Args:
        steps: how many there will be.
    """

    def __init__(self, steps: int) -> None:
        self._all = conversation(steps)
        self._sent: list[bytes] = []
        self.messages: list[Json] = []

    def step(self, number: int) -> tuple[Json, Json]:
        """The request of a step and the reply to it."""
        self.messages += self._all[len(self.messages):2 + 2 * number]
        reply = {"choices": [{"index": 0, "message": self._all[2 + 2 * number]}]}
        return {"model": "x", "messages": self.messages, "tools": TOOLS}, reply

    def text(self, body: Json) -> bytes:
        """The text of the latest request; what is old is not made again, to have done soon."""
        self._sent += map(compact, self.messages[len(self._sent):])
        rest = compact({**body, "messages": []})
        opening, closing = rest.split(b'"messages":[]')
        return b'%b"messages":[%b]%b' % (opening, b",".join(self._sent), closing)


def compact(value: Any) -> bytes:
    """JSON as clients send it."""
    return json.dumps(value, separators=(",", ":")).encode()


def recording(steps: int, where: Path, as_text: bool) -> tuple[float, int]:
    """CPU seconds of recording and the size of the file."""
    agent = Agent(steps)
    spent = 0.0
    with record("bench", folder=where) as rec:
        for step in range(steps):
            body, reply = agent.step(step)
            given: Any = agent.text(body) if as_text else body
            begun = time.process_time()
            with ModelCall(rec, "openai.chat", given) as call:
                call.returned(reply)
            spent += time.process_time() - begun
    return spent, size_of(rec, agent)


def size_of(rec: Recorder, agent: Agent) -> int:
    """The size of the file, once it is sure that the last request stands in it."""
    assert rec.path is not None
    run = folder.load(rec.path)
    assert run.body(run.call("last"))["messages"] == agent.messages
    return rec.path.stat().st_size


def sending(steps: int, where: Path, recorded: bool) -> tuple[float, int]:
    """CPU seconds of an agent that sends its requests, and the size of the file."""
    import httpx


    agent = Agent(steps)
    replies: list[bytes] = []
    transport = httpx.MockTransport(lambda request: httpx.Response(
        200, content=replies[-1], headers={"content-type": "application/json"}))
    spent = 0.0
    http: Any = httpx.Client(transport=transport)
    with record("bench", folder=where) as rec, http:
        if recorded:
            rec.wrap(http)
        for step in range(steps):
            body, reply = agent.step(step)
            replies.append(compact({"id": "x", "created": 1, "object": "chat.completion", **reply}))
            text = agent.text(body)
            begun = time.process_time()
            http.post("http://bench/v1/chat/completions", content=text)
            spent += time.process_time() - begun
    return spent, size_of(rec, agent) if recorded else 0


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


IMPORT = READ.replace("run = folder.load(Path(sys.argv[1]))", """from agentrunproof.cli import runs
    run = runs.read(Path(sys.argv[1]))""")


def reading(path: Path, program: str = READ) -> tuple[float, float, int]:
    """CPU seconds to load a file and to rebuild its last request, and MiB of memory."""
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True,
                          text=True, check=True)
    loaded, body, memory = done.stdout.split()
    return float(loaded), float(body), int(memory)


def long_conversation(path: Path, megabytes: int, size: int) -> None:
    """Most of the content in few requests."""
    steps = megabytes * 1_000_000 // (size + 400)
    messages = conversation(steps, size)
    with record("large", file=path) as rec:
        for step in range(100):
            upto = 2 + 2 * steps * (step + 1) // 100
            with rec.model_call("openai.chat", {"model": "x", "messages": messages[:upto]}) as call:
                call.returned({"text": "done"})


def many_steps(path: Path, megabytes: int, size: int) -> None:
    """Conversations of 100 steps each: a request, a reply and a tool call in each step."""
    with record("steps", file=path) as rec:
        for number in range(megabytes * 1_000_000 // (100 * (size + 1350))):
            messages = conversation(100, size, number)
            for step in range(100):
                body = {"model": "x", "messages": messages[:2 + 2 * step], "tools": TOOLS}
                with rec.model_call("openai.chat", body) as call:
                    call.returned({"choices": [{"index": 0, "message": messages[2 + 2 * step]}]})
                with rec.tool_call("tool_1", {"page": step}) as tool:
                    tool.returned("done")


def otlp(path: Path, megabytes: int) -> None:
    """Requests of which each holds the whole conversation before it."""
    steps = int((2 * megabytes * 1_000_000 / 5600) ** 0.5)
    messages = conversation(steps)
    spans = [{"traceId": "t", "spanId": str(step), "name": "chat",
              "startTimeUnixNano": str(10**18 + step), "endTimeUnixNano": str(10**18 + step),
              "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in (
                  ("openinference.span.kind", "LLM"), ("llm.model_name", "x"),
                  ("input.value", json.dumps({"messages": messages[:2 + 2 * step]})),
                  ("output.value", json.dumps({"choices": [
                      {"index": 0, "message": messages[2 + 2 * step]}]})))]}
             for step in range(steps)]
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        where = Path(name)
        for way in ("tables", "texts"):
            for steps in (options.steps // 2, options.steps):
                report(way, steps, *recording(steps, where, way == "texts"))
        without, _ = sending(options.steps, where, False)
        with_, size = sending(options.steps, where, True)
        report("wire", options.steps, with_ - without, size, f" (without: {without:.2f} s)")
        files: tuple[tuple[str, Callable[[Path, int], None], str], ...] = (
            ("texts of 5000 bytes", partial(long_conversation, size=5000), READ),
            ("texts of 100 bytes", partial(long_conversation, size=100), READ),
            ("many steps", partial(many_steps, size=1000), READ), ("OTLP", otlp, IMPORT))
        for words, make, program in files:
            path = where / ("trace.json" if program is IMPORT else "large.jsonl")
            make(path, options.megabytes)
            megabytes = path.stat().st_size / 1e6
            loaded, body, memory = reading(path, program)
            path.unlink()
            print(f"read {megabytes:3.0f} MB, {words}: {loaded:5.2f} s CPU, {memory} MiB; "
                  f"last request rebuilt in {body:4.2f} s", flush=True)


def report(way: str, steps: int, spent: float, size: int, more: str = "") -> None:
    """Print what recording cost."""
    print(f"record {way:<7} {steps:>5} steps of 5 kB: {spent:5.2f} s CPU, {size / 1e6:5.1f} MB"
          f"{more}", flush=True)


if __name__ == "__main__":
    main()
