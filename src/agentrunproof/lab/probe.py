"""From plans to certificates: run them in an environment, judge what was seen, record it."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import cast

import agentrunproof
from agentrunproof import canonical, shape
from agentrunproof.contracts import registry
from agentrunproof.errors import AgentRunProofError, LabError, PlanError
from agentrunproof.lab import environments, process
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Mode, Plan
from agentrunproof.record import certificate as records
from agentrunproof.record import sdk_releases
from agentrunproof.record.certificate import Certificate, Producer, Profile
from agentrunproof.record.observation import Observation
from agentrunproof.record.result import Verdict

#: Seconds of real time one phase run may take.
DEADLINE = "30"


@dataclass(frozen=True)
class Options:
    """How plans are probed.

    Args:
        sdk: release of the SDK to run in an environment of its own; None for the installed one.
        python: Python version of that environment, such as ``3.12``.
        deadline: seconds of real time that one phase run may take, as a decimal.
        profile: ``private`` puts salted digests in place of payloads.
        allow_python: whether ``python:`` references of plans may be imported.
        path: folders in which those are looked for.
        pins: versions of the SDK's dependencies in that environment, such as ``openai=lowest``.
    """

    sdk: str | None = None
    python: str | None = None
    deadline: str = DEADLINE
    profile: Profile = "public"
    allow_python: bool = False
    path: Sequence[str] = ()
    pins: Sequence[str] = ()


@dataclass(frozen=True)
class Outcome:
    """What came of one plan: a certificate, or the error that stood in its way."""

    scenario: str
    certificate: Certificate | None = None
    error: AgentRunProofError | None = None

    @property
    def verdict(self) -> str:
        return self.certificate.verdict if self.certificate is not None else "ERROR"


def probe(plans: Mapping[str, Plan], options: Options | None = None, *,
          say: environments.Say | None = None,
          progress: Callable[[str, str], None] | None = None,
          workers: Sequence[process.Worker] = ()) -> Iterator[Outcome]:
    """Run plans and yield an outcome for each, in order, as it is there.

    Args:
        plans: by scenario id.
        options: how to run them.
        say: told in a line about work that takes long.
        progress: told the scenario id and ``mode/phase`` of each finished run.
        workers: those that `process.ahead` has started, for the SDK that is installed.

    Raises:
        PlanError: a plan names foreign Python that `options` do not allow, or claims to be a
            packaged scenario that it isn't.
        LabError: there is no environment to run them in.
    """
    options = options or Options()
    refuse(plans, options.allow_python)  # before an environment is made for them
    if options.sdk is None:
        if options.python is not None:
            raise LabError("PYTHON_WITHOUT_SDK", "--python chooses the Python of an isolated "
                           "environment", "name the SDK release too, with --sdk")
        environment = environments.current()
    else:
        environment = environments.isolated(options.sdk, options.python, say, options.pins)
    with ExitStack() as stack:
        kept = workers or stack.enter_context(
            process.started(environment.python, process.workers_for(len(plans))))
        yield from _outcomes(plans, options, progress, kept)


def probe_in(environment: environments.Environment, plans: Mapping[str, Plan], options: Options,
             *, progress: Callable[[str, str], None] | None = None,
             workers: Sequence[process.Worker] = ()) -> Generator[Outcome, None, None]:
    """The same in an environment that is there; what `options` say of one is not looked at.

    `workers` of that environment share the plans and are kept for more, or a new one runs them.
    """
    refuse(plans, options.allow_python)
    with ExitStack() as stack:
        kept = workers or stack.enter_context(process.started(environment.python, 1))
        yield from _outcomes(plans, options, progress, kept)


def _outcomes(plans: Mapping[str, Plan], options: Options,
              progress: Callable[[str, str], None] | None,
              workers: Sequence[process.Worker]) -> Generator[Outcome, None, None]:
    request = process.Request(plans, options.deadline, options.path)
    done: dict[str, Outcome] = {}
    order = iter(plans)
    due = next(order, None)
    with closing(process.share_out(workers, request, progress)) as reports:
        for report in reports:
            done[report.id] = _outcome(plans[report.id], report, options.profile)
            while due in done:
                yield done.pop(due)
                due = next(order, None)


def in_modes(id: str, plan: Plan, modes: Sequence[str]) -> tuple[str, Plan]:
    """The plan confined to some modes, as a scenario of its own.

    A packaged scenario that drops a mode under its own id would be a forgery, so the modes become
    part of the id.
    """
    if tuple(modes) == plan.modes:
        return id, plan
    suffix = "-".join(mode.replace("_", "-") for mode in modes)
    return f"{id}-{suffix}", replace(plan, modes=cast("tuple[Mode, ...]", tuple(modes)))


def refuse(plans: Mapping[str, Plan], allow_python: bool) -> None:
    """Stop plans that must not be run, before anything is.

    Raises:
        PlanError: a plan names foreign Python that is not allowed, or claims to be a packaged
            scenario that it isn't.
    """
    for id, plan in plans.items():
        refuse_foreign(id, plan, allow_python)
        _refuse_borrowed_id(id, plan)


def refuse_foreign(id: str, plan: Plan, allowed: bool) -> None:
    """Stop a plan that would run Python unless its owner said that it may.

    Raises:
        PlanError: ``PLAN_FOREIGN_CODE``, naming the first ``python:`` reference.
    """
    foreign = next(plan.python_refs(), None)
    if foreign is not None and not allowed:
        place, reference = foreign
        raise PlanError("PLAN_FOREIGN_CODE", f"{id}: {place} would run {reference}",
                        "read that code, then allow it with --allow-python")


def _refuse_borrowed_id(id: str, plan: Plan) -> None:
    """What the checker would refuse in the certificate is better said before the run."""
    digest = canonical.digest(plan.to_json())
    if id in catalog.ids() and catalog.known_digest(id, plan.revision) != digest:
        raise PlanError("PLAN_BORROWED_ID", f"{id}: a packaged scenario has this id, with another "
                        "plan", "rename the file")
    packaged = catalog.id_of(digest)
    if packaged not in (None, id):
        raise PlanError("PLAN_RENAMED", f"{id}: this is the packaged scenario {packaged}",
                        f"probe {packaged}, or change what the plan says")


def _outcome(plan: Plan, report: process.Report, profile: Profile) -> Outcome:
    if report.error is not None or report.hello is None:
        return Outcome(report.id, error=report.error)
    try:
        certificate = certify(report.id, plan, report.observation, producer(report.hello),
                              profile)
    except AgentRunProofError as error:
        return Outcome(report.id, error=error)
    return Outcome(report.id, certificate)


def producer(hello: process.Hello) -> Producer:
    """Who a worker says it is, if that can stand in a record."""
    made: Producer = shape.decode(Producer, {
        "version": agentrunproof.__version__, "python": hello.python, "network": hello.network,
        "sdk": {"version": sdk_releases.claimed(hello.sdk_version, hello.sdk_files),
                "files": hello.sdk_files}})
    return made


def certify(id: str, plan: Plan, observation: Observation, producer: Producer,
            profile: Profile = "public") -> Certificate:
    """Judge an observation and record it with its judgement.

    Raises:
        RecordError: what was observed has no form in a record.
    """
    plan, seen = records.as_recorded(plan, observation)
    if profile == "private":
        from agentrunproof.record import private

        plan, seen = private.cover(plan, seen, os.urandom(private.SALT_BYTES))
    checks = registry.judge(plan, seen)
    return Certificate(scenario=id, plan=plan, observation=seen, producer=producer, checks=checks,
                       verdict=cast("Verdict", registry.verdict(checks, seen.missing)),
                       profile=profile)
