"""Whatever happens in a run is a result: hangs, exits, network, foreign code."""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import agentrunproof
from agentrunproof.plan import capabilities, loader

pytestmark = pytest.mark.sdk

WORKER = Path(agentrunproof.__file__).parent / "sdk" / "worker.py"

HEAD = """
title = "A tool at work"
area = "test"
contract = "What the tool does is observed."
modes = ["run"]
[agents.clerk]
tools = ["act"]
[tools.act]
{tool}
[[phases]]
id = "only"
input = "Act."
script = [[{{ call = "act", id = "call-1" }}], [{{ say = "Done." }}]]
expect = {{ outcome = "completed" }}
"""

TWO = """
title = "Two tools"
area = "test"
contract = "Order of finishing is virtual, order of recording is that of the calls."
modes = ["run"]
[agents.clerk]
tools = ["slow", "quick"]
[tools.slow]
returns = "slow"
delay = 1000
[tools.quick]
returns = "quick"
[[phases]]
id = "only"
input = "Act."
script = [[{ call = "slow", id = "c1" }, { call = "quick", id = "c2" }], [{ say = "Done." }]]
"""


def plan(tool, *, phases=""):
    return loader.load_text(HEAD.format(tool=tool) + phases, "test-plan.toml")


def work(plans, deadline="20", path=(), folder=None):
    """Messages of a worker process, and its exit status."""
    request = {"deadline": deadline, "path": [str(p) for p in path], "plans": [
        {"id": id, "plan": plan.to_json(), "needs": capabilities.needed(plan)}
        for id, plan in plans.items()]}
    child = subprocess.run([sys.executable, "-I", str(WORKER)], input=json.dumps(request) + "\n",
                           text=True, capture_output=True, cwd=folder, check=False, timeout=120)
    return [json.loads(line) for line in child.stdout.splitlines()], child.returncode


def runs(messages):
    """The runs, with each event in full where the worker wrote its number."""
    found, told = [], {}
    for message in messages:
        if "run" in message:
            run = message["run"]
            known = told.setdefault(run["plan"], [])
            known += [event for event in run["events"] if isinstance(event, dict)]
            found.append(run | {"events": [known[event] if isinstance(event, int) else event
                                           for event in run["events"]]})
    return found


def kinds(run):
    return [event["kind"] for event in run["events"]]


def outcome(run):
    return next(e["outcome"] for e in run["events"] if e["kind"] == "run_finished")


FOREIGN = """
import time, socket, sys
def busy() -> str:
    while True:
        pass
def asleep() -> str:
    time.sleep(10**6)
def call_home() -> str:
    return "sent %d" % socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
        b"x", ("127.0.0.1", 9))
def prints() -> str:
    print("noise on stdout")
    return "printed"

from agents import function_tool

@function_tool(name_override="another_name")
def ready() -> str:
    return "made by its owner"
"""


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "foreign_tools.py").write_text(FOREIGN)
    return folder


NEXT = """
[[phases]]
id = "next"
input = "Hi."
script = [[{ say = "Still here." }]]
"""


@pytest.fixture(scope="module")
def survived(foreign):
    """The runs of each plan that a worker comes through; none of them waits in real time."""
    started = time.monotonic()
    ready = plan('python = "python:foreign_tools:ready"')
    messages, status = work({
        "hang": plan("hang = true"),
        "exit": plan("exit = 3", phases=NEXT),
        "after": plan('returns = "done"'),
        "home": plan('python = "python:foreign_tools:call_home"'),
        "noise": plan('python = "python:foreign_tools:prints"'),
        "ready": replace(ready, modes=("run", "run_streamed")),
        "two": loader.load_text(TWO, "two.toml"),
    }, deadline="600", path=[foreign])
    assert status == 0
    assert messages[-1] == {"footer": {"plans": 7}}
    assert time.monotonic() - started < 120
    return {id: [run for run in runs(messages) if run["plan"] == id]
            for id in ("hang", "exit", "after", "home", "noise", "ready", "two")}


def test_a_tool_that_waits_for_ever_is_a_timeout_at_once(survived):
    (run,) = survived["hang"]
    assert outcome(run) == "timeout"
    assert "tool_started" in kinds(run)


def test_a_tool_that_exits_the_interpreter_ends_only_its_run(survived):
    first, second = survived["exit"]
    assert outcome(first) == "raised"
    raised = next(e for e in first["events"] if e["kind"] == "raised")
    assert raised["error"] == {"type": "SystemExit", "message": "3"}
    assert outcome(second) == outcome(*survived["after"]) == "completed"


@pytest.mark.parametrize("name", ["busy", "asleep"])
def test_a_tool_that_blocks_for_real_is_cut_off_at_the_deadline(foreign, name):
    messages, status = work({"blocks": plan(f'python = "python:foreign_tools:{name}"')},
                            deadline="2", path=[foreign])
    assert status == 3, "the process is given up, nothing in it can be trusted to stop"
    assert outcome(runs(messages)[0]) == "timeout"
    assert not any("footer" in message for message in messages)


def test_a_tool_that_calls_home_fails(survived):
    (run,) = survived["home"]
    failed = next(e for e in run["events"] if e["kind"] == "tool_finished")
    assert failed["output"].startswith("An error occurred while running the tool")


def test_what_a_tool_prints_does_not_disturb_the_protocol(survived):
    (run,) = survived["noise"]
    finished = next(e for e in run["events"] if e["kind"] == "tool_finished")
    assert finished["output"] == "printed"


def test_a_ready_tool_is_called_by_its_name_in_the_plan_and_recorded_once_in_each_mode(survived):
    assert [run["mode"] for run in survived["ready"]] == ["run", "run_streamed"]
    for run in survived["ready"]:
        finished = [e for e in run["events"] if e["kind"] == "tool_finished"]
        assert [(e["tool"], e["output"]) for e in finished] == [("act", "made by its owner")]
        assert kinds(run).count("tool_started") == 1


def test_a_run_in_this_process_works_inside_a_running_loop():
    from agentrunproof.sdk import here

    async def main():
        return [outcome({"events": run.events})
                for run in here.observe(plan('returns = "x"'), 30, {})]

    assert asyncio.run(main()) == ["completed"]


def test_a_run_in_this_process_that_blocks_for_real_is_a_timeout(tmp_path, monkeypatch):
    from agentrunproof.sdk import here

    (tmp_path / "blocking_tool.py").write_text(
        "import threading\nrelease = threading.Event()\n"
        "def wait() -> str:\n    release.wait(60)\n    return 'late'\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = list(here.observe(plan('python = "python:blocking_tool:wait"'), 1.0, {}))
    assert [outcome({"events": run.events}) for run in found] == ["timeout"]
    sys.modules["blocking_tool"].release.set()
    assert list(here.observe(plan('returns = "x"'), 30, {})), "the next plan gets its turn"


def test_the_process_keeps_its_own_trace_provider():
    from agents.tracing import get_trace_provider

    from agentrunproof.sdk import here

    before = get_trace_provider()
    list(here.observe(plan('returns = "x"'), 30, {}))
    assert get_trace_provider() is before


def test_virtual_time_orders_tools_by_their_delay_and_records_them_by_call(survived):
    (run,) = survived["two"]
    calls = [(e["kind"], e["call"]) for e in run["events"] if e["kind"].startswith("tool_")]
    assert calls == [("tool_started", "c1"), ("tool_finished", "c1"),
                     ("tool_started", "c2"), ("tool_finished", "c2")]


PAUSE = """
title = "A call that waits"
area = "test"
contract = "It goes on when it is approved."
modes = ["run"]
[agents.clerk]
tools = ["act"]
[tools.act]
returns = "done"
needs_approval = true
[[phases]]
id = "pause"
input = "Act."
script = [[{ call = "act", id = "call-1" }]]
expect = { outcome = "interrupted" }
[[phases]]
id = "go"
resume = { from = "pause", via = "string", approve = ["call-1"] }
script = [[{ say = "Done." }]]
"""


def test_a_variant_reads_the_text_of_a_state_as_another_process_would(monkeypatch):
    from agentrunproof.sdk import compat
    from agentrunproof.sdk.drive import Watch, drive

    asked = []
    monkeypatch.setattr(compat, "forget_agent_tool_runs", lambda: asked.append(1))
    by_text = loader.load_text(PAUSE, "by-text.toml")
    assert len(list(drive(by_text, Watch()))) == 2
    assert len(asked) == 1  # before the mode
    assert len(list(drive(by_text, Watch(), {"state-string": by_text}))) == 4
    assert len(asked) == 4  # before each of two modes, and where the variant's text is read
