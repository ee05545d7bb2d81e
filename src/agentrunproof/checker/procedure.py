"""The numbered procedure by which a certificate is checked.

 1. Bytes: within the size limit, strict JSON, and exactly the canonical bytes of the value they
    hold, with or without the one line feed that writers put at the end.
 2. Envelope: a certificate of the format this version knows, with the declared fields only.
 3. Id: the digest of everything else.
 4. Plan: of the declared shape in canonical form, free of contradictions, named by its digest;
    under a packaged scenario's id it is that scenario's plan, and a packaged plan bears its id.
 5. Producer: a version of ours that exists; the SDK's version and files belong together.
 6. Items and events: in the one stored form that the observation has.
 7. Course: what was run is what the plan says, each phase in each mode, each run with the start
    and the end that our driver gives it. Nothing was run where, and only where, the release lacks
    what the plan needs; of a release that we know, exactly what it lacks is called missing, and
    exactly the hooks that it does not have are called unheard.
    The same holds for each variant that follows from the plan and its own runs.
 8. Provenance: model answers are the script's, tool results the declared ones, and every item
    comes from the plan, from a tool or from the SDK where the plan leaves the text to it.
 9. Coherence: sessions hold what was written to them, hooks, guardrails, streams, spans and
    figures speak of things that exist and happened.
10. Known: it is what we observed ourselves of that scenario on that release, where we did; who
    knows of libraries that make a difference may have that noted instead.
11. Contracts: judged again over plan and observation; the stored checks are exactly their results.
12. Verdict: the one that follows from the checks.

Steps 1 to 3 show that the record is whole, 4 and 5 what it is about, 6 to 9 that our observer can
have written it, 10 that the release really does so where we have seen it, 11 and 12 that its
judgement follows. Who wrote it is for a signature to say. ``docs/trust.md`` tells what is left.
"""

from __future__ import annotations

from typing import Any

from agentrunproof import canonical
from agentrunproof.checker import binding, coherence, course, known, provenance, variants
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.contracts import registry
from agentrunproof.errors import AgentRunProofError
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate
from agentrunproof.record.certificate import Envelope
from agentrunproof.record.document import id_of
from agentrunproof.record.observation import Observation


def check(data: bytes, *, reproduced: bool | None = False) -> Judgement:
    """Check the bytes of a certificate by all steps; the first that does not hold ends it.

    Args:
        data: the content of the file.
        reproduced: True accepts only an observation that this version has made itself, None
            refuses another one where it has made one, False notes that.
    """
    return assess(data, reproduced=reproduced)[0]


def assess(data: bytes, *, reproduced: bool | None = False) -> tuple[Judgement, Envelope | None]:
    """The same, and of a valid certificate its envelope, which need not be read again."""
    found: dict[str, Any] = {}
    try:
        return _steps(data, found, reproduced)
    except AgentRunProofError as problem:
        return refused(problem, **found), None
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as problem:
        # Shapes are checked, but contents are anyone's: what makes no sense to a rule is refused.
        return Judgement(valid=False, code="RECORD_SENSELESS", message="the contents make no "
                         f"sense ({type(problem).__name__}: {problem!s:.100})", **found), None


def _steps(data: bytes, found: dict[str, Any], reproduced: bool | None
           ) -> tuple[Judgement, Envelope]:
    value = read(data)                                                                       # 1
    envelope = certificate.read_envelope(value)                                              # 2
    if envelope.id != id_of(value):                                                          # 3
        reject("ID_DIFFERS", "the id is not the digest of the record's content",
               "the record was changed after it was made")
    found |= {"id": envelope.id, "scenario": envelope.subject.scenario,
              "profile": envelope.profile}
    notes: list[str] = []
    plan = binding.read_plan(envelope, notes)                                                # 4
    release = binding.check_producer(envelope, notes)                                        # 5
    seen = certificate.observed(envelope)                                                    # 6
    private, underived = envelope.profile == "private", 0
    for varied, runs in variants.parts(plan, seen):
        course.check(varied, runs, release)                                                  # 7
        underived += provenance.check(varied, runs, release, private=private)                # 8
        coherence.check(varied, runs, release, private=private)                              # 9
    _compare(known.is_known(envelope, release), reproduced, notes)                          # 10
    _judge(plan, seen, envelope)                                                     # 11 and 12
    return Judgement(valid=True, code="OK", verdict=envelope.verdict, checks=envelope.checks,
                     notes=tuple(notes), underived=underived, **found), envelope


def read(data: bytes) -> Any:
    """Step 1, which every record shares."""
    value = canonical.parse(data)
    if data.removesuffix(b"\n") != canonical.rewrite(value):
        reject("NOT_CANONICAL", "the bytes are not the canonical form of what they say",
               "the file was edited or formatted; ask for the one that was written")
    return value


def _compare(is_known: bool | None, reproduced: bool | None, notes: list[str]) -> None:
    if is_known is None and reproduced:
        reject("OBSERVATION_UNKNOWN", "this version has not observed this plan on this release",
               "check without --reproduced, or probe it yourself and compare")
    if is_known is False:
        if reproduced is not False:
            reject("OBSERVATION_DIFFERS", "this version observed something else of this plan on "
                   "this release", "probe it with --sdk and diff the two; if libraries under the "
                   "SDK explain it, check with --any-observation")
        notes.append("this version observed something else of this plan on this release")


def _judge(plan: Plan, seen: Observation, envelope: Envelope) -> None:
    checks = registry.judge(plan, seen)
    for stored, derived in zip(envelope.checks, checks, strict=False):
        if stored != derived:
            reject("CHECKS_DIFFER", f"the check {stored.check} says {stored.verdict} "
                   f"{stored.code}, the observation gives {derived.check} {derived.verdict} "
                   f"{derived.code}")
    if len(envelope.checks) != len(checks):
        reject("CHECKS_DIFFER", f"the record holds {len(envelope.checks)} checks, "
               f"{len(checks)} apply")
    verdict = registry.verdict(checks, seen.missing)
    if envelope.verdict != verdict:
        reject("VERDICT_DIFFERS", f"the verdict says {envelope.verdict}, the checks give {verdict}")
