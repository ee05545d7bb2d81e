"""The numbered procedure by which an ablation record is checked.

 1. Bytes: strict JSON, and exactly the canonical bytes of the value they hold.
 2. Shape and id: an ablation of the format this version knows, named by the digest of the rest.
 3. Form: made by a version of ours; an alpha between 0 and 1; no group of leaves named twice.
 4. Arms: leaves in the one written form, and such as there are; a way where leaves are gone and
    only there; none twice, none without a trial; the unchanged request alone is the base.
 5. Calls: as many as there are trials, within the budget.
 6. Base: the rate and its interval follow from the base's trials.
 7. Claims: none twice, each of leaves that the search had gone; rates, intervals, e-value and
    verdict follow from the trials, with alpha split over all claims; the strongest stands first;
    nothing was confirmed that is no claim.
 8. Requirements: their counts follow from the trials, and no claim is of the same leaves.
 9. Quotes: of leaves that claims and requirements name, in their order.
10. Answer: the status that follows.

Of a failing plan the last four are others (`checker.reduction`).

What no trial shows is what the leaves say and what the target means: whoever holds the subject can
compare its digest. That the trials were made is for a signature to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from agentrunproof.ablation import derivation
from agentrunproof.checker import binding, procedure, reduction
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import ablation as records
from agentrunproof.record.ablation import Ablation, Arm, leaves_runs, leaves_text


def check(data: bytes) -> Judgement:
    """Check the bytes of an ablation record by all steps; the first that does not hold ends it.

    Args:
        data: the content of the record's file.
    """
    id = ""
    try:
        value = procedure.read(data)                                                       # 1
        record = records.FORM.from_json(value)                                             # 2
        id = value["id"]
        _check_form(record)                                                                # 3
        reduction.check_subject(record)
        _check_arms(record)                                                                # 4
        _check_calls(record)                                                               # 5
        arms = derivation.outcomes_by_arm(record.arms)
        if record.base != derivation.base(arms):                                           # 6
            reject("BASE_DIFFERS", "the base rate is not what the trials give")
        if record.subject.kind == "plan":
            reduction.check(record)                                                        # 7-10
        else:
            _check_claims(record, arms)                                                    # 7
            _check_requirements(record, arms)                                              # 8
            _check_quotes(record)                                                          # 9
            _check_answer(record)                                                          # 10
    except AgentRunProofError as problem:
        return refused(problem, id=id)
    return Judgement(valid=True, code="OK", id=id, verdict=record.status)


def _check_form(record: Ablation) -> None:
    binding.check_version(record.producer.version)
    if not 0 < Fraction(record.alpha) < 1:
        reject("ALPHA_RANGE", f"alpha is {record.alpha}, which is no chance of being wrong")
    if len({group.id for group in record.groups}) != len(record.groups):
        reject("GROUP_TWICE", "two groups of leaves have the same id")


def _check_arms(record: Ablation) -> None:
    seen = set()
    count = sum(group.leaves for group in record.groups)
    for arm in record.arms:
        _check_leaves(arm.leaves, count)
        key = (arm.phase, arm.way, arm.leaves)
        if key in seen or not arm.outcomes:
            reject("ARM_TWICE", f"{_words(arm)}: stands twice, or has no trial")
        seen.add(key)
        if (arm.way is None) != (not arm.leaves):
            reject("ARM_WAY", f"{_words(arm)}: leaves and the way they went belong together")
        if {"base": arm.leaves != "", "search": arm.leaves == ""}.get(arm.phase):
            reject("ARM_PHASE", f"{_words(arm)}: the base is the unchanged request, the search "
                   "is everything else")
        if record.deterministic and len(arm.outcomes) > 1:
            reject("ARM_REPEATED", f"{_words(arm)}: a subject that always does the same was "
                   "rerun twice")
    for leaves in (record.reduction.fixed, record.reduction.untried) if record.reduction else ():
        _check_leaves(leaves, count)


def _check_leaves(text: str, count: int) -> None:
    runs = leaves_runs(text)
    ends = [end for run in runs for end in run]
    if ends != sorted(set(ends)) or leaves_text(runs) != text or (ends and ends[-1] > count):
        reject("LEAVES_FORM", f"leaves {text!r} are not in ascending runs of the {count} there are")


def _words(arm: Arm) -> str:
    return f"{arm.phase} without leaves {arm.leaves or 'none'}"


def _check_calls(record: Ablation) -> None:
    trials = sum(len(arm.outcomes) for arm in record.arms)
    if record.calls != trials:
        reject("CALLS_DIFFER", f"the record says {record.calls} calls and lists {trials} trials")
    if trials > record.budget:
        reject("BUDGET_EXCEEDED", f"{trials} trials are more than the budget of {record.budget}")


def _check_claims(record: Ablation, arms: derivation.Arms) -> None:
    named = [claim.leaves for claim in record.claims]
    if len(set(named)) != len(named):
        reject("CLAIM_TWICE", "two claims are of the same leaves")
    searched = {arm.leaves for arm in record.arms if arm.phase == "search"}
    for claim in record.claims:
        check_guess(claim.guess)
        if claim.leaves not in searched:
            reject("CLAIM_UNSEARCHED", f"claim of leaves {claim.leaves}: the search never had "
                   "just these gone")
        again = derivation.claim(arms, claim.leaves, claim.guess, Fraction(record.alpha),
                                 len(named), record.deterministic)
        if claim != again:
            reject("CLAIM_DIFFERS", f"claim of leaves {claim.leaves}: the trials give "
                   f"{again.with_.hits} of {again.with_.runs} with and {again.without.hits} of "
                   f"{again.without.runs} without, e = {again.e}, {again.verdict}")
    if list(record.claims) != sorted(record.claims, key=derivation.strength):
        reject("CLAIMS_DISORDERED", "the strongest claim does not stand first")
    for arm in record.arms:
        if arm.phase == "confirm" and arm.leaves not in ("", *named):
            reject("CONFIRM_UNCLAIMED", f"{_words(arm)}: was confirmed, but is no claim")


def check_guess(guess: records.Guess) -> None:
    """Refuse a guess with which no test can begin."""
    if not 0 < Fraction(guess.low) < Fraction(guess.high) < 1:
        reject("GUESS_RANGE", f"a guess of {guess.high} with and {guess.low} without is none")


def _check_requirements(record: Ablation, arms: derivation.Arms) -> None:
    claimed = {claim.leaves for claim in record.claims}
    for one in record.required:
        again = derivation.requirement(arms, one.leaves, one.reason)
        if one != again or one.leaves in claimed:
            reject("REQUIREMENT_DIFFERS", f"requirement of leaves {one.leaves}: the trials show "
                   f"{again.runs if again else 0} reruns of that kind")


def _check_quotes(record: Ablation) -> None:
    named: set[int] = set()
    for leaves in (*_leaves(record.claims), *_leaves(record.required)):
        _check_leaves(leaves, sum(group.leaves for group in record.groups))
        named |= derivation.leaves_set(leaves)
    quoted = [quote.leaf for quote in record.quotes]
    if quoted != sorted(set(quoted)) or not named.issuperset(quoted):
        reject("QUOTES_DIFFER", "the quotes are not of the leaves that were named, in their order")


def _leaves(items: Iterable[records.Claim] | Sequence[records.Requirement]) -> list[str]:
    return [item.leaves for item in items]


def _check_answer(record: Ablation) -> None:
    answer = derivation.status(record.base, record.claims, record.ended, record.deterministic)
    if record.status != answer:
        reject("STATUS_DIFFERS", f"the answer is called {record.status}, the trials give {answer}")
