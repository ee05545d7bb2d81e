"""What follows from the trials of a failing plan: the smallest one, what it needs, the answer."""

from __future__ import annotations

from collections.abc import Iterable

from agentrunproof.ablation.derivation import Ended, leaves_set
from agentrunproof.record.ablation import Arm, Leaves, Reduction, Status

#: What a trial's letter says; of the others a record says it in words.
WORDS = {"h": "fails the same", "p": "passes",
         "c": "fails the same, but fails on the good release too"}


def smallest(arms: Iterable[Arm]) -> Leaves | None:
    """The leaves that are gone in the smallest plan that fails the same; the first of equals.

    Returns:
        None if the whole plan does not fail, nor any smaller one.
    """
    failing = [arm.leaves for arm in arms if arm.outcomes == "h"]
    return max(failing, key=lambda leaves: len(leaves_set(leaves)), default=None)


def without(arms: Iterable[Arm], gone: Leaves, leaf: int) -> Arm | None:
    """The trial that tells whether a leaf of the smallest plan is needed.

    Of those in which it was gone too it is the one in which the least else was.

    Args:
        arms: all trials.
        gone: the leaves that the smallest plan does not have.
        leaf: one that it has.
    """
    lacking = leaves_set(gone) | {leaf}
    held = [arm for arm in arms if lacking <= leaves_set(arm.leaves)]
    return min(held, key=lambda arm: len(leaves_set(arm.leaves)), default=None)


def status(reduction: Reduction | None, ended: Ended) -> Status:
    """The answer: there is a cause if something could go, or it was seen that nothing can."""
    if reduction is not None and (reduction.gone or ended == "done"):
        return "CAUSE"
    if ended == "stopped":
        return "STOPPED"
    return "BUDGET" if ended == "budget" else "UNSTABLE"
