"""The packaged scenarios on the installed SDK."""

from __future__ import annotations

from functools import cache

import pytest

from agentrunproof.contracts import registry
from agentrunproof.contracts.base import CheckResult
from agentrunproof.plan import catalog
from agentrunproof.record.observation import Observation, PhaseRun

pytestmark = pytest.mark.sdk


@cache
def checks(id: str) -> tuple[CheckResult, ...]:
    """What the contracts say of a packaged scenario, driven in this process."""
    from agentrunproof.sdk.drive import Watch, drive

    plan = catalog.load(id)
    runs = tuple(PhaseRun(run.mode, run.phase, tuple(run.events)) for run in drive(plan, Watch()))
    return registry.judge(plan, Observation(runs))


@pytest.mark.parametrize("id", catalog.ids())
def test_a_packaged_scenario_passes(id: str) -> None:
    failed = [result for result in checks(id) if result.verdict != "PASS"]
    assert failed == []


def test_every_contract_is_judged_on_some_scenario() -> None:
    judged = {result.check for id in catalog.ids() for result in checks(id)}
    assert judged == {contract.name for contract in registry.CONTRACTS}
