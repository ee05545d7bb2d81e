"""Whether smaller plans fail as the whole one does: all of them run by a worker that is kept.

A plan that was made smaller can fail in the same words for another reason: because it asks for
what its own script does not do any more. So no check may fail that did not fail before; a release
on which the whole plan passes that check, if there is one, must pass it of the smaller one too, and
fail in no other that the whole plan passes there; and where there is none, what
`execution_outcome` found must be found word for word.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import repeat

from agentrunproof import canonical
from agentrunproof.errors import PlanError
from agentrunproof.lab import probe, process
from agentrunproof.lab.environments import Environment
from agentrunproof.plan.model import Plan
from agentrunproof.record.ablation import PLAN_LETTERS
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.result import CheckResult
from agentrunproof.why.smallest import SAME, Outcome, OutOfBudget

#: Of a check that judges by what the plan itself expects.
_BY_EXPECTATION = "execution_outcome"

#: Checks that say least of what went wrong, the last one least.
_LEAST = ("stream_parity", "model_script_consumed", _BY_EXPECTATION)


#: Verdicts of plans that could be run.
_JUDGED = ("PASS", "FAIL")


@dataclass(frozen=True)
class Failure:
    """The failure that is looked into, and every check that failed with it."""

    result: CheckResult
    besides: frozenset[str]

    @property
    def check(self) -> str:
        return self.result.check

    @property
    def code(self) -> str:
        return self.result.code


class Bench:
    """One environment whose worker is kept between plans; it runs them beside other work.

    Args:
        environment: has the release.
        options: how plans are run.
    """

    def __init__(self, environment: Environment, options: probe.Options) -> None:
        self.environment, self._options = environment, options
        self._worker = process.Worker(environment.python)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def run(self, plans: Mapping[str, Plan]) -> Iterator[probe.Outcome]:
        """An outcome for each plan, in order, as it is there."""
        done: queue.SimpleQueue[probe.Outcome | BaseException] = queue.SimpleQueue()

        def loop() -> None:
            try:
                with closing(probe.probe_in(self.environment, plans, self._options,
                                            workers=[self._worker])) as outcomes:
                    for outcome in outcomes:
                        done.put(outcome)
                        if self._over.is_set():
                            return
            except BaseException as error:  # told where it is waited for
                done.put(error)

        self._thread = threading.Thread(target=loop, daemon=True)
        self._thread.start()
        return map(_outcome, (done.get() for _ in plans))

    def close(self) -> None:
        """End the worker, at the latest when it is done with the plan that it runs."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(float(self._options.deadline))
        self._worker.close()


def _outcome(found: probe.Outcome | BaseException) -> probe.Outcome:
    if isinstance(found, BaseException):
        raise found
    return found


@dataclass
class Court:
    """Judges plans on one release, and on a control.

    Args:
        bench: has the release on which the plan fails.
        failure: what must fail again.
        budget: of plans judged.
        control: has a release on which the whole plan passes the check, if one is known.
        passed: the certificate of the whole plan there.
        tell: told how many plans were judged.
    """

    bench: Bench
    failure: Failure
    budget: int
    control: Bench | None = None
    passed: Certificate | None = None
    tell: Callable[[int], None] = lambda _: None
    spent: int = field(default=1, init=False)  # the whole plan
    #: of plans that fail the same: their certificates, on the release and on the control
    seen: dict[str, tuple[Certificate, Certificate | None]] = field(
        default_factory=dict, init=False)

    def __call__(self, plans: Sequence[Plan]) -> Iterator[Outcome]:
        """What becomes of each plan (see `why.smallest.Oracle`).

        Raises:
            OutOfBudget: no more plans may be run.
        """
        ready = {f"candidate-{n}": plan
                 for n, plan in enumerate(plans[:max(0, self.budget - self.spent)])}
        controls = self.control.run(ready) if self.control is not None else repeat(None)
        for plan, found, good in zip(ready.values(), self.bench.run(ready), controls,
                                     strict=False):
            self.spent += 1
            self.tell(self.spent)
            outcome = self._compare(found)
            if outcome == SAME and good is not None and not self._good(good):
                outcome = Outcome(PLAN_LETTERS["control"])
            if outcome == SAME and found.certificate is not None:
                self.seen[canonical.digest(plan.to_json())] = (
                    found.certificate, good.certificate if good is not None else None)
            yield outcome
        if len(ready) < len(plans):
            raise OutOfBudget

    def _good(self, found: probe.Outcome) -> bool:
        """Whether a plan fails nothing on the control that the whole plan passes there."""
        assert self.passed is not None
        return found.certificate is not None and found.certificate.verdict in _JUDGED \
            and failures(found.certificate).keys() <= failures(self.passed).keys()

    def _compare(self, found: probe.Outcome) -> Outcome:
        if found.certificate is None:
            return _other(f"cannot be run: {found.error}")
        outcome = compared(found.certificate, self.failure.check, self.failure.code)
        if outcome != SAME:
            return outcome
        failed = failures(found.certificate)
        new = [f"{one.check} {one.code}" for one in failed.values()
               if one.check not in self.failure.besides]
        if new:
            return _other(f"fails {new[0]} besides")
        detail = failed[self.failure.check].detail
        if self.control is None and self.failure.check == _BY_EXPECTATION \
                and detail != self.failure.result.detail:
            return _other(f"fails in another way: {detail}")
        return SAME


def _other(instead: str) -> Outcome:
    return Outcome(PLAN_LETTERS["other"], instead)


def compared(seen: Certificate, check: str, code: str) -> Outcome:
    """Whether a plan fails in this check with this code, whatever fails besides."""
    failed = failures(seen)
    found = failed.get(check)
    if found is not None and found.code == code:
        return SAME
    other = found or next(iter(failed.values()), None)
    if other is None and seen.verdict == "PASS":
        return Outcome(PLAN_LETTERS["passes"])
    return _other(f"fails {other.check} {other.code} instead" if other else f"is {seen.verdict}")


def failures(certificate: Certificate) -> dict[str, CheckResult]:
    """The failed checks of a certificate, by name."""
    return {one.check: one for one in certificate.checks if one.verdict == "FAIL"}


def failure_of(certificate: Certificate, check: str | None) -> Failure:
    """The failure of a certificate to look into: that of `check`, or the first.

    What hangs on the plan's own expectations and scripts says least, so it comes last.

    Raises:
        PlanError: ``WHY_NO_FAILURE``, nothing failed, or that check didn't.
    """
    failed = failures(certificate)
    release = certificate.producer.sdk.version
    if not failed or (check is not None and check not in failed):
        what = f"check {check} of {certificate.scenario}" if check and failed \
            else certificate.scenario
        hint = "failed: " + ", ".join(failed) if failed else \
            "name a release on which it fails, with --sdk"
        raise PlanError("WHY_NO_FAILURE", f"{what} does not fail on openai-agents {release}", hint)
    chosen = check or max(failed, key=lambda name: -_LEAST.index(name) if name in _LEAST else 1)
    return Failure(failed[chosen], frozenset(failed))


def passes(seen: Certificate, check: str) -> bool:
    """Whether a plan passes a check, whatever else fails."""
    return seen.verdict in _JUDGED and check not in failures(seen)


def not_good(release: str, seen: Certificate, check: str) -> PlanError:
    """The error for a release that was said to pass and does not."""
    found = f"fails {check}" if seen.verdict in _JUDGED else f"is {seen.verdict}"
    return PlanError("WHY_CONTROL", f"--good {release}: the plan {found} there",
                     "name a release on which it passes, or leave --good out")
