"""The ablation record of an explanation, however far it came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from agentrunproof import __version__
from agentrunproof.ablation import derivation, statistics
from agentrunproof.ablation.explain import Explanation
from agentrunproof.ablation.pieces import mask_of, runs
from agentrunproof.ablation.subject import Edit
from agentrunproof.record.ablation import (
    LETTERS,
    Ablation,
    Arm,
    Claim,
    Group,
    Guess,
    Quote,
    Requirement,
    SubjectLine,
    leaves_runs,
    leaves_text,
)
from agentrunproof.record.document import Program


def record(explanation: Explanation, subject: SubjectLine) -> Ablation:
    """The record of all that was tried, and of what follows.

    Args:
        explanation: finished, or cut short at any point.
        subject: what the explanation is about.
    """
    trials = explanation.screen.trials
    arms = tuple(
        Arm(phase=tally.phase, way=tally.edit.way if tally.edit.leaves else None,
            leaves=written(tally.edit.leaves),
            outcomes="".join(LETTERS[outcome] for outcome in tally.outcomes))
        for tally in trials.tallies.values() if tally.outcomes)
    outcomes = derivation.outcomes_by_arm(arms)
    claims = _claims(explanation, outcomes)
    required = _required(explanation, outcomes)
    base = derivation.base(outcomes)
    return Ablation(
        producer=Program(version=__version__), subject=subject,
        target=_whole(explanation.target.spec),
        decision=_whole(str(explanation.target.recorded)),
        alpha=statistics.decimal(explanation.alpha), budget=explanation.budget,
        deterministic=explanation.subject.deterministic,
        groups=tuple(Group(id=_whole(explanation.subject.group_id(n)), leaves=high - low)
                     for n, (low, high) in enumerate(explanation.subject.groups)),
        arms=arms, calls=trials.calls, base=base, claims=claims, required=required,
        complete=explanation.search.found.complete, ended=explanation.ended,
        status=derivation.status(base, claims, explanation.ended,
                                 explanation.subject.deterministic),
        quotes=_quotes(explanation, [*(one.leaves for one in claims),
                                     *(one.leaves for one in required)]),
        instead=_instead(explanation, claims))


def written(leaves: int) -> str:
    """A set of leaves as it stands in records."""
    return leaves_text(runs(leaves))


def _claims(explanation: Explanation, outcomes: derivation.Arms) -> tuple[Claim, ...]:
    alpha = Fraction(statistics.decimal(explanation.alpha))
    count = len(explanation.claims)
    return tuple(sorted(
        (derivation.claim(
            outcomes, written(one.leaves),
            Guess(high=statistics.decimal(one.guess.high), low=statistics.decimal(one.guess.low),
                  weight=one.guess.weight),
            alpha, count, explanation.subject.deterministic)
         for one in explanation.claims), key=derivation.strength))


def _required(explanation: Explanation, outcomes: derivation.Arms) -> tuple[Requirement, ...]:
    found = (derivation.requirement(outcomes, written(one.leaves), one.reason)
             for one in explanation.required)
    return tuple(one for one in found if one is not None)


def _quotes(explanation: Explanation, named: Iterable[str]) -> tuple[Quote, ...]:
    """Quotes of what was named; of a long run, its first leaves."""
    numbers = sorted({n for leaves in named for low, high in leaves_runs(leaves)
                      for n in range(low, min(high, low + 3))})
    leaves = [(n, explanation.subject.leaf(n)) for n in numbers]
    return tuple(Quote(leaf=n, id=_whole(leaf.id), kind=leaf.kind, place=_whole(leaf.place),
                       text=_whole(leaf.text)) for n, leaf in leaves)


def _whole(text: str) -> str:
    """A text in which no half of a surrogate pair stands: traces hold them, records cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _instead(explanation: Explanation, claims: tuple[Claim, ...]) -> str:
    if not claims:
        return ""
    gone = 0
    for low, high in leaves_runs(claims[0].leaves):
        gone |= mask_of(low, high)
    seen = Counter(_whole(str(decision)) for way in ("filler", *derivation.TURNS)
                   for decision in explanation.screen.trials.instead.get(Edit(gone, way), ()))
    return min(seen, key=lambda words: (-seen[words], words)) if seen else ""
