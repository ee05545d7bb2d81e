"""Why a plan fails: the smallest plan that still does, its record, and a standalone script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.contracts import registry
from agentrunproof.errors import AgentRunProofError
from agentrunproof.lab import environments, probe
from agentrunproof.lab.environments import Environment
from agentrunproof.plan.model import Plan
from agentrunproof.record import ablation, certificate
from agentrunproof.record.ablation import Ablation, SubjectLine
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.result import CheckResult
from agentrunproof.why import facts, judging, recording, reproducer, running, writable
from agentrunproof.why.elements import Whole
from agentrunproof.why.judging import Bench, Court
from agentrunproof.why.smallest import SAME, Outcome, Search, Smallest
from agentrunproof.why.subject import FailingPlan

#: Plans judged at most, unless told otherwise.
BUDGET = 1000

#: What a smaller plan is called: a packaged one's name would be a borrowed one.
SUFFIX = "-smallest"


@dataclass(frozen=True)
class Question:
    """What is asked.

    Args:
        id: scenario id of the plan.
        plan: it fails on the release in question.
        failed: how it failed according to its certificate, if there is one.
        check: the check to look into; the first that failed without it.
        sdk: the release; None for the installed one.
        python: Python of its environment; the running one without it.
        good: a release on which the plan passes; without it the installed one, if it does.
        budget: of plans judged, the whole one among them.
        options: how plans are run.
    """

    id: str
    plan: Plan
    failed: CheckResult | None = None
    check: str | None = None
    sdk: str | None = None
    python: str | None = None
    good: str | None = None
    budget: int = BUDGET
    options: probe.Options = field(default_factory=lambda: probe.Options(deadline="10"))


@dataclass(frozen=True)
class Explanation:
    """What came of it.

    Args:
        id: scenario id of the smallest plan.
        result: what was looked into.
        whole: the plan it was found in.
        smallest: what the search found; None if the plan did not fail when it was rerun.
        certificate: of the smallest plan, on the release in question.
        control: of the smallest plan on a release on which it passes the check, if one was known.
        record: of all trials.
        script: text of the standalone script, if there is one.
        no_script: otherwise, why not.
        script_fails: what the script said on the release in question.
        interrupted: whether it was ended from outside.
    """

    id: str
    result: CheckResult
    whole: Whole
    smallest: Smallest | None
    certificate: Certificate
    control: Certificate | None
    record: Ablation
    script: str | None = None
    no_script: str = ""
    script_fails: str = ""
    interrupted: bool = False


def explain(question: Question, say: Callable[[str], None] = lambda _: None) -> Explanation:
    """Find the smallest plan that fails as this one does.

    Args:
        question: the plan and where it fails.
        say: told in a line how far it is.

    Raises:
        PlanError: ``WHY_NO_FAILURE``, the plan does not fail there; ``WHY_CONTROL``, it does not
            pass where it is said to.
        LabError: there is no environment to run it in.
    """
    # What a packaged plan says of itself would make every smaller one a forgery of it.
    whole = Whole(replace(question.plan, title=f"{question.plan.title} (reduced)", revision=1))
    with _benches(question, say) as (bench, control):
        say(f"{question.id}: run as it is")
        seen, passed = _run_whole(question, whole.plan, bench, control)
        if question.failed is not None:
            base = judging.compared(seen, question.failed.check, question.failed.code)
            if base != SAME:
                return _explained(question, whole, question.failed, base, None, seen, None)
        failure = judging.failure_of(
            seen, question.failed.check if question.failed else question.check)
        if passed is not None and not judging.passes(passed, failure.check):
            if question.good is not None:
                raise judging.not_good(question.good, passed, failure.check)
            passed = None
        court = Court(bench, failure, question.budget, control if passed else None, passed,
                      lambda spent: say(f"{question.id}: {spent} plans run"))
        found = Search(whole, court).run()
        last, good = court.seen.get(canonical.digest(found.reduced.plan.to_json()),
                                    (seen, passed))
        last = replace(last, scenario=_small_id(question))
        good = good and replace(good, scenario=_small_id(question))
        result = judging.failure_of(last, failure.check).result
        explanation = _explained(question, whole, result, SAME, found, last, good)
    if explanation.interrupted:
        return replace(explanation, no_script="there was no time to try one")
    try:
        return _with_script(explanation, bench.environment,
                            control.environment if control is not None and passed else None)
    except KeyboardInterrupt:
        return replace(explanation, no_script="there was no time to try one", interrupted=True)


def _small_id(question: Question) -> str:
    return f"{question.id}{SUFFIX}"


@contextmanager
def _benches(question: Question, say: Callable[[str], None]
             ) -> Iterator[tuple[Bench, Bench | None]]:
    """Where the plan fails, and where it may pass: on the named release, or the installed one."""
    environment = _environment(question.sdk, question.python, say)
    installed = environments.installed()
    good: Environment | None = None
    if question.good is not None:
        good = _environment(question.good, question.python, say)
    elif installed is not None and question.sdk not in (None, installed):
        good = environments.current()
    with closing(Bench(environment, question.options)) as bench:
        if good is None:
            yield bench, None
            return
        with closing(Bench(good, question.options)) as control:
            yield bench, control


def _environment(sdk: str | None, python: str | None, say: Callable[[str], None]) -> Environment:
    if sdk is None or (python is None and sdk == environments.installed()):
        return environments.current()
    return environments.isolated(sdk, python, say)


def _run_whole(question: Question, plan: Plan, bench: Bench, control: Bench | None
               ) -> tuple[Certificate, Certificate | None]:
    """Certificates of the whole plan: where it fails, and on the control.

    Raises:
        AgentRunProofError: it cannot be run, on the control only if that is named.
    """
    plans = {_small_id(question): plan}
    controls = control.run(plans) if control is not None else iter(())
    seen = _certificate(next(bench.run(plans)))
    try:
        return seen, next(map(_certificate, controls), None)
    except AgentRunProofError:
        if question.good is not None:
            raise
        return seen, None


def _certificate(outcome: probe.Outcome) -> Certificate:
    if outcome.certificate is None:
        assert outcome.error is not None
        raise outcome.error
    return outcome.certificate


def _explained(question: Question, whole: Whole, result: CheckResult, base: Outcome,
               found: Smallest | None, last: Certificate, good: Certificate | None
               ) -> Explanation:
    """The explanation with its record, and without a script."""
    subject = FailingPlan(whole, result.check, result.code, lambda _: ())
    line = SubjectLine(
        kind="plan", digest=canonical.digest(question.plan.to_json()), scenario=question.id,
        sdk=last.producer.sdk.version, good=good.producer.sdk.version if good else None)
    made = recording.record(subject, line, f"{result.where}: {result.detail}", base,
                            question.budget, found, certificate.to_json(last)["id"])
    return Explanation(_small_id(question), result, whole, found, last, good, made,
                       interrupted=found is not None and found.ended == "stopped")


def _with_script(explanation: Explanation, bad: Environment, good: Environment | None
                 ) -> Explanation:
    """Add the script, if it can be written and does what it should where it is run."""
    assert explanation.smallest is not None
    small, result = explanation.smallest.reduced.plan, explanation.result
    if (part := writable.unsupported(small)) is not None:
        return replace(explanation, no_script=f"the plan uses {part}")
    mode, claims = facts.claims(explanation.certificate, result, explanation.control)
    if not claims:
        return replace(explanation, no_script=f"what {result.check} found does not show in what "
                       "a run returns, starts, asks or stores")
    contract = registry.find(result.check)
    told = reproducer.Told(result.check, result.code, contract.promise if contract else "",
                           explanation.certificate.producer.sdk.version,
                           explanation.record.subject.good)
    text = reproducer.script(small, mode, claims, told)
    with ThreadPoolExecutor(1) as beside:
        passing = beside.submit(running.run_script, good.python, text) if good else None
        failed = running.run_script(bad.python, text)
        wrong = passing.result() if passing is not None else None
    if failed is None or not failed.startswith("AssertionError"):
        return replace(explanation, no_script="written with the SDK's API alone, it "
                       + ("passes on this release too" if failed is None
                          else f"ends with {failed}"))
    if wrong is not None:
        return replace(explanation, no_script=f"on the control it ends with {wrong}")
    return replace(explanation, script=text, script_fails=failed)


def write(explanation: Explanation, folder: Path) -> list[Path]:
    """Write the record, the smallest plan, its certificate and the script, as far as there are any.

    Returns:
        The files.

    Raises:
        RecordError: a file cannot be written.
    """
    from agentrunproof.plan import writer
    from agentrunproof.record import store

    contents = {"why.json": ablation.FORM.to_bytes(explanation.record)}
    if explanation.smallest is not None:
        contents |= {
            "smallest.toml": writer.to_toml(explanation.smallest.reduced.plan).encode(),
            "smallest.json": certificate.to_bytes(explanation.certificate)}
    if explanation.script is not None:
        contents["test_reproduce.py"] = explanation.script.encode()
    for name, data in contents.items():
        store.write(folder / name, data)
    return [folder / name for name in contents]
