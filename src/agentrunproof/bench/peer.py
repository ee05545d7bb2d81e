"""The same cases given to runtape, where it is installed: by its command line, as its users do.

For each case a trace is recorded with its recorder, `runtape why` is run on it with the rule as
its model function, and what it reports as JSON is scored as our own answers are. It is asked with
its own settings; its CPU time is not measured, since it runs in a process of its own.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from agentrunproof.bench import cases, conversations, why
from agentrunproof.bench.cases import BenchError, Case, Model

#: Makes a trace of one model call: reads it from standard input.
_RECORD = """
import json, sys
import runtape
case = json.load(sys.stdin)
recorder = runtape.Recorder(case["path"], name="case")
request = recorder.log_llm_request(provider="openai", model="rule", messages=case["messages"],
                                   tools=case["tools"], api="chat.completions")
recorder.log_llm_response(request, text=None, tool_calls=[{"id": "last", **case["call"]}],
                          stop_reason="tool_calls", raw=None, latency_ms=1.0)
recorder.close()
"""
#: The file that holds its model function.
_MODEL = """
from agentrunproof.bench.peer import rule
answer = rule({cases!r}, {kind!r}, {seed!r})
"""
_SECONDS = 600


def installed() -> bool:
    """Whether runtape is there."""
    return importlib.util.find_spec("runtape") is not None


def can_ask(case: Case) -> bool:
    """Whether it can be asked about a case: a tool call decided upon in a chat request."""
    return (case.dialect == "openai.chat" and case.target.spec.startswith("tool:")
            and bool(case.body.get("tools")))


def rule(file: str, kind: str, seed: int) -> Model:
    """What answers in place of a model, for a process that knows a case by its name."""
    kinds = cases.read(Path(file)) if file else conversations.kinds(1)
    return kinds[kind].make(seed).model(seed)


def measure(case: Case, file: Path | None, kind: str, seed: int) -> why.Score:
    """Have runtape explain one case.

    Args:
        case: a case that it can be asked about.
        file: of the case's kind; none for our own.
        kind: of the case.
        seed: of the case.

    Raises:
        BenchError: ``PEER_FAILED``.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace, model, out = (Path(folder) / name for name in ("t.jsonl", "rule.py", "out.json"))
        call = case.target.recorded.calls[0]
        _run(folder, ["-c", _RECORD], json.dumps(
            {"path": str(trace), "messages": case.body["messages"], "tools": case.body["tools"],
             "call": {"name": call.name, "arguments": call.arguments}}))
        model.write_text(_MODEL.format(cases=str(file.resolve()) if file else "", kind=kind,
                                       seed=seed), encoding="utf-8")
        _run(folder, ["-m", "runtape", "why", str(trace), "last", "--tool", call.name,
                      "--model-fn", f"{model}:answer", "--no-cache", "-y", "--json", str(out)])
        report = json.loads(out.read_text(encoding="utf-8"))
    return why.score(case, _named(report), report["model_calls"],
                     unanswered=bool(report["stopped"]))


def _run(folder: str, arguments: list[str], text: str = "") -> None:
    done = subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True,
                          cwd=folder, timeout=_SECONDS, check=False)
    if done.returncode not in (0, 1):
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise BenchError("PEER_FAILED", f"runtape: {last[0]}")


def _named(report: dict[str, Any]) -> list[list[str]]:
    """The texts of each cause, narrowed down as far as it goes; causes that it names together
    are one."""
    alone = [_texts(cause["chain"][-1]) for cause in report["causes"]]
    joint = [text for step in report["joint_cause"] or () for text in _texts(step)]
    return [*alone, joint] if joint else alone


def _texts(step: dict[str, Any]) -> list[str]:
    return [piece["text"] for piece in step["removed"]]
