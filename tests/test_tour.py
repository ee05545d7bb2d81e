"""docs/tour.md: its commands print what it shows, numbers of the search aside."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def commands() -> list[tuple[str, list[str]]]:
    """Each command of the page with the passages of its output that are shown."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", (ROOT / "docs/tour.md").read_text("utf-8"),
                            re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            passages = re.split(r"^\.\.\.\n", output, flags=re.MULTILINE)
            found.append((command, [passage for passage in passages if passage]))
    return found


def numberless(text: str) -> str:
    """A text whose counts, rates and times do not matter; only that there are some."""
    return re.sub(r" +", " ", re.sub(r"(?<![\w.])[\d.>]+(?=[ %,:)s])", "#", text))


def test_every_command_prints_what_the_tour_shows(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    environment.pop("AGENTRUNPROOF_RUNS", None)
    programs = {"python": [sys.executable],
                "agentrunproof": [sys.executable, "-m", "agentrunproof"]}
    seen = []
    for command, passages in commands():
        program, *words = shlex.split(command)
        done = subprocess.run([*programs[program], *words], cwd=tmp_path, env=environment,
                              capture_output=True, text=True)
        assert done.returncode in (0, 3), (command, done.stderr)
        for passage in passages:
            assert numberless(passage) in numberless(done.stdout), (command, passage)
        seen.append(program)
    assert seen.count("agentrunproof") == 5
    assert (tmp_path / "test_inbox_guard.py").exists()
