"""One explanation, from the first rerun to the confirmed claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from agentrunproof.ablation.confirm import Conjecture, confirm, conjectures
from agentrunproof.ablation.derivation import Ended
from agentrunproof.ablation.screen import Screen
from agentrunproof.ablation.search import Search
from agentrunproof.ablation.subject import AblationError, Decision, Edit, Subject, Target
from agentrunproof.ablation.trials import Ask, Step

ALPHA = Fraction(1, 20)
BUDGET = 300
#: The part of the budget, in percent, that is left to the search.
_SEARCH = 72

Reason = Literal["repeat", "asks"]

#: Makes the reruns that are asked for. It may give the decisions one by one.
Answer = Callable[[Ask], Iterable[Decision]]


@dataclass(frozen=True)
class Required:
    """What the decision needs without being caused by it, and what the model did without."""

    leaves: int
    reason: Reason


class Explanation:
    """What is known of why a model decided so; it holds however far the search came.

    Args:
        subject: what is explained.
        target: what is asked about it.
        budget: of calls, at least 1.
        alpha: the chance, at most, that any claim is confirmed wrongly.
        hints: leaves to look at first, whatever says so (the model itself, say), and how
            suspicious each is: 1 is as much as the leaf that shares most words with the decision.

    Raises:
        AblationError: ``BUDGET``, ``SUBJECT_EMPTY``.
    """

    def __init__(self, subject: Subject, target: Target, *, budget: int = BUDGET,
                 alpha: Fraction = ALPHA, hints: Mapping[int, float] | None = None) -> None:
        if budget < 1:
            raise AblationError("BUDGET", f"a budget of {budget} allows no call",
                                "give at least 1")
        if not subject.texts:
            raise AblationError("SUBJECT_EMPTY", "there is no text that could be taken away")
        self.subject, self.target, self.budget, self.alpha = subject, target, budget, alpha
        self.screen = Screen(subject, target, max(1, budget * _SEARCH // 100))
        self.search = Search(subject, target, self.screen, hints or {})
        self.claims: list[Conjecture] = []
        self.required: list[Required] = []
        self.ended: Ended = "stopped"

    def run(self, answer: Answer | None = None) -> None:
        """Search and confirm, until there is an answer or the budget is spent.

        Whatever `answer` raises, an interrupt say, comes through; what was tried by then stays.

        Args:
            answer: makes reruns; without it they are made here, one by one.
        """
        answer = answer or self._one_by_one
        steps = self._steps()
        try:
            ask = next(steps)
            while self.screen.trials.calls + ask.runs <= self.budget:
                ask = steps.send(answer(ask))
        except StopIteration:
            spent = self.search.found.cut_short and not self.claims
            self.ended = "budget" if spent else "done"
        else:
            self.ended = "budget"

    def _one_by_one(self, ask: Ask) -> Iterable[Decision]:
        return (self.subject.rerun(ask.edit) for _ in range(ask.runs))

    def _steps(self) -> Step[None]:
        if not (yield from self.screen.base()):
            return
        found = yield from self.search.run()
        missed = {leaves: self._missed(leaves) for leaves in found.sets}
        causes = [leaves for leaves in found.sets if missed[leaves] is None]
        if not causes:  # then asking, or calling again, is what the model does instead
            causes, missed = found.sets, {}
        self.required = [
            *(Required(item.result, "repeat") for item in self.screen.trials.prerequisites
              if item.result & self.screen.kept),
            *(Required(leaves, reason) for leaves, reason in missed.items() if reason)]
        if causes:
            self.claims = conjectures(self.screen, causes)
            if not self.subject.deterministic:
                yield from confirm(self.screen, self.claims, self.alpha)

    def _missed(self, leaves: int) -> Reason | None:
        """Why the model did something else without these leaves, if it missed them."""
        tally = self.screen.trials.tally("search", Edit(leaves))
        reasons: tuple[Reason, ...] = ("asks", "repeat")
        return next((reason for reason in reasons
                     if 2 * tally.outcomes.count(reason) > tally.misses), None)
