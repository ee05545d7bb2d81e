"""A localization record is derived again, and whatever does not follow is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.checker import localization as checker
from agentrunproof.localize import recording
from agentrunproof.record.document import id_of
from agentrunproof.record.localization import FORM
from tests.localize.made import answer, end, task, tool

STEPS = (task(1, "Ship it."), answer(2, "writes the config"),
         tool(3, "write_file", by=2, path="config.yaml"),
         tool(4, "read_config", "error", path="config.yaml"), end(5, "failure"))
RECORD = recording.record(STEPS, name="made up", format="run", version="0.1.0")
DATA = FORM.to_bytes(RECORD)


def _changed(change: Callable[[dict[str, Any]], None], data: bytes = DATA) -> bytes:
    value = json.loads(data)
    change(value)
    return canonical.dumps(value | {"id": id_of(value)}) + b"\n"


def test_a_record_of_ours_is_valid() -> None:
    judgement = checker.check(DATA)
    assert (judgement.valid, judgement.code, judgement.verdict) == (True, "OK", "ONSET")
    assert RECORD.suspects[0].step == 2


def test_a_healthy_runs_record_is_valid_too() -> None:
    record = recording.record((task(1, "x"), answer(2, "y")), name="n", format="run",
                              version="0.1.0")
    assert checker.check(FORM.to_bytes(record)).verdict == "HEALTHY"


def test_a_record_without_steps_needs_its_trace() -> None:
    data = _changed(lambda value: value.pop("steps"))
    assert checker.check(data).code == "TRACE_NEEDED"
    assert checker.check(data, STEPS).valid
    assert checker.check(data, STEPS[:-1]).code == "STEPS_DIFFER"


def test_steps_brought_along_must_be_those_in_the_record() -> None:
    other = (*STEPS[:-1], end(5, "completed"))
    assert checker.check(DATA, STEPS).valid
    assert checker.check(DATA, other).code == "STEPS_DIFFER"


def _bend(path: list[Any], value: Any) -> Callable[[dict[str, Any]], None]:
    def change(table: dict[str, Any]) -> None:
        at: Any = table
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


@pytest.mark.parametrize(("code", "change"), [
    ("RECORD_SHAPE", _bend(["suspects", 0, "score"], 0)),
    ("LOCALIZATION_FORMAT", _bend(["schema"], "agentrunproof/localization/2")),
    ("STEPS_DISORDERED", _bend(["steps", 3, "number"], 3)),
    ("STEP_UNKNOWN", _bend(["steps", 2, "asked_by"], 4)),
    ("STEPS_DIFFER", _bend(["subject", "steps"], 6)),
    ("STEPS_DIFFER", _bend(["steps", 0, "input"], "Do not ship it.")),
    ("FINDINGS_DIFFER", lambda value: value["findings"].pop()),
    ("EDGES_DIFFER", lambda value: value.pop("edges")),
    ("SYMPTOM_DIFFERS", _bend(["symptom", "step"], 3)),
    ("SUSPECTS_DIFFER", _bend(["suspects", 0, "score"], 99)),
    ("SUSPECTS_DIFFER", lambda value: value["suspects"].reverse()),
    ("STATUS_DIFFERS", _bend(["status"], "NONE")),
])
def test_what_does_not_follow_is_refused(code: str,
                                         change: Callable[[dict[str, Any]], None]) -> None:
    judgement = checker.check(_changed(change))
    assert (judgement.valid, judgement.code) == (False, code)


def test_that_a_run_failed_is_nothing_to_add_to_a_record_without_suspects() -> None:
    healthy = recording.record((task(1, "x"), answer(2, "y")), name="n", format="run",
                               version="0.1.0")
    data = _changed(_bend(["failed"], True), FORM.to_bytes(healthy))
    assert not checker.check(data).valid


def test_another_version_is_refused() -> None:
    judgement = checker.check(_changed(_bend(["producer", "version"], "99.0.0")))
    assert not judgement.valid


def test_bytes_in_another_form_are_refused() -> None:
    assert checker.check(json.dumps(json.loads(DATA), indent=1).encode()).code == "NOT_CANONICAL"
    assert checker.check(DATA[:-20]).valid is False


def test_an_id_that_is_not_the_digest_is_refused() -> None:
    value = json.loads(DATA) | {"id": "sha256:" + "0" * 64}
    assert checker.check(canonical.dumps(value)).code == "LOCALIZATION_ID"


def test_texts_that_no_record_can_hold_are_mended() -> None:
    record = recording.record((task(1, "a \ud800 b"), answer(2, "c")), name="n\ud800",
                              format="run", version="0.1.0")
    assert record.steps[0].input == "a \ufffd b"
    assert checker.check(FORM.to_bytes(record)).valid


def test_a_run_that_is_too_large_is_named_by_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "EMBEDDED", 10)
    record = recording.record(STEPS, name="n", format="run", version="0.1.0")
    assert record.steps == ()
    assert checker.check(FORM.to_bytes(record), STEPS).valid
