"""The certificate: a plan, what was observed of it, and what the contracts made of that.

`Certificate` is the meaning, `Envelope` the table that stands in the file. The id is the digest of
the canonical bytes of everything else in the envelope.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from agentrunproof import canonical, shape
from agentrunproof.errors import RecordError
from agentrunproof.plan.model import Plan, ScenarioId
from agentrunproof.record import table
from agentrunproof.record.document import Version, decode_exactly, id_of
from agentrunproof.record.observation import Observation
from agentrunproof.record.result import CheckResult, Verdict
from agentrunproof.shape import Digest, Name, Text

SCHEMA = "agentrunproof/certificate/1"

Profile = Literal["public", "private"]
PythonVersion = Annotated[str, Text(r"3\.[1-9][0-9]\.[0-9]{1,2}", "a Python version from 3.10 on")]
Network = Literal["audit-hook", "audit-hook+namespace"]


@dataclass(frozen=True, kw_only=True)
class Sdk:
    """The SDK that ran: its version, and the digest of its files.

    `files` is the SHA-256 over the lines that the wheel's RECORD has for the Python files of
    ``agents/``, sorted and joined by line feeds, made from the files that ran.
    """

    version: Version
    files: Digest


@dataclass(frozen=True, kw_only=True)
class Producer:
    """Who made the record. `network` names the guards that kept the run off the network."""

    version: Version
    python: PythonVersion
    sdk: Sdk
    network: Network


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What the record is about: the scenario's id and the digest of its plan."""

    scenario: ScenarioId
    plan: Digest


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """A certificate as it stands in a file; plan, items and runs not yet read."""

    schema: Literal["agentrunproof/certificate/1"]
    id: Digest
    profile: Profile
    subject: Subject
    producer: Producer
    plan: dict[str, Any]
    missing: tuple[Name, ...] = ()
    items: tuple[dict[str, Any], ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    variants: tuple[dict[str, Any], ...] = ()
    checks: tuple[CheckResult, ...] = ()
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A whole certificate, read or about to be written."""

    scenario: str
    plan: Plan
    observation: Observation
    producer: Producer
    checks: tuple[CheckResult, ...]
    verdict: Verdict
    profile: Profile = "public"


def build(scenario: str, plan: Plan, seen: Observation, producer: Producer,
          checks: Iterable[CheckResult], verdict: Verdict,
          profile: Profile = "public") -> Certificate:
    """A certificate of what was observed.

    Args:
        scenario: id of the plan.
        plan: the plan that was run, as `as_recorded` gives it.
        seen: what was observed, as `as_recorded` gives it.
        producer: who ran it.
        checks: the results of the contracts, in the registry's order.
        verdict: what follows from them.
        profile: ``private`` for a plan and an observation that `record.private` has covered.
    """
    return Certificate(scenario=scenario, plan=plan, observation=seen, producer=producer,
                       checks=tuple(checks), verdict=verdict, profile=profile)


def as_recorded(plan: Plan, seen: Observation) -> tuple[Plan, Observation]:
    """Plan and observation as a reader of the record will get them.

    Tables come in canonical order and lists as the event shapes say, so contracts judge them the
    same before the record is written and after it is read.
    """
    items, runs, variants = table.store(seen)
    return (Plan.from_json(canonical.parse(canonical.dumps(plan.to_json()))),
            table.resolve(items, runs, seen.missing, variants))


def to_json(certificate: Certificate) -> dict[str, Any]:
    """The JSON table of a certificate, its id included."""
    items, runs, variants = table.store(certificate.observation)
    plan = certificate.plan.to_json()
    envelope = Envelope(
        schema="agentrunproof/certificate/1", id="", profile=certificate.profile,
        subject=Subject(scenario=certificate.scenario, plan=canonical.digest(plan)),
        producer=certificate.producer, plan={}, missing=certificate.observation.missing,
        checks=certificate.checks, verdict=certificate.verdict)
    value: dict[str, Any] = shape.encode(envelope)
    plain = {"plan": plan, "items": items, "runs": runs, "variants": variants}  # most of it all
    value |= {name: part for name, part in plain.items() if part}
    return value | {"id": id_of(value)}


def to_bytes(certificate: Certificate) -> bytes:
    """The content of a certificate's file: its canonical bytes and one line feed."""
    return file_bytes(to_json(certificate))


def file_bytes(value: dict[str, Any]) -> bytes:
    """The same, from the JSON table that `to_json` gave."""
    return canonical.rewrite(value) + b"\n"  # naming it has checked it


def read_envelope(value: Any) -> Envelope:
    """Check the envelope's shape, and that it leaves out what stands at its default.

    Raises:
        RecordError: ``RECORD_FORMAT`` for something that is no certificate of this format,
            ``RECORD_SHAPE`` or ``RECORD_EXPLICIT_DEFAULT`` for a malformed one.
    """
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        found = value.get("schema") if isinstance(value, dict) else None
        raise RecordError("RECORD_FORMAT", f"not a certificate: its schema is {found!r:.80}, "
                          f"expected {SCHEMA!r}")
    envelope: Envelope = decode_exactly(Envelope, value, "")
    return envelope


def observed(envelope: Envelope) -> Observation:
    """What a record says was observed.

    Raises:
        RecordError: it is not in the one stored form (`record.table.resolve`).
    """
    return table.resolve(list(envelope.items), list(envelope.runs), envelope.missing,
                         list(envelope.variants))


def from_json(value: Any) -> Certificate:
    """Read a certificate's JSON table; its form is checked, its truth is not (see `checker`).

    Raises:
        RecordError: the table is not in the one form that `to_json` writes.
    """
    envelope = read_envelope(value)
    if envelope.id != id_of(value):
        raise RecordError("RECORD_ID", "the id is not the digest of the content")
    plan: Plan = decode_exactly(Plan, envelope.plan, "plan")
    if envelope.subject.plan != canonical.digest(envelope.plan):
        raise RecordError("RECORD_PLAN_DIGEST", "subject.plan is not the digest of the plan")
    seen = observed(envelope)
    return Certificate(scenario=envelope.subject.scenario, plan=plan, observation=seen,
                       producer=envelope.producer, checks=envelope.checks,
                       verdict=envelope.verdict, profile=envelope.profile)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a certificate."""
    definitions: dict[str, Any] = {}
    envelope = shape.fields_schema(shape.fields_of(Envelope), definitions)
    runs = table.schema(definitions)
    envelope["properties"] |= {"schema": {"const": SCHEMA},
                               "plan": shape.json_schema(Plan, definitions),
                               "runs": runs,
                               "variants": table.variants_schema(runs, definitions)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "certificate",
            **envelope, "$defs": definitions}
