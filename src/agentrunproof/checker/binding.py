"""Steps 4 and 5: what a record is about. Its plan, and the SDK release that ran."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from agentrunproof import __version__, canonical
from agentrunproof.checker.judgement import reject
from agentrunproof.plan import catalog, rules
from agentrunproof.plan.model import Plan
from agentrunproof.record import sdk_releases
from agentrunproof.record.certificate import Envelope
from agentrunproof.record.document import decode_exactly

#: Versions of ours whose records this version can judge.
OUR_VERSIONS = frozenset({__version__})


@dataclass(frozen=True)
class Release:
    """The SDK release named by a record; `certified` when its files are those we know."""

    version: str
    certified: bool

    @property
    def announces_begun_calls(self) -> bool:
        """Whether ``tool_called`` in a stream brings the call as the model begins it.

        So it is in 0.2.10 alone, which takes the item of ``response.output_item.added``; from
        0.2.11 on it is that of ``response.output_item.done``.
        Source: ``agents/run.py`` of both, ``_run_single_turn_streamed``; openai-agents-python#1629
        """
        return self.certified and self.version == "0.2.10"

    def shows_figures(self, plan: Plan) -> bool:
        """Whether a run of the plan shows its figures, beyond doubt.

        Up to 0.0.13 a result has no context, so that only a hook of the run sees it.
        Source: ``agents/result.py`` of 0.0.13 and 0.0.14.
        """
        if not self.certified:
            return False
        told = tuple(map(int, self.version.split("."))) >= (0, 0, 14)
        return told or plan.run.hooks in ("both", "run")


def read_plan(envelope: Envelope, notes: list[str]) -> Plan:
    """Step 4: read the plan and tie it to the scenario it claims to be."""
    data = canonical.rewrite(envelope.plan)
    plan, digest = _decoded(data), canonical.digest_bytes(data)
    if envelope.subject.plan != digest:
        reject("PLAN_DIGEST_DIFFERS", "subject.plan is not the digest of the plan")
    if envelope.profile == "private":
        from agentrunproof.checker.covered import check_scenario

        check_scenario(plan, envelope.subject.scenario, notes)
        return plan
    scenario = envelope.subject.scenario
    known = catalog.known_digest(scenario, plan.revision)
    if known is not None and known != digest:
        reject("PLAN_ALTERED", f"the plan is not the packaged one of {scenario}, revision "
               f"{plan.revision}", "a changed plan needs an id of its own")
    if known is None and scenario in catalog.ids():
        reject("PLAN_REVISION_UNKNOWN", f"{scenario} has no revision {plan.revision} that this "
               "version knows", "check it with the version that made it")
    owner = catalog.id_of(digest)
    if owner is not None and owner != scenario:
        reject("PLAN_RENAMED", f"the plan is the packaged one of {owner}, the record calls it "
               f"{scenario}")
    if owner is None:
        notes.append("plan not in the catalogue: it says itself what is expected")
    return plan


def check_version(version: str) -> None:
    """Refuse a record of a version of ours that does not exist, or that is newer."""
    if version not in OUR_VERSIONS:
        reject("PRODUCER_UNKNOWN", f"made by agentrunproof {version}, which this version does not "
               "know", "check it with that version")


@lru_cache(maxsize=512)
def _decoded(data: bytes) -> Plan:
    """The plan of these canonical bytes; the records of a matrix have few plans between them."""
    plan: Plan = decode_exactly(Plan, canonical.parse(data), "plan")
    rules.check(plan)
    return plan


def check_producer(envelope: Envelope, notes: list[str]) -> Release:
    """Step 5: the producer exists, and the SDK's version and files belong together."""
    producer = envelope.producer
    check_version(producer.version)
    sdk, known = producer.sdk, sdk_releases.known()
    for version, files in known.items():
        if files == sdk.files and version != sdk.version:
            reject("SDK_VERSION_DIFFERS", f"the SDK's files are those of release {version}, not "
                   f"of {sdk.version}")
    if sdk.version != sdk_releases.claimed(sdk.version, sdk.files):
        reject("SDK_FILES_DIFFER", f"the SDK's files are not those of release {sdk.version}",
               f"a changed SDK is recorded as {sdk.version}{sdk_releases.LOCAL}")
    if sdk.version in known:
        return Release(sdk.version, True)
    notes.append(f"untested SDK release {sdk.version}")
    return Release(sdk.version, False)
