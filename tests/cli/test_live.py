"""The main job from outside: real processes, the installed SDK."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sdk

#: Tools that no harness can reason with.
TOOLS = '''
import os

def spins() -> str:
    while True:
        pass

def dies() -> str:
    os._exit(7)

def shouts() -> str:
    print("a line on standard output")
    os.write(1, b"and a raw one")
    return "done"

def signals() -> str:
    with open("pipe", "w") as pipe:
        pipe.write("started")
    while True:
        pass
'''

PLAN = '''
title = "A tool from elsewhere"
area = "demo"
contract = "Whatever a tool does, the probe ends."
modes = ["run"]
agents.clerk.tools = ["{tool}"]
tools.{tool}.python = "python:tools_from_elsewhere:{tool}"

[[phases]]
id = "only"
input = "Go."
script = [ [ {{ call = "{tool}", id = "call-1" }} ], [ {{ say = "Done." }} ] ]
expect = {{ outcome = "completed" }}
'''


def agentrunproof(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "agentrunproof", *arguments], cwd=folder,
                          capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a plan for each of the tools."""
    (tmp_path / "tools_from_elsewhere.py").write_text(TOOLS)
    for tool in ("spins", "dies", "shouts", "signals"):
        (tmp_path / f"{tool}.toml").write_text(PLAN.format(tool=tool))
    return tmp_path


def test_a_packaged_scenario_is_probed_checked_and_explained(tmp_path: Path) -> None:
    probed = agentrunproof(tmp_path, "probe", "basic-tool-session-parity", "--certificate",
                           "proof.json")
    assert (probed.returncode, probed.stderr) == (0, "")
    assert probed.stdout.startswith("PASS basic-tool-session-parity\n")
    id = json.loads((tmp_path / "proof.json").read_bytes())["id"]
    checked = agentrunproof(tmp_path, "check-certificate", "proof.json")
    assert (checked.returncode, checked.stdout) == (0, f"VALID {id} PASS\n")
    explained = agentrunproof(tmp_path, "explain", "proof.json")
    assert explained.returncode == 0
    assert "verdict: PASS" in explained.stdout


def test_the_same_probe_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert agentrunproof(tmp_path, "probe", "basic-tool-session-parity", "--certificate",
                             f"{name}.json").returncode == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert agentrunproof(tmp_path, "diff", "one.json", "two.json").returncode == 0


def test_hanging_and_dying_tools_are_results_and_cost_nobody_else(folder: Path) -> None:
    done = agentrunproof(folder, "probe", "spins.toml", "dies.toml", "shouts.toml",
                         "--allow-python", "--deadline", "2", "--json")
    assert done.returncode == 1
    spins, dies, shouts = json.loads(done.stdout)
    assert (spins["verdict"], spins["checks"][0]["code"]) == ("FAIL", "TIMEOUT")
    assert (dies["verdict"], dies["error"]["code"]) == ("ERROR", "WORKER_DIED")
    assert shouts["verdict"] == "PASS"


def test_foreign_python_needs_permission(folder: Path) -> None:
    done = agentrunproof(folder, "probe", "shouts.toml")
    assert done.returncode == 2
    assert "would run python:tools_from_elsewhere:shouts" in done.stderr


def _heed_interrupts() -> None:
    """Tests that run in the background of a shell may have been told to ignore them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_worker_and_leaves_nothing_half_written(
        folder: Path, sent: signal.Signals) -> None:
    os.mkfifo(folder / "pipe")
    pipe = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    child = subprocess.Popen(
        [sys.executable, "-m", "agentrunproof", "probe", "signals.toml", "--allow-python",
         "--certificate", "proof.json"], cwd=folder, stderr=subprocess.PIPE, text=True,
        preexec_fn=_heed_interrupts)
    assert select.select([pipe], [], [], 60)[0] == [pipe]
    os.close(pipe)
    before = {path.name for path in folder.iterdir()}
    child.send_signal(sent)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "interrupted\n")
    assert {path.name for path in folder.iterdir()} == before
    assert "proof.json" not in before
