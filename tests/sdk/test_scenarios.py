"""The packaged scenarios on the installed SDK."""

from __future__ import annotations

from functools import cache

import pytest
from tests.driven import observe

from agentrunproof.contracts import registry
from agentrunproof.contracts.base import CheckResult
from agentrunproof.lab import expected
from agentrunproof.plan import catalog
from agentrunproof.record.matrix import Column
from agentrunproof.sdk import compat

pytestmark = pytest.mark.sdk


@cache
def checks(id: str) -> tuple[CheckResult, ...]:
    """What the contracts say of a packaged scenario, driven in this process."""
    plan = catalog.load(id)
    return registry.judge(plan, observe(plan))


@pytest.mark.parametrize("id", catalog.ids())
def test_a_packaged_scenario_passes_but_for_known_failures(id: str) -> None:
    column = Column(sdk=compat.sdk_version(), python="3.12")
    failed = [result for result in checks(id) if result.verdict != "PASS" and not
              expected.reason(expected.load(), id, column, result.check, result.code)]
    assert failed == []


def test_every_contract_is_judged_on_some_scenario() -> None:
    judged = {result.check for id in catalog.ids() for result in checks(id)}
    assert judged == {contract.name for contract in registry.CONTRACTS}
