"""The example of a downstream library: its contract test tells a good session from a broken one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "ci_adoption"

#: What a session may get wrong: a line of the example, what stands there instead, the test that
#: fails for it, and what it says.
BREAKS = {
    "drops outputs": (
        "self._write([*self._read(), *items])",
        "self._write(self._read() + [i for i in items if i.get('type') != 'function_call_output'])",
        "test_the_contracts_hold[keeps-tool-turns]",
        "session_persistence SESSION_ITEM_LOST in run/ask"),
    "gives the oldest": (
        "return items[-limit:] if limit > 0 else []", "return items[:limit]",
        "test_the_contracts_hold[gives-the-newest]",
        "execution_outcome MODEL_INPUT_DIFFERS in run/three"),
    "forgets when it is closed": (
        "self._path = Path(path)", "self._path = Path(f'{path}.{os.urandom(4).hex()}')",
        "test_the_runner_takes_the_session_itself",
        "assert ['Green?'] == ['Is there tea?', 'Green?']"),
}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "library", ignore=shutil.ignore_patterns(
        "__pycache__", ".*cache", "build")))


def run_contract_test(library: Path, *options: str, **variables: str
                      ) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", *options,
         "tests/test_contract.py"], cwd=library, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(library), **variables})


@pytest.mark.sdk
def test_the_contract_test_of_the_example_passes_and_leaves_certificates(library: Path) -> None:
    from agentrunproof import check_certificate

    done = run_contract_test(library, CONTRACT_CERTIFICATES="kept",
                             AGENTRUNPROOF_COLUMN="0.24.0-python-3.12")
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    kept = sorted((library / "kept" / "0.24.0-python-3.12").iterdir())
    assert [path.stem for path in kept] == [
        "gives-the-newest", "keeps-tool-turns", "survives-an-approval"]
    assert [check_certificate(path).verdict for path in kept] == ["PASS"] * 3


@pytest.mark.sdk
def test_a_session_that_is_broken_in_three_ways_is_caught_by_name(library: Path) -> None:
    module = library / "jsonfile_session.py"
    text = module.read_text("utf-8")
    for line, instead, _, _ in BREAKS.values():
        assert text.count(line) == 1
        text = text.replace(line, instead)
    module.write_text(text, "utf-8")
    done = run_contract_test(library)
    assert done.returncode == 1, done.stdout
    for _, _, test, words in BREAKS.values():
        report = re.search(rf"^_+ {re.escape(test)} _+$(.*?)^(_+ test|=====)", done.stdout,
                           re.DOTALL | re.MULTILINE)
        assert report is not None, test
        assert words in report[1]


def test_without_agentrunproof_the_contract_test_is_skipped_and_no_job_is_green(
        library: Path) -> None:
    (library / "sitecustomize.py").write_text("import sys; sys.modules['agentrunproof'] = None\n")
    done = run_contract_test(library)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout
    assert "1 skipped" in done.stdout


def test_the_library_neither_needs_agentrunproof_nor_pins_the_sdk() -> None:
    metadata = (EXAMPLE / "pyproject.toml").read_text("utf-8")
    assert "agentrunproof" not in metadata
    assert re.findall(r'"(openai-agents[^"]*)"', metadata) == ["openai-agents>=0.2.0"]
