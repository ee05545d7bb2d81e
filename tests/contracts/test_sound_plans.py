"""No contract tells a breach where the SDK does what it says, on plans that random ones came upon.

They run on the installed SDK. What they hold is what is not promised, so newer releases may differ.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentrunproof import checker
from agentrunproof.contracts.base import CheckResult
from agentrunproof.contracts.registry import judge
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate as records
from agentrunproof.record import private, sdk_releases
from agentrunproof.record.observation import Observation
from tests.contracts.private_plans import PRIVATE_PLANS
from tests.contracts.sound_plans import SOUND_PLANS
from tests.driven import observe
from tests.plans import PRODUCER

pytestmark = pytest.mark.sdk

_HEAD = 'title = "A plan"\narea = "tests"\ncontract = "It is sound."\n'


@pytest.mark.parametrize(("check", "text"), [case[1:] for case in SOUND_PLANS],
                         ids=[case[0].replace(" ", "-") for case in SOUND_PLANS])
def test_nothing_is_told_of_a_sound_plan(check: str, text: str) -> None:
    plan = load_text(_HEAD + text, "sound")
    recorded = records.as_recorded(plan, observe(plan))
    results = judge(*recorded)
    assert check in [result.check for result in results]
    assert [(result.check, result.code, result.where, result.detail) for result in results
            if result.verdict != "PASS"] == []
    assert _code(*recorded, results, "public") == "OK"


@pytest.mark.parametrize(("check", "text"), [case[1:] for case in PRIVATE_PLANS],
                         ids=[case[0].replace(" ", "-") for case in PRIVATE_PLANS])
def test_nothing_is_told_of_the_private_record_of_a_sound_plan(check: str, text: str) -> None:
    plan = load_text(_HEAD + text, "sound")
    covered = private.cover(*records.as_recorded(plan, observe(plan)), bytes(private.SALT_BYTES))
    results = judge(*covered)
    assert check in [result.check for result in results]
    assert [(result.check, result.code) for result in results if result.verdict != "PASS"] == []
    assert _code(*covered, results, "private") == "OK"


def _code(plan: Plan, seen: Observation, results: tuple[CheckResult, ...],
          profile: records.Profile) -> str:
    """What the checker says of the certificate."""
    sdk = records.Sdk(version="0.24.0", files=sdk_releases.known()["0.24.0"])
    made = records.build("a-plan", plan, seen, replace(PRODUCER, sdk=sdk), results, "PASS", profile)
    return checker.check(records.to_bytes(made)).code
