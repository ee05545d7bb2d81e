"""This library's session between the real Runner and the SDK's contracts.

Every plan in ``contracts/`` is run on the installed SDK with a scripted model: no network, no key.
It is run a second time with a session in memory, so that what the SDK itself does wrong on this
release is not held against our session; it is shown as a warning.

With ``CONTRACT_CERTIFICATES=FOLDER`` the certificates are written there, for others to check.

Needs agentrunproof, which is no dependency of this library: the job that runs this file installs
it, everybody else's pytest skips it.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("agentrunproof", reason="agentrunproof is installed by the contract job only")

from agents import Agent, Runner
from jsonfile_session import JsonFileSession

from agentrunproof import (
    Certificate,
    DeterministicModel,
    ScenarioSession,
    assistant_message,
    run_scenario,
    write_certificate,
)
from agentrunproof.plan.loader import load_file

CONTRACTS = Path(__file__).with_name("contracts")


@pytest.mark.parametrize("path", sorted(CONTRACTS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_contracts_hold(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CONTRACTS))  # where `python:fresh_sessions:fresh` is
    name, plan = load_file(path)
    ours = run_scenario((name, plan), allow_python=True).certificate
    keep(ours)
    if ours.observation.missing:
        pytest.skip("this release lacks " + ", ".join(ours.observation.missing))
    memory = ScenarioSession(limit=plan.session.limit)
    sdks_own = broken(run_scenario((name, replace(plan, session=memory))).certificate)
    for words in sorted(sdks_own):
        warnings.warn(f"so with a session in memory, too: {words}", stacklevel=1)
    assert broken(ours) - sdks_own == set()


def test_the_runner_takes_the_session_itself(tmp_path: Path) -> None:
    """In the plans our session stands behind one that records; here the Runner meets it."""
    for answer, question in (("Yes.", "Is there tea?"), ("No.", "Green?")):
        model = DeterministicModel([assistant_message(answer)])
        session = JsonFileSession("session-1", tmp_path / "items.json")  # as in a new process
        Runner.run_sync(Agent(name="clerk", model=model), question, session=session)
    asked = [item["content"] for item in model.calls[0].input if item["role"] == "user"]
    assert asked == ["Is there tea?", "Green?"]


def broken(certificate: Certificate) -> set[str]:
    """What does not hold, in words."""
    return {f"{one.check} {one.code} in {one.where}: {one.detail}"
            for one in certificate.checks if one.verdict != "PASS"}


def keep(certificate: Certificate) -> None:
    """Write a certificate if there is a place for it; each column of a matrix has its own."""
    if folder := os.environ.get("CONTRACT_CERTIFICATES"):
        column = os.environ.get("AGENTRUNPROOF_COLUMN", "")  # of `agentrunproof matrix -- ...`
        place = Path(folder, column)
        place.mkdir(parents=True, exist_ok=True)
        write_certificate(certificate, place / f"{certificate.scenario}.json")
