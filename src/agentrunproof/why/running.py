"""Run a standalone script in an environment that has an SDK, without pytest."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

#: Seconds a script may take; importing the SDK from a cold disk takes most of them.
PATIENCE = 90.0


def run_script(python: Path, text: str) -> str | None:
    """What a script died of, its exception in one line; None if it ended well.

    Args:
        python: interpreter of an environment.
        text: the script; it tests itself when it is run.
    """
    with tempfile.TemporaryDirectory(prefix="agentrunproof-") as folder:
        path = Path(folder) / "test_reproduce.py"
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([str(python), "-I", "-X", "utf8", str(path)], cwd=folder,
                                  capture_output=True, text=True, encoding="utf-8",
                                  errors="replace", timeout=PATIENCE, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"no end within {PATIENCE:g} seconds"
    if done.returncode == 0:
        return None
    said = [line for line in done.stderr.splitlines() if line.strip()]
    raised = [line for line in said if line[0] not in " \t|"]
    return (raised or said or [f"exit code {done.returncode}"])[-1]
