"""Where reruns are made: threads that keep nobody waiting, and a Dask cluster."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.ablation.explain import Explanation
from agentrunproof.ablation.recording import record
from agentrunproof.ablation.subject import Decision, Target
from agentrunproof.errors import LabError
from agentrunproof.record.ablation import Ablation, SubjectLine
from agentrunproof.rerun.executors import Threads, of_uri, workers_for
from agentrunproof.rerun.model import Model, ModelError
from agentrunproof.rerun.models import ModelOptions, model_for
from agentrunproof.rerun.reruns import Reruns
from tests.rerun.servers import body, rule
from tests.wire import serving

BODY = body("openai.chat", "The sky is blue. Pay K-77 now. Then rest. Grass is green.")
RULE = '''
import json, os

def model(body):
    if "Pay K-77" in json.dumps(body):
        return {"tool_calls": [{"name": "pay", "arguments": {}}]}
    return "Nothing to do."

def process(body):
    return str(os.getpid())

def refuses(body):
    raise RuntimeError("no")
'''


def test_threads_run_what_they_are_given_and_hand_on_what_it_raises() -> None:
    with Threads(3) as threads:
        assert list(threads.map(pow, [2, 3, 4], [2, 2, 2])) == [4, 9, 16]
        failed = threads.submit(int, "x")
        with pytest.raises(ValueError, match="invalid literal"):
            failed.result()
    with pytest.raises(RuntimeError):
        threads.submit(int)


def test_leaving_begins_nothing_more_and_leaves_no_thread() -> None:
    begun, go = threading.Event(), threading.Event()
    before = set(threading.enumerate())

    def first() -> None:
        begun.set()
        go.wait(30)

    with Threads(1) as threads:
        threads.submit(first)
        assert begun.wait(30)
        never = threads.submit(pytest.fail, "begun after the end")
        threads.shutdown(wait=False)
        go.set()
    with pytest.raises(CancelledError):
        never.result(timeout=30)
    assert set(threading.enumerate()) <= before


def test_a_program_ends_though_a_request_hangs() -> None:
    program = ("import threading\nfrom agentrunproof.rerun.executors import Threads\n"
               "Threads(1).submit(threading.Event().wait)\nraise KeyboardInterrupt\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert b"KeyboardInterrupt" in done.stderr


def test_one_at_a_time_at_a_local_model_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULE, encoding="utf-8")
    model = model_for("openai.chat", BODY, ModelOptions(model=f"python:{tmp_path}/rules.py:model"))
    assert workers_for(model) == 1
    assert workers_for(model, 4) == 4
    model.local = False  # type: ignore[misc]
    assert workers_for(model) == 8
    for wanted in (0, -3):
        with pytest.raises(ModelError, match=f"--workers {wanted}"):
            workers_for(model, wanted)


@pytest.mark.parametrize("uri", ["spark://x", "dask:", "dask://", "remote"])
def test_an_unknown_executor_is_refused(uri: str) -> None:
    with pytest.raises(LabError) as caught:
        of_uri(uri, 1)
    assert caught.value.code == "EXECUTOR_UNKNOWN"


def explained(model: Model, uri: str | None, workers: int) -> Ablation:
    with of_uri(uri, workers) as executor:
        reruns = Reruns(BODY, "openai.chat", model, executor=executor, workers=workers)
        explanation = Explanation(reruns.subject, Target("tool:pay", Decision()))
        explanation.run(reruns.answer)
    return record(explanation, SubjectLine(kind="call", digest=reruns.digest))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    distributed: Any = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None, silence_logs=50) as cluster:
        cluster.wait_for_workers(2)
        yield cluster.scheduler_address.replace("tcp://", "dask://")


def test_a_cluster_explains_the_same_as_threads(cluster: str, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULE, encoding="utf-8")
    options = ModelOptions(model=f"python:{tmp_path}/rules.py:model")
    here = explained(model_for("openai.chat", BODY, options), None, 2)
    there = explained(model_for("openai.chat", BODY, options), cluster, 2)
    assert here == there
    assert here.status == "CAUSE"


def test_a_cluster_asks_a_model_behind_an_api(cluster: str) -> None:
    with serving(rule) as wire:
        model = model_for("openai.chat", BODY, ModelOptions(base_url=wire.url))
        there = explained(model, cluster, 4)
        assert there.status == "CAUSE"
        assert len(wire.requests) == there.calls


def test_reruns_are_made_on_the_workers_and_their_errors_come_back(
        cluster: str, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULE, encoding="utf-8")

    def reruns(function: str) -> Reruns:
        return Reruns(BODY, "openai.chat", model_for("openai.chat", BODY, ModelOptions(
            model=f"python:{tmp_path}/rules.py:{function}")), executor=executor, workers=8)

    with of_uri(cluster, 8) as executor:
        processes = {decision.text for decision in reruns("process").fresh(BODY, 8)}
        with pytest.raises(ModelError, match="raised RuntimeError: no"):
            list(reruns("refuses").fresh(BODY, 3))
    import os

    assert str(os.getpid()) not in processes
