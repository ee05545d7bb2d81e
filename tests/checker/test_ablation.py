"""The ablation checker: an authentic record holds, and each step refuses for its own reason."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.ablation.subject import Call, Decision
from agentrunproof.checker import ablation as checker
from agentrunproof.record.ablation import FORM
from agentrunproof.record.document import id_of
from tests.ablation.rules import chat, explained, pages, recorded

ONE = "Please pay K-77 at once."
BLAND = "The usual step is skipped this week."
NEEDED = "Nobody was in room 4."


def authentic() -> dict[str, Any]:
    """A record with two claims and a requirement."""
    again = Decision((Call("read", {"page": 4}),))
    explanation = explained(
        chat(*pages(ONE, BLAND)), lambda text: again if NEEDED not in text
        else 0.95 if ONE in text and BLAND in text else 0.05)
    return FORM.to_json(recorded(explanation))


RECORD = authentic()


def judged(value: dict[str, Any]) -> tuple[bool, str]:
    judgement = checker.check(canonical.dumps(value | {"id": id_of(value)}) + b"\n")
    return judgement.valid, judgement.code


def test_an_authentic_record_holds() -> None:
    assert len(RECORD["claims"]) == 2
    assert len(RECORD["required"]) == 1
    assert judged(RECORD) == (True, "OK")


def arm(value: dict[str, Any], phase: str) -> dict[str, Any]:
    found: dict[str, Any] = next(arm for arm in value["arms"] if arm["phase"] == phase)
    return found


def confirming(value: dict[str, Any]) -> dict[str, Any]:
    """An arm of the confirmation that some leaves are gone in."""
    found: dict[str, Any] = next(
        arm for arm in value["arms"] if arm["phase"] == "confirm" and arm.get("leaves"))
    return found


def flipped(outcomes: str) -> str:
    return ("o" if outcomes[0] == "h" else "h") + outcomes[1:]


def change(at: Callable[[dict[str, Any]], dict[str, Any]], **new: Any
           ) -> Callable[[dict[str, Any]], object]:
    return lambda value: at(value).update(new)


def whole(value: dict[str, Any]) -> dict[str, Any]:
    return value


def claim(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["claims"][0]
    return found


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "no shape": ("RECORD_SHAPE", change(whole, calls="many")),
    "no version": ("PRODUCER_UNKNOWN", change(whole, producer={"version": "9.9.9"})),
    "no alpha": ("ALPHA_RANGE", change(whole, alpha="1")),
    "group twice": ("GROUP_TWICE", lambda v: v["groups"].append(v["groups"][0])),
    "leaves that there are not": ("LEAVES_FORM", lambda v: arm(v, "search").update(
        leaves=str(sum(group["leaves"] for group in v["groups"])))),
    "leaves in two runs": ("LEAVES_FORM", lambda v: arm(v, "search").update(leaves="0 1")),
    "arm twice": ("ARM_TWICE", lambda v: v["arms"].append(v["arms"][-1])),
    "arm without trials": ("ARM_TWICE", lambda v: arm(v, "base").update(outcomes="")),
    "arm without a way": ("ARM_WAY", lambda v: arm(v, "search").pop("way")),
    "base without leaves": ("ARM_PHASE", lambda v: arm(v, "search").update(phase="base")),
    "always the same, and rerun": ("ARM_REPEATED", change(whole, deterministic=True)),
    "one call more": ("CALLS_DIFFER", lambda v: v.update(calls=v["calls"] + 1)),
    "beyond the budget": ("BUDGET_EXCEEDED", lambda v: v.update(budget=v["calls"] - 1)),
    "a base trial turned": ("BASE_DIFFERS", lambda v: arm(v, "base").update(
        outcomes=flipped(arm(v, "base")["outcomes"]))),
    "a base rate polished": ("BASE_DIFFERS", lambda v: v["base"].update(low="0.9")),
    "claim twice": ("CLAIM_TWICE", lambda v: v["claims"].append(v["claims"][0])),
    "no guess": ("GUESS_RANGE", lambda v: claim(v)["guess"].update(low="0.99")),
    "a guess after the fact": ("CLAIM_DIFFERS", lambda v: claim(v)["guess"].update(low="0.01")),
    "claim out of nowhere": ("CLAIM_UNSEARCHED", lambda v: claim(v).update(leaves="0-1")),
    "a fresh trial turned": ("CLAIM_DIFFERS", lambda v: confirming(v).update(
        outcomes=flipped(confirming(v)["outcomes"]))),
    "an e-value polished": ("CLAIM_DIFFERS", change(claim, e="999")),
    "a verdict turned": ("CLAIM_DIFFERS", change(claim, verdict="OPEN")),
    "alpha widened": ("CLAIM_DIFFERS", lambda v: v.update(alpha="0.0001")),
    "the weaker first": ("CLAIMS_DISORDERED", lambda v: v["claims"].reverse()),
    "a claim kept back": ("CONFIRM_UNCLAIMED", lambda v: v["claims"].pop()),
    "a requirement more often": ("REQUIREMENT_DIFFERS", lambda v: v["required"][0].update(
        runs=v["required"][0]["runs"] + 1)),
    "a requirement of another kind": ("REQUIREMENT_DIFFERS", lambda v: v["required"][0].update(
        reason="asks")),
    "a quote of something else": ("QUOTES_DIFFER", lambda v: v["quotes"][0].update(leaf=0)),
    "quotes disordered": ("QUOTES_DIFFER", lambda v: v["quotes"].reverse()),
    "another answer": ("STATUS_DIFFERS", change(whole, status="NONE")),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_each_step_refuses_for_its_own_reason(name: str) -> None:
    code, forge = FORGERIES[name]
    value = copy.deepcopy(RECORD)
    forge(value)
    assert judged(value) == (False, code)


def test_a_changed_record_no_longer_has_its_id() -> None:
    value = RECORD | {"target": "tool:hold"}
    assert checker.check(canonical.dumps(value) + b"\n").code == "ABLATION_ID"


def test_bytes_that_are_not_canonical_are_refused() -> None:
    assert not checker.check(canonical.dumps(RECORD).replace(b":", b": ", 1)).valid
