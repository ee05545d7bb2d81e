"""From a recorded run to the model that is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrunproof.ablation.subject import Call, Decision
from agentrunproof.record import run_reader
from agentrunproof.record.run import Run
from agentrunproof.record.run_writer import RunWriter
from agentrunproof.recorders import record
from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.models import ModelOptions, Models, model_of
from agentrunproof.rerun.reruns import Reruns
from agentrunproof.runs import folder
from tests.rerun.servers import body, rule
from tests.wire import serving


def written(**fields: Any) -> Run:
    """A run with one call, as an importer writes it."""
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("run")
    writer.model_called("m1", "openai.chat", body("openai.chat"), **fields)
    writer.finish("completed")
    return run_reader.read(b"".join(lines), "run.jsonl")


def test_the_server_and_model_that_were_recorded_are_asked_again(tmp_path: Path) -> None:
    openai = pytest.importorskip("openai")
    with serving(rule) as wire:
        with record("run", file=tmp_path / "run.jsonl") as recorder:
            client = recorder.wrap(openai.OpenAI(api_key="sk-no", base_url=f"{wire.url}/v1"))
            client.chat.completions.create(**body("openai.chat"), stream=True).close()
        run = folder.load(tmp_path / "run.jsonl")
        call = run.call("last")
        model = model_of(run, call)
        reruns = Reruns(run.body(call), call.dialect, model)
        decisions = list(reruns.fresh(run.body(call), 2))
        model.close()
    assert decisions == [Decision((Call("pay", {"to": "K-77"}),))] * 2
    assert [path for path, _ in wire.requests] == ["/v1/chat/completions"] * 3
    assert "stream" not in wire.requests[-1][1]
    assert model.name == "m-1 (openai.chat)"


def test_a_run_that_names_no_server_is_asked_at_the_provider(monkeypatch: pytest.MonkeyPatch
                                                             ) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-no")
    run = written()
    assert "api.openai.com" in model_of(run, run.call(1)).identity


def test_a_recorded_endpoint_that_is_no_address_is_named() -> None:
    run = written(endpoint="file:///etc/passwd")
    with pytest.raises(ModelError, match="the recorded endpoint"):
        model_of(run, run.call(1))


def test_calls_of_the_same_model_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-no")
    models = Models(ModelOptions())
    first, again, other = (written(endpoint=f"http://localhost:{port}/v1/chat/completions")
                           for port in (1, 1, 2))
    made = [models.of(run, run.call(1)) for run in (first, again, other)]
    assert made[0] is made[1] is not made[2]
    models.close()
    for model in made:
        with pytest.raises(ModelError) as caught:
            model.ask(body("openai.chat"))
        assert caught.value.code == "MODEL_STOPPED"


def test_a_rule_needs_neither_server_nor_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                             ) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "rules.py").write_text("def model(body): return 'fine'", encoding="utf-8")
    run = written()
    model = model_of(run, run.call(1), ModelOptions(model=f"python:{tmp_path}/rules.py:model"))
    assert model.ask(run.body(run.call(1))) == "fine"
