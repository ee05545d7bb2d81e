"""What scripts/run_history_matrix.py lets one ask for."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests import scripts


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return scripts.load("run_history_matrix")


def test_evidence_is_made_of_all_rows_on_the_one_python(script: ModuleType) -> None:
    options = script._options(["--canonical", "--out", "evidence/history"])
    assert (options.canonical, options.rows, options.python) == (True, [], "3.12")


@pytest.mark.parametrize("more", [["--rows", "4322"], ["--python", "3.13"]])
def test_evidence_of_less_is_refused(
        script: ModuleType, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        script._options(["--canonical", *more])
    assert caught.value.code == 2
    assert "evidence is of all rows, on Python 3.12" in capsys.readouterr().err


def test_a_rehearsal_may_be_of_some_rows_on_another_python(script: ModuleType) -> None:
    options = script._options(["--rows", "4322", "4244", "--python", "3.13"])
    assert (options.canonical, options.rows, options.python) == (
        False, ["4322", "4244"], "3.13")
