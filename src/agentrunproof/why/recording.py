"""The ablation record of a failing plan, however far its reduction came."""

from __future__ import annotations

from fractions import Fraction

from agentrunproof import __version__, canonical
from agentrunproof.ablation import derivation, reduction, statistics
from agentrunproof.ablation.derivation import Ended
from agentrunproof.ablation.explain import ALPHA
from agentrunproof.record.ablation import (
    Ablation,
    Arm,
    Group,
    Needed,
    Quote,
    Reduction,
    SubjectLine,
)
from agentrunproof.record.document import Program
from agentrunproof.why.smallest import Outcome, Smallest
from agentrunproof.why.subject import FailingPlan


def record(subject: FailingPlan, line: SubjectLine, words: str, base: Outcome, budget: int,
           smallest: Smallest | None, certificate: str) -> Ablation:
    """The record of all that was tried, and of what follows.

    Args:
        subject: the plan.
        line: what is said of it.
        words: how it fails.
        base: what became of the whole plan.
        budget: of plans judged.
        smallest: what the search came to, if the plan fails at all.
        certificate: id of the smallest plan's.
    """
    everything = frozenset(one.id for one in subject.whole.elements)
    trials = smallest.trials if smallest is not None else ()
    arms = (Arm(phase="base", outcomes=base.letter),
            *(Arm(phase="search", way="removed",
                  leaves=subject.leaves(everything - trial.reduced.left),
                  outcomes=trial.outcome.letter) for trial in trials))
    reduced = _reduction(subject, arms, smallest, certificate) if smallest is not None else None
    ended: Ended = smallest.ended if smallest is not None else "done"
    leaves = [subject.leaf(n) for n in range(len(subject.texts))]
    return Ablation(
        producer=Program(version=__version__), subject=line, target=subject.target,
        decision=words, alpha=statistics.decimal(Fraction(ALPHA)), budget=budget,
        deterministic=True,
        groups=tuple(Group(id=subject.group_id(n), leaves=high - low)
                     for n, (low, high) in enumerate(subject.groups)),
        arms=arms, calls=len(arms), base=derivation.base(derivation.outcomes_by_arm(arms)),
        complete=reduced is not None and not reduced.untried, ended=ended,
        status=reduction.status(reduced, ended),
        quotes=tuple(Quote(leaf=n, id=leaf.id, kind=leaf.place,
                           place=subject.group_id(leaf.group), text=leaf.text)
                     for n, leaf in enumerate(leaves)),
        reduction=reduced)


def _reduction(subject: FailingPlan, arms: tuple[Arm, ...], found: Smallest,
               certificate: str) -> Reduction:
    gone = subject.leaves(found.gone)
    needed = []
    for id, outcome in found.needed.items():
        leaf = subject.number(id)
        arm = reduction.without(arms, gone, leaf)
        assert arm is not None, "each needed element was taken away alone"
        needed.append(Needed(leaf=leaf, leaves=arm.leaves, instead=outcome.instead))
    told = {*found.needed, *found.fixed}
    return Reduction(
        gone=gone, plan=canonical.digest(found.reduced.plan.to_json()),
        certificate=certificate, needed=tuple(needed),
        fixed=subject.leaves(found.fixed),
        untried=subject.leaves(found.reduced.left - told))
