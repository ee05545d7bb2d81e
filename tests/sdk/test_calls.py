"""Phases that call a function: what it gives, raises, lacks or leaves behind is a result."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sdk.test_drive import runs

import agentrunproof
from agentrunproof.plan import capabilities, loader

pytestmark = pytest.mark.sdk

WORKER = Path(agentrunproof.__file__).parent / "sdk" / "worker.py"
MODULE = '''
import asyncio

def plain(of, times=1): return {"b": [of] * times, "a": 1.5}
async def waits():
    await asyncio.sleep(3600)
    return "an hour later"
async def forever(): await asyncio.Event().wait()
def breaks(): raise ValueError("no price")
def no_json(): return {1, 2}
def lacks(): from agents import NoSuchThing
def lacks_a_module(): import agents.extensions.no_such_thing
def wrong(): import no_such_package
def own_loop(): return asyncio.run(asyncio.sleep(0, "ran"))
'''

OTHER = {"again": "python:calls_of_tests:waits",
         "imported": "python:agentrunproof.suites.probes.tools:function_tool"}


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """Events of a phase for each function, called one after the other in one worker."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "calls_of_tests.py").write_text(MODULE)
    names = ["plain", "waits", "breaks", "no_json", "lacks", "lacks_a_module", "wrong",
             "own_loop", "forever", "again", "imported"]
    phases = "".join(
        f'[[phases]]\nid = "{name}"\ncall = {{ python = "'
        f'{OTHER.get(name, "python:calls_of_tests:" + name)}", args = {args} }}\n'
        for name in names for args in [
            '{ of = "tea", times = 2 }' if name == "plain" else "{}"])
    plan = loader.load_text(f'title = "T"\narea = "a"\ncontract = "C."\n{phases}', "calls.toml")
    request = {"deadline": "20", "path": [str(folder)], "plans": [
        {"id": "calls", "plan": plan.to_json(), "needs": capabilities.needed(plan)}]}
    done = subprocess.run([sys.executable, "-I", str(WORKER)], input=json.dumps(request) + "\n",
                          text=True, capture_output=True, check=False, timeout=120)
    found = runs(map(json.loads, done.stdout.splitlines()))
    assert {run["mode"] for run in found} == {"run"}
    return {run["phase"]: [{key: value for key, value in event.items() if value not in (
        None, "", [], {})} for event in run["events"]] for run in found}


def test_what_a_function_gives_is_json_text_with_sorted_keys(called):
    assert called["plain"] == [
        {"kind": "call_returned", "value": '{"a":1.5,"b":["tea","tea"]}'},
        {"kind": "run_finished", "outcome": "completed"}]


def test_a_coroutine_runs_on_virtual_time_before_and_after_others(called):
    for name in ("waits", "again"):
        assert called[name][0] == {"kind": "call_returned", "value": '"an hour later"'}


def test_a_function_may_run_loops_of_its_own(called):
    assert called["own_loop"][0]["value"] == '"ran"'


def test_what_can_never_end_is_a_timeout(called):
    assert called["forever"] == [{"kind": "run_finished", "outcome": "timeout"}]


@pytest.mark.parametrize(("name", "type", "message"), [
    ("breaks", "ValueError", "no price"),
    ("no_json", "TypeError", "Object of type set is not JSON serializable"),
    ("lacks", "Lacking", "agents does not have what the call imports"),
    ("lacks_a_module", "Lacking",
     "agents.extensions.no_such_thing does not have what the call imports"),
    ("wrong", "ModuleNotFoundError", "No module named 'no_such_package'"),
    ("imported", "LookupError",
     "python:agentrunproof.suites.probes.tools:function_tool is only imported there")])
def test_what_it_raises_is_told_and_a_lack_without_a_path(called, name, type, message):
    raised, finished = called[name]
    assert (raised["kind"], raised["error"]) == ("raised", {"type": type, "message": message})
    assert finished["outcome"] == "raised"
