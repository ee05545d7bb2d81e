"""Standalone scripts: what they say, and that they pass where nothing is wrong."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentrunproof.plan import catalog
from agentrunproof.plan.model import Mode
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from agentrunproof.record.result import CheckResult
from agentrunproof.sdk import here
from agentrunproof.why import facts, reproducer, running, source, writable
from agentrunproof.why.facts import Claim, unpaired
from tests import plans

MODES: tuple[Mode, ...] = ("run", "run_streamed")
TOLD = reproducer.Told("tool_linkage", "ORPHAN_OUTPUT", "No output stands alone.", "0.19.4")


def script(id: str, *claims: Claim, mode: str = "run") -> str:
    plan = catalog.load(id)
    assert writable.unsupported(plan) is None
    return reproducer.script(plan, mode, claims, TOLD)


def test_a_script_uses_the_sdk_alone() -> None:
    text = script("session-limit-orphan-output", Claim("second", "unpaired", [], ["output:look"]))
    imported = {node.module for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.ImportFrom)}
    assert {str(name).split(".")[0] for name in imported} == {"agents", "openai"}
    assert "agentrunproof" not in text
    assert "No output stands alone. On openai-agents 0.19.4 it is not so" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_plan_with_uncommon_parts_has_no_script() -> None:
    plan = catalog.load("tripwire-beside-a-slow-guardrail")
    place = writable.unsupported(plan)
    assert place is not None
    assert place.startswith("guardrails.")


def test_the_head_names_releases_links_and_how_to_run_it() -> None:
    plan = catalog.load("session-limit-orphan-output")
    told = replace(TOLD, good="0.20.0")
    head = reproducer.script(plan, "run", [Claim("second", "unpaired", [], ["output:look"])],
                             told).split('"""')[1]
    assert "(tool_linkage: ORPHAN_OUTPUT). It passes on 0.20.0." in " ".join(head.split())
    assert "\n  https://github.com/openai/openai-agents-python/issues/4322\n" in head
    assert '\n  pip install "openai-agents==0.19.4" pytest\n  pytest test_reproduce.py\n' in head


def test_long_values_are_told_where_they_part() -> None:
    same = ["clerk", ["user:" + "x" * 200]]
    words = source.wording(Claim("only", "inputs", [same, ["clerk", ["user:a"]]],
                                 [same, ["clerk", ["user:b"]]]))
    assert words == 'in run \'only\' inputs[1] must be ["clerk", ["user:a"]]; ' \
        'it was ["clerk", ["user:b"]]'
    words = source.wording(Claim("only", "inputs", [same], [same, same]))
    assert words.startswith("in run 'only' inputs[1:] must be []; it was [[")


def test_the_fact_that_shows_a_failure_best_is_asserted_alone() -> None:
    usage = [make("usage", requests=n, input=10 * n, output=5 * n) for n in (1, 2)]
    result = make("result", last_agent="greeter", final_output="Hello!")
    bad, good = (plans.certificate(make("hook", scope="run", on=on, agent="greeter"), result, one,
                                   make("run_finished", outcome="completed"))
                 for one, on in zip(usage, ("on_agent_start", "on_agent_end"), strict=True))
    mode, claims = facts.claims(bad, CheckResult("usage_sum", "FAIL", "X", "run/only"), good)
    assert (mode, claims) == ("run", [Claim("only", "usage", [2, 20, 10], [1, 10, 5])])
    _, claims = facts.claims(bad, CheckResult("hook_order", "FAIL", "X", "run/only"), good)
    assert [claim.fact for claim in claims] == ["hooks"]


def test_parts_take_no_names_that_a_script_needs() -> None:
    plan = catalog.load("finished-sibling-of-a-failing-tool")  # it has a tool named print
    assert source.identifiers(plan) == {"clerk": "clerk", "pay": "pay", "print": "print_"}


def test_calls_and_outputs_are_paired_in_order() -> None:
    call = {"type": "function_call", "call_id": "a"}
    output = {"type": "function_call_output", "call_id": "a"}
    assert unpaired([[call, output]]) == []
    assert unpaired([[output, call]]) == ["output:a", "call:a"]
    assert unpaired([[call], [output]]) == ["call:a", "output:a"]


#: Of different parts: guardrails, handoffs, agents as tools, failing hooks, resumed states, ...
SEEN = ("session-limit-orphan-output", "runstate-sibling-approval-isolation",
        "resumed-output-guardrail-keeps-pair", "nested-approval-in-two-states",
        "handoff-remove-all-tools", "stop-at-tools", "hook-error", "max-turns-fallback-refused",
        "output-guardrail", "model-error-parity", "cancelled-tool-hook",
        "context-override")

#: What is not so of the first three plans.
WRONG = (Claim("second", "unpaired", ["output:look"], []),
         Claim("untouched", "tools", ["charge"], []),
         Claim("approved", "unpaired", ["call:call-1"], []))

#: Runs scripts one after the other, for the SDK is slow to import: what each of them died of.
RUN_ALL = """
import json, runpy, sys
for path in sys.argv[1:]:
    try:
        runpy.run_path(path, run_name="__main__")
        print(json.dumps(None))
    except BaseException as error:
        print(json.dumps(f"{type(error).__name__}: {error}"))
"""


def observed(id: str, mode: Mode) -> list[Claim]:
    """All that our own driver sees of a plan, as claims."""
    plan = catalog.load(id)
    runs = [PhaseRun(run.mode, run.phase, tuple(run.events))
            for run in here.observe(replace(plan, modes=(mode,)), 30.0, {})]
    return [Claim(run.phase, fact, value, value) for run in runs
            for fact, value in facts.of(run, plan).items()
            if fact != "hooks" or plan.run.hooks in ("both", "run")]


@pytest.mark.sdk
def test_scripts_see_what_our_own_driver_sees(tmp_path: Path) -> None:
    texts = {f"{id} {mode}": script(id, *observed(id, mode), mode=mode)
             for id in SEEN for mode in MODES}
    texts |= {f"wrong {claim.phase}": script(id, claim)
              for id, claim in zip(SEEN, WRONG, strict=False)}
    paths = []
    for n, text in enumerate(texts.values()):
        paths.append(tmp_path / f"script_{n}.py")
        paths[-1].write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", "-c", RUN_ALL, *map(str, paths)],
                          capture_output=True, text=True, check=True)
    said = dict(zip(texts, map(json.loads, done.stdout.splitlines()), strict=True))
    failed = {name: words for name, words in said.items() if words is not None}
    assert list(failed) == ["wrong second", "wrong untouched", "wrong approved"]
    for name, words in failed.items():
        assert words.startswith(f"AssertionError: in run '{name.removeprefix('wrong ')}' ")


def test_what_a_script_died_of_is_told_in_one_line() -> None:
    python = Path(sys.executable)
    assert running.run_script(python, "print('well')") is None
    assert running.run_script(python, "assert 1 == 2, (\n 'one '\n 'two')") \
        == "AssertionError: one two"
    assert running.run_script(python, "raise SystemExit(3)") == "exit code 3"
