"""Why a plan fails: the smallest plan that still does, its record, and a standalone script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.contracts import registry
from agentrunproof.errors import AgentRunProofError
from agentrunproof.lab import environments, probe
from agentrunproof.lab.environments import Environment
from agentrunproof.plan.model import Plan
from agentrunproof.record.certificate import Certificate
from agentrunproof.why import facts, judging, reproducer, running
from agentrunproof.why.elements import Whole
from agentrunproof.why.judging import Court, Failure
from agentrunproof.why.smallest import Search, Smallest

#: Plans run at most, unless told otherwise.
BUDGET = 2000

#: What a smaller plan is called: a packaged one's name would be a borrowed one.
SUFFIX = "-smallest"


@dataclass(frozen=True)
class Question:
    """What is asked.

    Args:
        id: scenario id of the plan.
        plan: it fails on the release in question.
        check: the check to look into; the first that failed without it.
        sdk: the release; None for the installed one.
        python: Python of its environment; the running one without it.
        good: a release on which the plan passes; without it the installed one, if it does.
        budget: of plans run.
        options: how plans are run.
    """

    id: str
    plan: Plan
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
        failure: what was looked into.
        whole: the plan it was found in.
        smallest: what the search found.
        certificate: of the smallest plan, on the release in question.
        control: of the smallest plan on a release on which it passes, if one was known.
        spent: plans run.
        script: text of the standalone script, if there is one.
        no_script: otherwise, why not.
        script_fails: what the script said on the release in question.
    """

    id: str
    failure: Failure
    whole: Whole
    smallest: Smallest
    certificate: Certificate
    control: Certificate | None
    spent: int
    script: str | None
    no_script: str = ""
    script_fails: str = ""


def explain(question: Question, say: Callable[[str], None] = lambda _: None) -> Explanation:
    """Find the smallest plan that fails as this one does.

    Args:
        question: the plan and where it fails.
        say: told in a line how far it is.

    Raises:
        PlanError: ``WHY_NO_FAILURE``, the plan does not fail there.
        LabError: there is no environment to run it in.
    """
    environment = _environment(question.sdk, question.python, say)
    id = f"{question.id}{SUFFIX}"
    # What a packaged plan says of itself would make every smaller one a forgery of it.
    whole = Whole(replace(question.plan, title=f"{question.plan.title} (reduced)", revision=1))
    say(f"{question.id}: run as it is")
    seen = judging.run_one(environment, id, whole.plan, question.options)
    failure = judging.failure_of(seen, question.check)
    control, passed = _control(question, whole.plan, seen, say)
    court = Court(environment, failure, question.options, question.budget, control)
    court.spent = 1 if control is None else 2
    court.tell = lambda spent: say(f"{question.id}: {spent} plans run")
    found = Search(whole, court).run()
    last, good = court.seen.get(canonical.digest(found.reduced.plan.to_json()),
                                (seen, passed))
    last, good = replace(last, scenario=id), good and replace(good, scenario=id)
    explanation = Explanation(id, judging.failure_of(last, failure.check), whole, found, last,
                              good, court.spent, None)
    return _with_script(explanation, environment, control)


def _environment(sdk: str | None, python: str | None, say: Callable[[str], None]) -> Environment:
    if sdk is None or (python is None and sdk == environments.installed()):
        return environments.current()
    return environments.isolated(sdk, python, say)


def _control(question: Question, plan: Plan, seen: Certificate,
             say: Callable[[str], None]) -> tuple[Environment | None, Certificate | None]:
    """Where the whole plan passes: the release that is named, or else the installed one.

    Its certificate is there too.

    Raises:
        AgentRunProofError: the release that is named does not pass it.
    """
    installed = environments.installed()
    if question.good is None and installed in (None, seen.producer.sdk.version):
        return None, None
    environment = _environment(question.good, question.python if question.good else None, say)
    try:
        found = judging.run_one(environment, f"{question.id}{SUFFIX}", plan, question.options)
    except AgentRunProofError:
        if question.good is not None:
            raise
        return None, None
    if found.verdict == "PASS":
        return environment, found
    if question.good is not None:
        raise judging.not_good(question.good, found)
    return None, None


def _with_script(explanation: Explanation, bad: Environment, good: Environment | None
                 ) -> Explanation:
    """Add the script, if it can be written and does what it should where it is run."""
    small, failure = explanation.smallest.reduced.plan, explanation.failure
    if (part := reproducer.unsupported(small)) is not None:
        return replace(explanation, no_script=f"the plan uses {part}")
    mode, claims = facts.claims(explanation.certificate, failure.result, explanation.control)
    if not claims:
        return replace(explanation, no_script=f"what {failure.check} found does not show in what "
                       "a run returns, starts, asks or stores")
    contract = registry.find(failure.check)
    told = reproducer.Told(failure.check, failure.code, contract.promise if contract else "",
                           explanation.certificate.producer.sdk.version)
    text = reproducer.script(small, mode, claims, told)
    failed = running.run_script(bad.python, text)
    if failed is None or not failed.startswith("AssertionError"):
        return replace(explanation, no_script="written with the SDK's API alone, it "
                       + ("passes on this release too" if failed is None
                          else f"ends with {failed}"))
    if good is not None and (wrong := running.run_script(good.python, text)) is not None:
        return replace(explanation, no_script=f"on the control it ends with {wrong}")
    return replace(explanation, script=text, script_fails=failed)


def write(explanation: Explanation, folder: Path) -> list[Path]:
    """Write the smallest plan, its certificate and the script; returns what was written.

    Raises:
        RecordError: a file cannot be written.
    """
    from agentrunproof.plan import writer
    from agentrunproof.record import certificate, store

    folder.mkdir(parents=True, exist_ok=True)
    small = explanation.smallest.reduced.plan
    contents = {"smallest.toml": writer.to_toml(small).encode(),
                "smallest.json": certificate.to_bytes(explanation.certificate)}
    if explanation.script is not None:
        contents["test_reproduce.py"] = explanation.script.encode()
    for name, data in contents.items():
        store.write(folder / name, data)
    return [folder / name for name in contents]
