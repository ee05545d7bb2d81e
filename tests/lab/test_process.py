from __future__ import annotations

import os
import select
import signal
import sys
import textwrap
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.errors import LabError
from agentrunproof.lab.process import AHEAD, Report, Request, Worker, share_out, started
from tests.plans import greeting

#: What every worker below starts with: how it speaks, and the plans of one request after another.
PRELUDE = """
import json, os, sys, threading
request = None
def each():
    global request
    while line := sys.stdin.readline():
        request = json.loads(line)
        for entry in request["plans"]:
            yield entry["id"]
        say(footer={"plans": len(request["plans"])})
ids = each()
def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
def hello():
    say(hello={"sdk": {"version": "1.2.3", "files": "sha256:" + "0" * 64},
               "python": "3.13.0", "network": "audit-hook"})
def run(id, outcome="completed"):
    say(run={"plan": id, "mode": "run", "phase": "only",
             "events": [{"kind": "run_finished", "outcome": outcome}]})
def done(id):
    say(done={"plan": id, "missing": []})
"""


def run_plans(request: Request, worker: Path, workers: int = 1,
              progress: Callable[[str, str], None] | None = None, **options: Any
              ) -> Generator[Report, None, None]:
    with started(Path(sys.executable), workers, worker=worker, **options) as kept:
        yield from share_out(kept, request, progress)


def reports(tmp_path: Path, body: str, *ids: str, **options: Any) -> list[Report]:
    worker = tmp_path / "worker.py"
    worker.write_text(PRELUDE + textwrap.dedent(body))
    request = Request({id: greeting() for id in ids}, "5")
    return list(run_plans(request, worker, **options))


def test_each_plan_gets_a_report_in_order(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    found = reports(tmp_path, """
        hello()
        for id in ids:
            run(id); done(id)
    """, "one", "two", progress=lambda id, where: seen.append((id, where)))
    assert [report.id for report in found] == ["one", "two"]
    assert [report.error for report in found] == [None, None]
    assert all(report.hello and report.hello.sdk_version == "1.2.3" for report in found)
    assert [run.outcome for report in found for run in report.runs] == ["completed"] * 2
    assert seen == [("one", "run/only"), ("two", "run/only")]


def test_the_request_carries_plan_needs_deadline_and_folders(tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(PRELUDE + textwrap.dedent("""
        hello()
        id = next(ids)
        entry = request["plans"][0]
        fine = (entry["plan"]["title"] == "A greeting" and entry["needs"] == []
                and request["deadline"] == "2.5"
                and request["path"] == ["/some/folder"])
        say(done={"plan": id, "missing": [] if fine else [repr(request)]})
        next(ids, None)
    """))
    request = Request({"one": greeting()}, "2.5", ["/some/folder"])
    (report,) = run_plans(request, worker)
    assert report.missing == ()


def test_capabilities_that_the_release_lacks_are_reported(tmp_path: Path) -> None:
    (report,) = reports(tmp_path, """
        hello()
        for id in ids:
            say(done={"plan": id, "missing": ["run-state"]})
    """, "one")
    assert report.observation.missing == ("run-state",)
    assert report.observation.runs == ()


def test_an_error_of_one_plan_leaves_the_others_alone(tmp_path: Path) -> None:
    first, second = reports(tmp_path, """
        hello()
        say(error={"plan": next(ids), "code": "DRIVE_FAILED", "message": "no", "hint": "try"})
        for id in ids:
            run(id); done(id)
    """, "one", "two")
    assert first.error is not None
    assert (first.error.code, first.error.message, first.error.hint) == (
        "DRIVE_FAILED", "no", "try")
    assert second.error is None
    assert second.runs


def test_a_worker_out_of_time_keeps_its_runs_and_the_rest_goes_to_a_new_one(
        tmp_path: Path) -> None:
    first, second = reports(tmp_path, """
        hello()
        for id in ids:
            if id == "hangs":
                run("hangs", "timeout")
                os._exit(3)
            run(id); done(id)
    """, "hangs", "fine")
    assert first.error is None
    assert [run.outcome for run in first.runs] == ["timeout"]
    assert [run.outcome for run in second.runs] == ["completed"]


def test_a_worker_that_dies_costs_only_the_plan_it_was_at(tmp_path: Path) -> None:
    first, second, third = reports(tmp_path, """
        hello()
        for id in ids:
            if id == "kills":
                print("Fatal: core dumped", file=sys.stderr, flush=True)
                os._exit(134)
            run(id); done(id)
    """, "fine", "kills", "also-fine")
    assert first.error is None
    assert third.error is None
    assert second.error is not None
    assert second.error.code == "WORKER_DIED"
    assert "exit code 134" in second.error.message
    assert "Fatal: core dumped" in second.error.hint


def test_exit_code_3_without_a_run_is_a_death_and_no_timeout(tmp_path: Path) -> None:
    (report,) = reports(tmp_path, "hello(); os._exit(3)", "one")
    assert report.error is not None
    assert report.error.code == "WORKER_DIED"


def test_a_worker_that_never_starts_fails_every_plan_without_being_tried_again(
        tmp_path: Path) -> None:
    found = reports(tmp_path, f"""
        with open({str(tmp_path / "starts")!r}, "a") as log:
            log.write("x")
        raise ImportError("no module named agents")
    """, "one", "two")
    assert [report.error.code for report in found if report.error] == ["WORKER_DIED"] * 2
    assert "no module named agents" in str(found[0].error)
    assert (tmp_path / "starts").read_text() == "x"


@pytest.mark.parametrize("line", [
    "not json", "[]", '{"run": {}, "done": {}}', '{"unheard-of": {"plan": "one"}}',
    '{"done": {"plan": "another", "missing": []}}',
    '{"run": {"plan": "one", "mode": "run", "phase": "p", "events": [{"kind": "run_finished"}]}}',
    '{"run": {"plan": "one", "mode": "run", "phase": "p", "events": [{"kind": "nonsense"}]}}',
])
def test_a_worker_that_talks_nonsense_is_ended(tmp_path: Path, line: str) -> None:
    (report,) = reports(tmp_path, f"""
        hello()
        print({line!r}, flush=True)
        threading.Event().wait()
    """, "one")
    assert report.error is not None
    assert report.error.code == "WORKER_GARBLED"


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@needs_pipes
def test_a_silent_worker_is_ended_with_its_children(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    (report,) = reports(tmp_path, f"""
        import subprocess
        hello()
        subprocess.Popen(["sh", "-c", "exec 3> {pipe}; echo alive >&3; exec sleep 60"])
        threading.Event().wait()
    """, "one", grace=-2.0)
    assert report.error is not None
    assert report.error.code == "WORKER_STUCK"
    assert os.read(reader, 100) == b"alive\n"
    # the pipe ends when the last that holds it is gone
    assert select.select([reader], [], [], 10)[0] == [reader]
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_leaving_early_ends_the_worker(tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(PRELUDE + textwrap.dedent(f"""
        hello()
        id = next(ids)
        run(id); done(id)
        with open({str(tmp_path / "pid")!r}, "w") as file:
            file.write(str(os.getpid()))
        run(next(ids))
        threading.Event().wait()
    """))
    seen: list[str] = []
    found = run_plans(Request({"a": greeting(), "b": greeting()}, "5"), worker,
                      progress=lambda id, where: _interrupt_at(id, seen))
    assert next(found).id == "a"
    with pytest.raises(KeyboardInterrupt):
        next(found)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)


#: Says who ran a plan; "slow" and "last" wait for each other.
SHARING = """
hello()
for id in ids:
    say(run={"plan": id, "mode": "run", "phase": str(os.getpid()), "events": []})
    if id == "lost":
        os._exit(7)
    if id == "slow":
        os.open(folder + "/last", os.O_RDONLY)
    if id == "last":
        os.close(os.open(folder + "/last", os.O_WRONLY))
    done(id)
"""


@needs_pipes
def test_who_is_done_with_a_plan_is_handed_the_next(tmp_path: Path) -> None:
    names = ["slow", *(f"plan-{n}" for n in range(12)), "last", "b", "c"]
    os.mkfifo(tmp_path / "last")  # "slow" ends only if the other one comes as far as "last"
    found = reports(tmp_path, f"folder = {str(tmp_path)!r}" + SHARING, *names, workers=2)
    ran = {report.id: report.runs[0].phase for report in found}
    assert sorted(ran) == sorted(names)
    assert len({pid for id, pid in ran.items() if ran["slow"] != pid}) == 1
    of = {pid: [id for id in ran if ran[id] == pid] for pid in ran.values()}
    assert all(ids == sorted(ids, key=names.index) for ids in of.values())


def test_what_a_lost_worker_was_handed_goes_to_a_new_one(tmp_path: Path) -> None:
    names = ["lost", "b", "c", "d", "e", "f", "g"]
    found = reports(tmp_path, SHARING, *names, workers=2)
    assert sorted(report.id for report in found) == sorted(names)
    assert [report.id for report in found if report.error is not None] == ["lost"]
    ran = {report.id: report.runs[0].phase for report in found}
    assert ran["lost"] not in [pid for id, pid in ran.items() if id != "lost"]


def test_a_worker_that_never_starts_leaves_the_plans_to_the_other(tmp_path: Path) -> None:
    found = reports(tmp_path, f"""
        try:
            os.mkdir({str(tmp_path / "first")!r})
        except FileExistsError:
            sys.exit("no memory")
        hello()
        for id in ids:
            run(id); done(id)
    """, *"abcdefghijkl", workers=2)
    assert sorted(report.id for report in found) == [*"abcdefghijkl"]
    assert [report.error.code for report in found if report.error] == ["WORKER_DIED"] * (1 + AHEAD)


def test_leaving_early_ends_both_workers(tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(PRELUDE + textwrap.dedent("""
        hello()
        id = next(ids)
        say(run={"plan": id, "mode": "run", "phase": str(os.getpid()), "events": []})
        done(id)
        threading.Event().wait()
    """))
    found = run_plans(Request({id: greeting() for id in "abcd"}, "5"), worker, workers=2)
    pids = [int(next(found).runs[0].phase) for _ in range(2)]
    found.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def test_runs_of_variants_are_told_from_the_plans_own(tmp_path: Path) -> None:
    seen: list[str] = []
    (report,) = reports(tmp_path, """
        hello()
        for id in ids:
            run(id)
            for name in request["plans"][0]["variants"]:
                say(run={"plan": id, "variant": name, "mode": "run", "phase": "only",
                         "events": [{"kind": "run_finished", "outcome": "completed"}]})
            done(id)
    """, "one", progress=lambda id, where: seen.append(where))
    assert seen == ["run/only", "hooks/only"]
    assert [run.mode for run in report.observation.runs] == ["run"]
    assert [(varied.name, len(varied.runs)) for varied in report.observation.variants] == [
        ("hooks", 1)]


def test_a_kept_worker_answers_request_after_request(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(PRELUDE + textwrap.dedent("""
        hello()
        for id in ids:
            say(run={"plan": id, "mode": "run", "phase": str(os.getpid()), "events": []})
            if id == "fatal":
                os._exit(7)
            done(id)
    """))
    kept = Worker(Path(sys.executable), worker=script)
    found = [list(share_out([kept], Request({id: greeting() for id in ids}, "5")))
             for ids in (["a", "b"], ["c"], ["fatal", "d"], ["e"])]
    kept.close()
    by_id = {report.id: report for reports in found for report in reports}
    pids = {id: report.runs[0].phase for id, report in by_id.items()}
    assert pids["a"] == pids["b"] == pids["c"] == pids["fatal"]
    assert pids["d"] == pids["e"] != pids["a"]  # another one after the loss
    assert by_id["fatal"].error is not None
    assert [id for id, report in by_id.items() if report.error is None] == ["a", "b", "c", "d", "e"]
    assert all(report.hello is not None for report in by_id.values())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids["e"]), signal.SIGTERM)


def _interrupt_at(id: str, seen: list[str]) -> None:
    seen.append(id)
    if id == "b":
        raise KeyboardInterrupt


def test_an_interpreter_that_does_not_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="nowhere") as caught:
        started(tmp_path / "nowhere", 1).__enter__()
    assert caught.value.code == "PYTHON_UNUSABLE"
