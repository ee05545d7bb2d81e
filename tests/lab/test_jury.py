"""Checking many files at once says what checking each alone says, in the same order."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from agentrunproof.lab import jury
from agentrunproof.lab.jury import Jury
from agentrunproof.record import certificate as records
from agentrunproof.record.certificate import Sdk
from tests.plans import certificate, greeting


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Records of several kinds: valid, altered, cut, empty, and one that is not there."""
    plan = dataclasses.replace(greeting(), requires=("session",))
    made = certificate(plan=plan, missing=("session",), verdict="UNTESTABLE")
    untested = dataclasses.replace(made.producer, sdk=Sdk(version="0.99.0",
                                                          files="sha256:" + "0" * 64))
    valid = records.to_bytes(dataclasses.replace(made, producer=untested))
    contents = {"valid": valid, "altered": valid.replace(b"A greeting", b"No greeting"),
                "cut": valid[:100], "empty": b""}
    found = {"gone": tmp_path / "gone.json"}
    for number in range(12):
        for kind, content in contents.items():
            found[f"{kind}-{number}"] = tmp_path / f"{kind}-{number}.json"
            found[f"{kind}-{number}"].write_bytes(content)
    return found


def test_several_processes_say_what_one_says(
        files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted(files, reverse=True)
    alone = list(Jury(files, jobs=1)(names))
    monkeypatch.setattr(jury, "_FEW", 4)
    monkeypatch.setattr(jury, "_CHUNK", 3)
    told: list[tuple[int, int]] = []
    together = list(Jury(files, jobs=2, tick=lambda *done: told.append(done))(names))
    assert together == alone
    assert told == [(n, len(names)) for n in range(1, len(names) + 1)]
    said = {(name.split("-")[0], judgement.code, envelope is not None)
            for name, (judgement, envelope) in zip(names, alone, strict=True)}
    assert said == {("gone", "RECORD_NOT_FOUND", False), ("empty", "JSON_EMPTY", False),
                    ("cut", "JSON_SYNTAX", False), ("altered", "ID_DIFFERS", False),
                    ("valid", "OK", True)}


def test_whoever_has_heard_enough_may_stop(
        files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jury, "_FEW", 4)
    found = Jury(files, jobs=2)(list(files))
    judgement, envelope = next(found)
    assert (judgement.code, envelope) == ("RECORD_NOT_FOUND", None)
    found.close()  # type: ignore[attr-defined]
    assert list(found) == []
