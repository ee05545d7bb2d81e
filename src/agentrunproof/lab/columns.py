"""One column of a matrix: one environment, in which all plans run, or a command does.

`run_column` and what it takes and gives can be pickled, so that it may run anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentrunproof import canonical
from agentrunproof.errors import AgentRunProofError, LabError
from agentrunproof.lab import commands, environments, probe
from agentrunproof.lab.environments import Environment
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate as records
from agentrunproof.record import layout
from agentrunproof.record.certificate import Envelope
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, Row

Say = Callable[[str], None]

#: Gives the environment of a column.
Provide = Callable[[Column, Say | None], Environment]


@dataclass(frozen=True)
class Job:
    """What is to be done in every column.

    Args:
        plans: by scenario id.
        command: a command to run; then there are no plans.
        options: how plans are run; release, Python and pins are the column's.
    """

    plans: Mapping[str, Plan] = field(default_factory=dict)
    command: commands.Command | None = None
    options: probe.Options = field(default_factory=probe.Options)

    def heads(self) -> tuple[Row, ...]:
        """The rows, still empty."""
        if self.command is not None:
            return (layout.head_of_command(self.command.name, self.command.words),)
        return tuple(layout.head_of_plan(id, plan) for id, plan in self.plans.items())

    def without(self, done: set[str]) -> Job:
        """The same, without the plans that are done."""
        return replace(self, plans={id: plan for id, plan in self.plans.items()
                                    if id not in done})


@dataclass
class Result:
    """What came of one column; what is found grows while it runs.

    Args:
        column: which.
        certificates: bytes of the certificates by scenario id.
        errors: what stood in the way of the other plans.
        commanded: what a command's exit found.
        log: the end of what the command said.
        wheel: SHA-256 of the SDK's wheel, where it is known.
    """

    column: Column
    certificates: dict[str, bytes] = field(default_factory=dict)
    errors: dict[str, AgentRunProofError] = field(default_factory=dict)
    commanded: Finding | None = None
    log: bytes = b""
    wheel: str | None = None

    def envelopes(self) -> dict[str, Envelope]:
        """The certificates, read as far as their envelopes, by scenario id."""
        return {scenario: records.read_envelope(canonical.parse(data))
                for scenario, data in self.certificates.items()}

    def findings(self) -> dict[str, Finding]:
        """What was found of each plan, by scenario id."""
        found = {scenario: layout.of_certificate(envelope)
                 for scenario, envelope in self.envelopes().items()}
        return found | {scenario: layout.of_error(error.code)
                        for scenario, error in self.errors.items()}


def _isolated(column: Column, say: Say | None) -> Environment:
    return environments.isolated(column.sdk, column.python, say, column.pins)


def run_column(job: Job, column: Column, say: Say | None = None, *,
               provide: Provide = _isolated) -> Result:
    """Make the environment of a column and run everything in it.

    Whatever goes wrong is an error in the result, of one plan or of all of them.

    Args:
        job: what to run.
        column: in which environment.
        say: told in a line what is being done; what it raises ends the run.
        provide: makes the environment.
    """
    result = Result(column)
    try:
        environment = provide(column, say)
        result.wheel = environment.wheel
        if job.command is not None:
            result.commanded, result.log = commands.run(job.command, column, environment, say)
        else:
            _run_plans(job, column, environment, result, say)
    except AgentRunProofError as error:
        _fail(job, result, error)
    except OSError as error:
        _fail(job, result, LabError("COLUMN_FAILED", f"{column.key}: {error.strerror or error}"))
    return result


def _run_plans(job: Job, column: Column, environment: Environment, result: Result,
               say: Say | None) -> None:
    def progress(scenario: str, where: str) -> None:
        if say is not None:
            say(f"{column.key}: {scenario} {where}")

    for outcome in probe.probe_in(environment, job.plans, job.options, progress=progress):
        if outcome.certificate is None:
            assert outcome.error is not None
            result.errors[outcome.scenario] = outcome.error
        elif outcome.certificate.producer.sdk.version != column.sdk:
            found = outcome.certificate.producer.sdk.version
            result.errors[outcome.scenario] = LabError(
                "SDK_DIFFERS", f"{column.key}: the environment holds {found}",
                "delete it from the cache")
        else:
            result.certificates[outcome.scenario] = records.to_bytes(outcome.certificate)


def _fail(job: Job, result: Result, error: AgentRunProofError) -> None:
    names: Sequence[str] = [head.scenario for head in job.heads()]
    for name in names:
        if name not in result.certificates:
            result.errors.setdefault(name, error)
