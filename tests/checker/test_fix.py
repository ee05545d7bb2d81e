"""The fix checker: an authentic record holds, and each step refuses for its own reason."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.checker import fix as checker
from agentrunproof.checker import kinds
from agentrunproof.record.document import id_of
from agentrunproof.record.fix import FORM
from tests.fix.inbox import model
from tests.fix.test_measuring import measured

RECORD = FORM.to_json(measured(model()))


def judged(value: dict[str, Any]) -> tuple[bool, str]:
    judgement = checker.check(canonical.dumps(value | {"id": id_of(value)}) + b"\n")
    return judgement.valid, judgement.code


def test_an_authentic_record_holds_and_is_known_by_its_kind() -> None:
    assert judged(RECORD) == (True, "OK")
    judgement = kinds.check(canonical.dumps(RECORD) + b"\n")
    assert (judgement.valid, judgement.verdict) == (True, "PASS")


def first(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["candidates"][0]
    return found


def last(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["candidates"][-1]
    return found


def whole(value: dict[str, Any]) -> dict[str, Any]:
    return value


def change(at: Callable[[dict[str, Any]], dict[str, Any]], **new: Any
           ) -> Callable[[dict[str, Any]], object]:
    return lambda value: at(value).update(new)


def turned(trials: str) -> str:
    """The first trial turned: 0 is the decision asked about."""
    return ("1" if trials[0] == "0" else "0") + trials[1:]


def done(value: dict[str, Any]) -> dict[str, Any]:
    """The same, as if nothing had cut it short."""
    return {key: inner for key, inner in value.items() if key != "ended"}


def never(value: dict[str, Any]) -> None:
    """The unchanged request never decided so, and yet there are trials."""
    other = next(n for n, deed in enumerate(value["deeds"]) if deed["kind"] != "hit")
    runs = value["base"]["runs"]
    value["trials"] = " ".join([str(other)] * runs)
    value["base"] = {"hits": 0, "runs": runs, "low": "0", "high": "0.1684"}


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "no shape": ("RECORD_SHAPE", change(whole, calls="many")),
    "no version": ("PRODUCER_UNKNOWN", change(whole, producer={"version": "9.9.9"})),
    "no alpha": ("ALPHA_RANGE", change(whole, alpha="0")),
    "everything tolerated": ("TOLERANCE_RANGE", change(whole, tolerance="1")),
    "no guess": ("GUESS_RANGE", lambda v: v["guess"].update(low="0.99")),
    "always the same, and many runs": ("RUNS_RANGE", change(whole, deterministic=True)),
    "nothing tried": ("CANDIDATES_NONE", change(whole, candidates=[])),
    "one name twice": ("CANDIDATE_TWICE", lambda v: last(v).update(name=first(v)["name"])),
    "one request twice": ("CANDIDATE_TWICE", lambda v: last(v).update(
        request=first(v)["request"])),
    "the unchanged request": ("CANDIDATE_TWICE", lambda v: last(v).update(
        request=v["subject"]["digest"])),
    "nothing changed": ("CANDIDATE_EMPTY", change(last, change={})),
    "a deed twice": ("DEED_TWICE", lambda v: v["deeds"].append(v["deeds"][-1])),
    "a deed without calls": ("DEED_TWICE", lambda v: next(
        deed for deed in v["deeds"] if deed["kind"] == "calls").pop("calls")),
    "a deed that nobody did": ("DEEDS_DIFFER", lambda v: v["deeds"].append({"kind": "nothing"})),
    "a trial of no deed": ("DEEDS_DIFFER", lambda v: last(v).update(
        trials=last(v)["trials"] + " 99")),
    "one call more": ("CALLS_DIFFER", lambda v: v.update(calls=v["calls"] + 1)),
    "beyond the budget": ("BUDGET_EXCEEDED", lambda v: v.update(budget=v["calls"] - 1)),
    "more runs than planned": ("RUNS_EXCEEDED", lambda v: v.update(runs=v["runs"] - 1)),
    "fewer runs of the unchanged": ("RUNS_EXCEEDED", lambda v: v.update(
        trials=v["trials"][:-2], calls=v["calls"] - 1)),
    "nothing to fix": ("RUNS_UNSTABLE", never),
    "a base rate polished": ("BASE_DIFFERS", lambda v: v["base"].update(low="0.99")),
    "a fresh trial turned": ("VERDICT_DIFFERS", lambda v: first(v).update(
        trials=turned(first(v)["trials"]))),
    "a bound polished": ("VERDICT_DIFFERS", change(first, upper="0.01")),
    "an e-value polished": ("VERDICT_DIFFERS", change(last, e="999")),
    "a verdict turned": ("VERDICT_DIFFERS", change(last, verdict="PASS")),
    "more tolerated": ("VERDICT_DIFFERS", change(whole, tolerance="0.9")),
    "a guess after the fact": ("VERDICT_DIFFERS", lambda v: v["guess"].update(low="0.01")),
    "the weaker first": ("CANDIDATES_DISORDERED", lambda v: v["candidates"].reverse()),
    "another answer": ("STATUS_DIFFERS", change(whole, status="NONE")),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_each_step_refuses_for_its_own_reason(name: str) -> None:
    code, forge = FORGERIES[name]
    value = copy.deepcopy(RECORD)
    forge(value)
    assert judged(value) == (False, code)


def test_a_test_that_ended_by_itself_leaves_nothing_open() -> None:
    value = FORM.to_json(measured(model(), budget=35))
    assert (value["ended"], value["candidates"][-1]["verdict"]) == ("budget", "OPEN")
    assert judged(done(value)) == (False, "VERDICT_OPEN")


def test_an_unchanged_request_that_was_hardly_rerun_says_nothing() -> None:
    value = FORM.to_json(measured(model(), budget=5))
    assert judged(done(value) | {"status": "NONE"}) == (False, "RUNS_FEWER")


def test_a_changed_record_no_longer_has_its_id() -> None:
    value = RECORD | {"target": "tool:hold"}
    assert checker.check(canonical.dumps(value) + b"\n").code == "FIX_ID"
