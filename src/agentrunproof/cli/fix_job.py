"""What ``fix`` does: find the cause, make candidates, measure them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentrunproof.cli import findings, strength
from agentrunproof.cli.output import Progress
from agentrunproof.errors import AgentRunProofError
from agentrunproof.report.text import wrap

if TYPE_CHECKING:
    from agentrunproof.cli.asking import Chosen
    from agentrunproof.fix.candidates import Candidate
    from agentrunproof.record.ablation import Ablation
    from agentrunproof.record.fix import Change, Fix
    from agentrunproof.rerun.reruns import Reruns

BUDGET = 600


@dataclass(frozen=True)
class Asked:
    """What is tried.

    Args:
        own: the user's own changes, with names.
        only_own: whether nothing else is tried.
        source: whether the cause is looked for.
        finding: the file of a record that names it.
        budget: of model calls.
        strength: how surely a fix is to hold.
    """

    own: list[tuple[str, Change]]
    only_own: bool
    source: bool
    finding: Path | None
    budget: int
    strength: strength.Strength


class Job:
    """The fixes of one decision being measured.

    Args:
        chosen: the recorded call.
        reruns: of it.
        asked: what is tried.
        progress: says how far it is.

    Raises:
        AgentRunProofError: a change cannot be made.
    """

    def __init__(self, chosen: Chosen, reruns: Reruns, asked: Asked, progress: Progress) -> None:
        self.chosen, self.reruns, self.asked = chosen, reruns, asked
        #: What ended the measurement before its time.
        self.problem: BaseException | None = None
        self._finding: Ablation | None = None
        self._progress = progress
        candidates_of(chosen, asked, None)  # what cannot be made is refused before any call

    def run(self) -> None:
        """Find the cause where there is need to, and measure; what is known when it is
        interrupted, or when the model gives no reply, stays.

        Raises:
            AgentRunProofError, KeyboardInterrupt: before anything was measured.
        """
        left = self.asked.budget
        if self.asked.source:
            self._finding, spent = findings.found(
                self.chosen, self.reruns, self.asked.finding, left, self._progress)
            left -= spent
        self._prepare(left)
        try:
            self._measurement.run(self.reruns.fresh)
        except (AgentRunProofError, KeyboardInterrupt) as problem:
            if not self._measurement.calls:
                raise
            self.problem = problem
        finally:
            self._progress.clear()

    def _prepare(self, budget: int) -> None:
        from agentrunproof.ablation import fixing
        from agentrunproof.ablation.explain import ALPHA
        from agentrunproof.fix.measuring import Measurement

        candidates = candidates_of(self.chosen, self.asked, self._finding)
        guess = fixing.guess_of(self._finding.base if self._finding else None)
        wanted = len(candidates) / ALPHA
        certain = self.reruns.model.deterministic
        runs = 1 if certain else self.asked.strength.runs_for(guess, wanted)
        if not certain:
            strength.warn(self.asked.strength, runs)
        self._measurement = Measurement(
            self.chosen.run.body(self.chosen.call), self.chosen.target, candidates,
            fixing.Design(runs, self.asked.strength.tolerance, wanted, guess, certain),
            budget=budget, tell=lambda name, done, runs: self._progress.step(
                f"{name}:", f"{done} of {runs} reruns"))

    def record(self) -> Fix:
        """The record of what was measured."""
        from agentrunproof.ablation.explain import ALPHA
        from agentrunproof.record.ablation import FORM, SubjectLine

        subject = SubjectLine(kind="call", digest=self.reruns.digest,
                              dialect=self.chosen.call.dialect)
        finding = FORM.to_json(self._finding)["id"] if self._finding else None
        return self._measurement.record(subject, alpha=ALPHA, finding=finding)


def candidates_of(chosen: Chosen, asked: Asked, finding: Ablation | None) -> list[Candidate]:
    """What is tried: the user's own first, then the cheapest, nothing twice.

    Raises:
        AgentRunProofError: a change cannot be made.
    """
    from agentrunproof.fix.candidates import Proposals

    proposals = Proposals(chosen.run.body(chosen.call), chosen.call.dialect, chosen.target)
    found = list(proposals.own(asked.own))
    if not asked.only_own:
        found += proposals.rules()
    if finding is not None:
        found += proposals.sources(finding)
    return [one for n, one in enumerate(found)
            if all(one.body != other.body for other in found[:n])]


def plan(chosen: Chosen, asked: Asked) -> Iterator[str]:
    """What would be tried, and how many model calls it would take at most."""
    from agentrunproof.ablation import fixing
    from agentrunproof.ablation.explain import ALPHA
    from agentrunproof.rerun.reruns import digest_of

    body = chosen.run.body(chosen.call)
    finding = findings.known(chosen, asked.finding, digest_of(body)) if asked.source else None
    candidates = candidates_of(chosen, asked, finding)
    runs = asked.strength.runs_for(fixing.guess_of(finding.base if finding else None),
                                   len(candidates) / ALPHA)
    strength.warn(asked.strength, runs)
    yield from wrap(f"{chosen.target.spec} in {chosen}: {runs} fresh reruns of the unchanged "
                    f"request, and at most {runs} of each of these:")
    yield from (f"  {candidate.name}" for candidate in candidates)
    calls = runs * (len(candidates) + 1)
    if asked.source and finding is None:
        yield from wrap("and of the request without the cause, which why would look for first")
        calls += runs
    yield from wrap(f"model calls at most: {min(calls, asked.budget)}, besides those of why; the "
                    f"budget for all is {asked.budget}; a model that always does the same is "
                    "asked once each")
