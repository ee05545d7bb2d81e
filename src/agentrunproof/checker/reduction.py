"""The steps that an ablation record of a failing plan takes besides (see `checker.ablation`).

 a. Subject: a plan has a scenario and a release, a call has neither.
 b. Trials: each a removal that was run once; the good release is asked only where there is one; no
    claims, which are about models.
 c. Smallest: of all trials that fail the same the one with the most leaves gone.
 d. Needed: each of its leaves is needed, fixed or untried; there is a trial without each needed
    one, and it did not fail the same.
 e. Leaves: each is quoted.
 f. Answer: the status that follows.

Which elements of a plan hang on one another, and which leave no plan, only the plan itself tells:
`agentrunproof why` with the plan of the digest gives the same record again.
"""

from __future__ import annotations

from agentrunproof.ablation import reduction as derivation
from agentrunproof.ablation.derivation import leaves_set
from agentrunproof.checker.judgement import reject
from agentrunproof.record.ablation import LETTERS, PLAN_LETTERS, Ablation, Needed, Reduction


def check_subject(record: Ablation) -> None:
    """Step a, for records of either kind."""
    subject = record.subject
    told = (subject.scenario, subject.sdk, subject.good, record.reduction)
    plans = set(PLAN_LETTERS.values()) - set(LETTERS.values())
    if subject.kind == "call" and (told != (None,) * 4 or any(
            plans.intersection(arm.outcomes) for arm in record.arms)):
        reject("SUBJECT_KIND", "a recorded call has no scenario, no release, no smallest plan, and "
               "no outcomes of plans")
    if subject.kind == "plan" and (subject.scenario is None or subject.sdk is None
                                   or subject.dialect):
        reject("SUBJECT_KIND", "a plan has a scenario and a release, and no dialect")


def check(record: Ablation) -> None:
    """Steps b to f; leaves, arms, calls and the base have been checked."""
    _check_trials(record)
    _check_smallest(record)
    if record.reduction is not None:
        for one in record.reduction.needed:
            _check_needed(record, record.reduction, one)
        _check_parts(record, record.reduction)
    if [quote.leaf for quote in record.quotes] != list(range(_count(record))):
        reject("QUOTES_DIFFER", "not each leaf of the plan is quoted, in their order")
    answer = derivation.status(record.reduction, record.ended)
    if record.status != answer:
        reject("STATUS_DIFFERS", f"the answer is called {record.status}, the trials give {answer}")


def _check_trials(record: Ablation) -> None:
    if not record.deterministic or record.claims or record.required or record.instead:
        reject("PLAN_CLAIMS", "a plan always does the same, and nothing is claimed of it")
    for arm in record.arms:
        if arm.phase == "confirm" or arm.way not in (None, "removed"):
            reject("PLAN_WAY", f"without leaves {arm.leaves or 'none'}: parts of a plan are "
                   "removed, and nothing is confirmed")
        if arm.outcomes not in PLAN_LETTERS.values() or (
                arm.outcomes == "c" and record.subject.good is None):
            reject("PLAN_OUTCOME", f"without leaves {arm.leaves or 'none'}: no outcome of a plan "
                   f"is written {arm.outcomes!r} here")
    if len(record.arms) > 1 and not record.base.hits:
        reject("PLAN_NO_FAILURE", "the whole plan does not fail, so there is nothing to reduce")


def _check_smallest(record: Ablation) -> None:
    found = record.reduction.gone if record.reduction is not None else None
    smallest = derivation.smallest(record.arms)
    if found != smallest:
        reject("SMALLEST_DIFFERS", f"the smallest plan lacks leaves {found!r}, the trials give "
               f"{smallest!r}")


def _check_needed(record: Ablation, reduction: Reduction, one: Needed) -> None:
    arm = derivation.without(record.arms, reduction.gone, one.leaf)
    if arm is None or arm.leaves != one.leaves or arm.outcomes == "h":
        reject("NEEDED_DIFFERS", f"leaf {one.leaf}: no trial shows that it is needed")
    elif (arm.outcomes == "o") != bool(one.instead):
        reject("NEEDED_WORDS", f"leaf {one.leaf}: what happened is said in words exactly where "
               "no letter says it")


def _check_parts(record: Ablation, reduction: Reduction) -> None:
    """Each leaf is gone or one of the three things, and none of them is two."""
    needed = [one.leaf for one in reduction.needed]
    told = [*needed, *(leaf for leaves in (reduction.gone, reduction.fixed, reduction.untried)
                       for leaf in leaves_set(leaves))]
    if sorted(told) != list(range(_count(record))) or needed != sorted(needed):
        reject("LEAVES_UNTOLD", "not each leaf is gone, needed, fixed or untried, and one of them "
               "only")
    if record.complete != (not reduction.untried) or (
            record.ended == "done" and reduction.untried):
        reject("COMPLETE_DIFFERS", "the search is complete when no leaf is untried")


def _count(record: Ablation) -> int:
    return sum(group.leaves for group in record.groups)
