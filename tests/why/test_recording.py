"""Records of failing plans: what they say, and that the checker refuses what does not follow."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.checker import ablation as checker
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan
from agentrunproof.record.ablation import FORM, Ablation, SubjectLine
from agentrunproof.record.document import id_of
from agentrunproof.report import reduction
from agentrunproof.why import recording
from agentrunproof.why.elements import Whole
from agentrunproof.why.smallest import SAME, Outcome, OutOfBudget, Search
from agentrunproof.why.subject import FailingPlan

ID = "session-limit-orphan-output"
CERTIFICATE = "sha256:" + "0" * 64


def limited(plan: Plan) -> Outcome:
    """Fails where the session has a limit and the tool is called; without the first phase it
    fails otherwise, and without expectations in the second one on the good release too."""
    if "first" not in {phase.id for phase in plan.phases}:
        return Outcome("o", "fails stream_parity OUTCOMES_DIFFER instead")
    if not plan.session or plan.session.limit is None or not plan.tools:
        return Outcome("p")
    return SAME if plan.phases[-1].expect.session is not None else Outcome("c")


def recorded(judge: Callable[[Plan], Outcome] = limited, budget: int = 500) -> Ablation:
    whole = Whole(catalog.load(ID))
    subject = FailingPlan(whole, "tool_linkage", "ORPHAN_OUTPUT", lambda _: ())
    line = SubjectLine(kind="plan", digest=canonical.digest(whole.plan.to_json()), scenario=ID,
                       sdk="0.19.4", good="0.20.0")
    spent = 1

    def oracle(plans: Sequence[Plan]) -> Iterable[Outcome]:
        nonlocal spent
        for plan in plans:
            if spent == budget:
                raise OutOfBudget
            spent += 1
            yield judge(plan)

    base = judge(whole.plan)
    found = Search(whole, oracle).run() if base == SAME else None
    return recording.record(subject, line, "run/second: an output alone", base, budget, found,
                            CERTIFICATE)


def judged(value: dict[str, Any]) -> tuple[bool, str]:
    judgement = checker.check(canonical.dumps(value | {"id": id_of(value)}) + b"\n")
    return judgement.valid, judgement.code


RECORD = FORM.to_json(recorded())
NAMES = [quote["id"] for quote in RECORD["quotes"]]


def test_a_record_says_what_is_needed_and_what_is_not() -> None:
    assert judged(RECORD) == (True, "OK")
    assert RECORD["status"] == "CAUSE"
    assert RECORD["complete"] is True
    needed = {NAMES[one["leaf"]]: one.get("instead") for one in RECORD["reduction"]["needed"]}
    assert {"session.limit", "tools.lookup", "phases.second.expect.session"} <= set(needed)
    assert needed["phases.first"] == "fails stream_parity OUTCOMES_DIFFER instead"
    assert needed["session.limit"] is None
    assert RECORD["calls"] == len(RECORD["arms"])


def test_a_plan_that_does_not_fail_again_has_no_smallest() -> None:
    value = FORM.to_json(recorded(lambda _: Outcome("p")))
    assert judged(value) == (True, "OK")
    assert value["status"] == "UNSTABLE"
    assert "reduction" not in value
    assert "run again, the plan passes" in "\n".join(reduction.lines(FORM.from_json(value)))


@pytest.mark.parametrize(("budget", "status"), [(1, "BUDGET"), (2, "BUDGET"), (12, "CAUSE")])
def test_a_budget_that_runs_out_leaves_a_valid_record(budget: int, status: str) -> None:
    value = FORM.to_json(recorded(budget=budget))
    assert judged(value) == (True, "OK")
    assert (value["ended"], value["status"]) == ("budget", status)
    assert value["calls"] == budget
    assert "complete" not in value


def test_an_interrupted_search_leaves_a_valid_record() -> None:
    seen: list[Plan] = []

    def stop_at_nine(plan: Plan) -> Outcome:
        seen.append(plan)
        if len(seen) == 9:
            raise KeyboardInterrupt
        return limited(plan)

    value = FORM.to_json(recorded(stop_at_nine))
    assert judged(value) == (True, "OK")
    assert value["ended"] == "stopped"
    assert value["calls"] == 8


def test_the_report_fits_80_columns_and_names_what_is_needed() -> None:
    told = reduction.lines(FORM.from_json(RECORD))
    assert max(map(len, told)) <= 80
    text = " ".join(" ".join(told).split())
    assert "tool_linkage ORPHAN_OUTPUT on openai-agents 0.19.4" in text
    assert "session.limit (option): 2 without it: passes" in text
    assert "did not matter" in text
    assert "each smaller plan passes on 0.20.0" in text


def arms(value: dict[str, Any], letter: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        arm for arm in value["arms"] if arm["phase"] == "search" and arm["outcomes"] == letter]
    return found


def smallest(value: dict[str, Any]) -> dict[str, Any]:
    return next(arm for arm in arms(value, "h")
                if arm["leaves"] == value["reduction"]["gone"])


def needed(value: dict[str, Any], letter: str) -> dict[str, Any]:
    """The first needed leaf whose trial ended so."""
    ends = {arm["leaves"]: arm["outcomes"] for arm in arms(value, letter)}
    found: dict[str, Any] = next(one for one in value["reduction"]["needed"]
                                 if one["leaves"] in ends)
    return found


def without_release(value: dict[str, Any]) -> None:
    del value["subject"]["sdk"]


def as_a_call(value: dict[str, Any]) -> None:
    value["subject"]["kind"] = "call"


def with_a_dialect(value: dict[str, Any]) -> None:
    value["subject"]["dialect"] = "openai.chat"


def sampled(value: dict[str, Any]) -> None:
    del value["deterministic"]


def with_filler(value: dict[str, Any]) -> None:
    arms(value, "p")[0]["way"] = "filler"


def an_outcome_of_calls(value: dict[str, Any]) -> None:
    arms(value, "p")[0]["outcomes"] = "a"


def a_control_that_was_not(value: dict[str, Any]) -> None:
    del value["subject"]["good"]


def a_base_that_passes(value: dict[str, Any]) -> None:
    value["arms"][0]["outcomes"] = "p"
    value["base"] |= {"hits": 0, "low": "0", "high": "0.975"}


def a_smaller_one_that_fails(value: dict[str, Any]) -> None:
    leaves = needed(value, "p")["leaves"]
    next(arm for arm in arms(value, "p") if arm["leaves"] == leaves)["outcomes"] = "h"


def a_smallest_that_passes(value: dict[str, Any]) -> None:
    smallest(value)["outcomes"] = "p"


def no_smallest(value: dict[str, Any]) -> None:
    del value["reduction"]


def another_trial(value: dict[str, Any]) -> None:
    value["reduction"]["needed"][0]["leaves"] = value["reduction"]["needed"][-1]["leaves"]


def no_trial_without_it(value: dict[str, Any]) -> None:
    one = needed(value, "p")
    lost = [arm for arm in value["arms"] if arm.get("leaves") == one["leaves"]]
    value["arms"].remove(lost[0])
    value["calls"] -= 1


def words_for_what_passes(value: dict[str, Any]) -> None:
    needed(value, "p")["instead"] = "fails otherwise"


def no_words(value: dict[str, Any]) -> None:
    del needed(value, "o")["instead"]


def a_needed_leaf_untold(value: dict[str, Any]) -> None:
    value["reduction"]["needed"].pop()


def a_needed_leaf_twice(value: dict[str, Any]) -> None:
    value["reduction"]["needed"].append(value["reduction"]["needed"][0])


def a_leaf_fixed_and_needed(value: dict[str, Any]) -> None:
    value["reduction"]["fixed"] = str(value["reduction"]["needed"][0]["leaf"])


def leaves_out_of_form(value: dict[str, Any]) -> None:
    value["reduction"]["fixed"] = "0 0"


def untried_at_the_end(value: dict[str, Any]) -> None:
    last = value["reduction"]["needed"].pop()
    value["reduction"]["untried"] = str(last["leaf"])
    del value["complete"]


def incomplete(value: dict[str, Any]) -> None:
    del value["complete"]


def a_quote_less(value: dict[str, Any]) -> None:
    value["quotes"].pop()


def another_answer(value: dict[str, Any]) -> None:
    value["status"] = "NONE"


@pytest.mark.parametrize(("change", "code"), [
    (without_release, "SUBJECT_KIND"), (as_a_call, "SUBJECT_KIND"),
    (with_a_dialect, "SUBJECT_KIND"), (sampled, "PLAN_CLAIMS"), (with_filler, "PLAN_WAY"),
    (an_outcome_of_calls, "PLAN_OUTCOME"), (a_control_that_was_not, "PLAN_OUTCOME"),
    (a_base_that_passes, "PLAN_NO_FAILURE"), (a_smaller_one_that_fails, "SMALLEST_DIFFERS"),
    (a_smallest_that_passes, "SMALLEST_DIFFERS"), (no_smallest, "SMALLEST_DIFFERS"),
    (another_trial, "NEEDED_DIFFERS"), (no_trial_without_it, "NEEDED_DIFFERS"),
    (words_for_what_passes, "NEEDED_WORDS"), (no_words, "NEEDED_WORDS"),
    (a_needed_leaf_untold, "LEAVES_UNTOLD"), (a_needed_leaf_twice, "LEAVES_UNTOLD"),
    (a_leaf_fixed_and_needed, "LEAVES_UNTOLD"), (leaves_out_of_form, "LEAVES_FORM"),
    (untried_at_the_end, "COMPLETE_DIFFERS"), (incomplete, "COMPLETE_DIFFERS"),
    (a_quote_less, "QUOTES_DIFFER"), (another_answer, "STATUS_DIFFERS")])
def test_each_rule_refuses_for_its_own_reason(
        change: Callable[[dict[str, Any]], None], code: str) -> None:
    value = copy.deepcopy(RECORD)
    change(value)
    assert judged(value) == (False, code)
