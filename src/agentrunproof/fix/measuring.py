"""Measuring fixes: fresh reruns of the unchanged request and of each changed one, by turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from agentrunproof import __version__
from agentrunproof.ablation import derivation, fixing, statistics
from agentrunproof.ablation.derivation import Ended
from agentrunproof.ablation.dialects import Body
from agentrunproof.ablation.fixing import Design
from agentrunproof.ablation.subject import Decision, Target
from agentrunproof.fix.candidates import Candidate
from agentrunproof.record import fix as records
from agentrunproof.record.ablation import Guess, SubjectLine
from agentrunproof.record.document import Program
from agentrunproof.record.fix import Deed, Fix
from agentrunproof.rerun.reruns import digest_of

#: Makes so many fresh reruns of a request body.
Fresh = Callable[[Body, int], Iterable[Decision]]
#: Told of each rerun: what was rerun, how many of how many there are.
Tell = Callable[[str, int, int], None]


class Measurement:
    """The reruns of one decision's fixes; what is known holds however far they came.

    Args:
        body: the unchanged request.
        target: what is to be fixed.
        candidates: in the order in which they are measured, at least one.
        design: of their tests.
        budget: of reruns.
        tell: told of each rerun.
    """

    def __init__(self, body: Body, target: Target, candidates: Sequence[Candidate],
                 design: Design, *, budget: int,
                 tell: Tell = lambda name, done, runs: None) -> None:
        self.body, self.target, self.candidates = body, target, candidates
        self.design, self.budget = design, budget
        self.deeds: list[Deed] = []
        self.base: list[int] = []
        self.trials: list[list[int]] = [[] for _ in candidates]
        self.ended: Ended = "stopped"
        self._numbers: dict[tuple[str, str], int] = {}
        self._tell = tell

    @property
    def calls(self) -> int:
        """Reruns made."""
        return len(self.base) + sum(map(len, self.trials))

    def run(self, fresh: Fresh) -> None:
        """Rerun until each candidate has its verdict or the budget is spent. Whatever `fresh`
        raises, an interrupt say, comes through; what was measured by then stays."""
        whole = self._base(fresh, self.design.looks[0])
        if any(self._hits(self.base)):
            for n in range(len(self.candidates)):
                whole = whole and self._measure(fresh, n)
        self.ended = "done" if whole else "budget"

    def _measure(self, fresh: Fresh, n: int) -> bool:
        """Measure one candidate; whether the budget sufficed."""
        trials, candidate = self.trials[n], self.candidates[n]
        for look in self.design.looks:
            if not self._base(fresh, look):
                return False
            if not self._rerun(fresh, candidate.name, candidate.body, trials, look):
                return False
            if fixing.given_up(self.design, self._hits(self.base), self._hits(trials)):
                break
        return True

    def _base(self, fresh: Fresh, runs: int) -> bool:
        return self._rerun(fresh, "the unchanged request", self.body, self.base, runs)

    def _rerun(self, fresh: Fresh, name: str, body: Body, trials: list[int], runs: int) -> bool:
        """Bring trials to so many; whether the budget sufficed."""
        wanted = runs - len(trials)
        allowed = min(wanted, self.budget - self.calls)
        if allowed > 0:
            for decision in fresh(body, allowed):
                trials.append(self._number(decision))
                self._tell(name, len(trials), self.design.runs)
        return allowed == wanted or wanted <= 0

    def _number(self, decision: Decision) -> int:
        deed = fixing.deed_of(decision, self.target.met(decision))
        key = (deed.kind, deed.calls)
        if key not in self._numbers:
            self._numbers[key] = len(self.deeds)
            self.deeds.append(deed)
        return self._numbers[key]

    def _hits(self, trials: list[int]) -> list[bool]:
        return [self.deeds[n].kind == "hit" for n in trials]

    def record(self, subject: SubjectLine, *, alpha: Fraction, finding: str | None) -> Fix:
        """The record of all that was measured, and of what follows."""
        design, guess = self.design, self.design.guess
        base = self._hits(self.base)
        rows = [self._row(n, base) for n in range(len(self.candidates))]
        rate = derivation.rate("".join("h" if hit else "o" for hit in base))
        return Fix(
            producer=Program(version=__version__), subject=subject,
            target=self.target.spec, decision=str(self.target.recorded), finding=finding,
            alpha=statistics.decimal(alpha), tolerance=statistics.decimal(design.tolerance),
            runs=design.runs, budget=self.budget, deterministic=design.deterministic,
            guess=Guess(high=statistics.decimal(guess.high), low=statistics.decimal(guess.low),
                        weight=guess.weight),
            deeds=tuple(self.deeds), trials=_written(self.base), base=rate,
            candidates=tuple(sorted(rows, key=fixing.strength)), calls=self.calls,
            ended=self.ended, status=fixing.status(rate, rows, self.ended))

    def _row(self, n: int, base: list[bool]) -> records.Candidate:
        candidate, trials = self.candidates[n], self.trials[n]
        found = fixing.outcome(self.design, base, self._hits(trials))
        return records.Candidate(
            name=candidate.name, kind=candidate.kind, change=candidate.change,
            request=digest_of(candidate.body), trials=_written(trials), rate=found.rate,
            upper=found.upper, e=found.e, verdict=found.verdict)


def _written(trials: Iterable[int]) -> str:
    return " ".join(map(str, trials))
