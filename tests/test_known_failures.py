"""The list of known failures, and the script that makes it of a matrix."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from agentrunproof.lab import expected
from agentrunproof.lab.expected import KnownFailure
from agentrunproof.record import matrix
from agentrunproof.record.matrix import Matrix
from tests import scripts
from tests.matrices import history

HEADER = "# Known failures.\n# One table each:\n#   [[failure]]\n"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return scripts.load("update_known_failures")


def made(script: ModuleType, letters: str, before: str, folder: Path,
         monkeypatch: pytest.MonkeyPatch) -> tuple[KnownFailure, ...]:
    """What the script makes of a matrix and of what stood in the file before."""
    record, file = folder / "matrix.json", folder / "known.toml"
    record.write_bytes(matrix.to_bytes(history(letters)))
    file.write_text(HEADER + before)
    monkeypatch.setattr(sys, "argv", ["script", str(record), "--file", str(file)])
    assert script.main() == 0
    assert file.read_text().startswith(HEADER)
    # New failures have no words yet, so that the file is not accepted before somebody adds some.
    written = file.read_text().replace('sdk = "', 'note = "new"\nsdk = "')
    file.write_text(written if "upstream" not in written else file.read_text())
    return expected.load(file)


# The n-th letter is the release 0.n.0, counted from 0.
@pytest.mark.parametrize(("letters", "ranges"), [
    ("ppFFp", [("F", ">=0.2.0,<0.4.0")]),
    ("FFp", [("F", "<0.2.0")]),
    ("--FFp", [("F", "<0.4.0")]),              # nothing can be judged before
    ("p-FFp", [("F", ">=0.2.0,<0.4.0")]),
    ("pF-Fp", [("F", ">=0.1.0,<0.4.0")]),      # the gap is judged by what is around it
    ("pF-p", [("F", ">=0.1.0,<0.2.0")]),
    ("ppFF", [("F", ">=0.2.0")]),              # to the end
    ("FF", [("F", ">=0.0.0")]),
    ("pFGp", [("G", ">=0.2.0,<0.3.0"), ("F", ">=0.1.0,<0.2.0")]),
    ("FpFp", [("F", ">=0.2.0,<0.3.0"), ("F", "<0.1.0")]),
    ("pp-?", []),
])
def test_a_range_holds_the_releases_on_which_a_check_fails_by_one_code(
        script: ModuleType, letters: str, ranges: list[tuple[str, str]], tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    known = made(script, letters, "", tmp_path, monkeypatch)
    assert [(one.code, one.sdk) for one in known] == ranges
    whole: Matrix = history(letters)
    assert list(expected.stale(known, whole)) == []
    assert all(expected.is_expected(known, "greeting", cell, column)
               for column, cell in zip(whole.columns, whole.plans[0].cells, strict=True)
               if cell.verdict == "FAIL")


def test_links_and_notes_are_kept_and_what_is_new_is_named(
        script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    before = ('\n[[failure]]\nscenarios = ["greeting"]\ncheck = "tool_linkage"\ncode = "F"\n'
              'sdk = ">=0.1.0,<0.2.0"\nupstream = "openai-agents-python#1"\nnote = "Why."\n')
    (kept,) = made(script, "pFFp", before, tmp_path, monkeypatch)
    assert kept == KnownFailure(scenarios=("greeting",), check="tool_linkage", code="F",
                                sdk=">=0.1.0,<0.3.0", upstream="openai-agents-python#1",
                                note="Why.")
    assert "new" not in capsys.readouterr().out
    made(script, "pGp", "", tmp_path, monkeypatch)
    assert capsys.readouterr().out == "new: greeting tool_linkage:G >=0.1.0,<0.2.0\n"


def test_the_packaged_list_speaks_of_each_failure_once_and_names_a_code() -> None:
    known = expected.load()
    places = [(scenario, one.check, one.code, one.sdk) for one in known
              for scenario in one.scenarios]
    assert known
    assert len(places) == len(set(places))
    assert all(one.code is not None for one in known)
    assert all(one.upstream or "report" in one.note for one in known)
