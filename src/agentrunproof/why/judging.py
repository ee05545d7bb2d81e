"""Whether smaller plans fail as the whole one does: many of them run by one worker process.

A plan that was made smaller can fail in the same words for another reason: because it asks for
what its own script does not do any more. So no check may fail that did not fail before; a release
on which the whole plan passes, if there is one, must pass the smaller one too; and where there is
none, what `execution_outcome` found must be found word for word.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from agentrunproof.errors import PlanError
from agentrunproof.lab import probe
from agentrunproof.lab.environments import Environment
from agentrunproof.plan.model import Plan
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.result import CheckResult
from agentrunproof.why.smallest import SAME, OutOfBudget

#: Of a check that judges by what the plan itself expects.
_BY_EXPECTATION = "execution_outcome"

#: Checks that say least of what went wrong, the last one least.
_LEAST = ("stream_parity", "model_script_consumed", _BY_EXPECTATION)


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


class _Beside:
    """Runs the same plans on the control at the same time, for workers start slowly."""

    def __init__(self, environment: Environment | None, plans: Mapping[str, Plan],
                 options: probe.Options) -> None:
        self._done: queue.SimpleQueue[probe.Outcome | Exception] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._asked = environment is not None and bool(plans)
        if environment is not None and plans:
            threading.Thread(target=self._run, args=(environment, plans, options),
                             daemon=True).start()

    def _run(self, environment: Environment, plans: Mapping[str, Plan],
             options: probe.Options) -> None:
        try:
            for outcome in probe.probe_in(environment, plans, options):
                self._done.put(outcome)
                if self._stop.is_set():
                    return
        except Exception as error:  # told where it is waited for
            self._done.put(error)

    def next(self) -> probe.Outcome | None:
        """The next outcome; None without a control."""
        if not self._asked:
            return None
        outcome = self._done.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def __enter__(self) -> _Beside:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()


@dataclass
class Court:
    """Judges plans on one release, and on a control that passes.

    Args:
        environment: has the release on which the plan fails.
        failure: what must fail again.
        options: how plans are run.
        budget: of plans run, on either release.
        control: has a release on which the whole plan passes, if one is known.
        tell: told of every plan that was run.
    """

    environment: Environment
    failure: Failure
    options: probe.Options
    budget: int
    control: Environment | None = None
    tell: Callable[[int], None] = lambda _: None
    spent: int = field(default=0, init=False)
    #: of plans that fail the same: their certificates, on the release and on the control
    seen: dict[str, tuple[Certificate, Certificate | None]] = field(
        default_factory=dict, init=False)

    def __call__(self, plans: Mapping[str, Plan]) -> Iterator[tuple[str, str]]:
        """What becomes of each plan (see `why.smallest.Oracle`).

        Raises:
            OutOfBudget: no more plans may be run.
        """
        each = 1 if self.control is None else 2
        digests = list(plans)[:max(0, (self.budget - self.spent) // each)]
        ready = {f"candidate-{n}": plans[digest] for n, digest in enumerate(digests)}
        with _Beside(self.control, ready, self.options) as beside:
            outcomes = probe.probe_in(self.environment, ready, self.options) if ready else ()
            for digest, outcome in zip(digests, outcomes, strict=True):
                good = beside.next()
                self.spent += each
                self.tell(self.spent)
                told = self._compare(outcome)
                if told == SAME and good is not None and good.verdict != "PASS":
                    told = f"fails the same, but is {good.verdict} on the control too"
                if told == SAME and outcome.certificate is not None:
                    self.seen[digest] = (outcome.certificate,
                                         good.certificate if good is not None else None)
                yield digest, told
        if len(digests) < len(plans):
            raise OutOfBudget

    def _compare(self, outcome: probe.Outcome) -> str:
        if outcome.certificate is None:
            return f"cannot be run: {outcome.error}"
        failed = failures(outcome.certificate)
        found = failed.get(self.failure.check)
        if found is None or found.code != self.failure.code:
            other = found or next(iter(failed.values()), None)
            return f"fails {other.check} {other.code} instead" if other else \
                {"PASS": "passes"}.get(outcome.verdict, f"is {outcome.verdict}")
        new = [f"{one.check} {one.code}" for one in failed.values()
               if one.check not in self.failure.besides]
        if new:
            return f"fails {new[0]} besides"
        if self.control is None and found.check == _BY_EXPECTATION \
                and found.detail != self.failure.result.detail:
            return f"fails in another way: {found.detail}"
        return SAME


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


def run_one(environment: Environment, id: str, plan: Plan, options: probe.Options) -> Certificate:
    """The certificate of one plan.

    Raises:
        AgentRunProofError: it could not be run.
    """
    (outcome,) = probe.probe_in(environment, {id: plan}, options)
    if outcome.certificate is None:
        assert outcome.error is not None
        raise outcome.error
    return outcome.certificate


def not_good(release: str, seen: Certificate) -> PlanError:
    """The error for a release that was said to pass and does not."""
    return PlanError("WHY_CONTROL", f"--good {release}: the plan is {seen.verdict} there",
                     "name a release on which it passes, or leave --good out")
