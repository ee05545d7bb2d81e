"""The numbered procedure by which a bundle is checked, all of its files at hand.

 1. Bytes: strict JSON, and exactly the canonical bytes of the value they hold.
 2. Shape and id: a bundle of the format this version knows, named by the digest of the rest, made
    under the conditions that the format allows.
 3. Form: made by a version of ours; environments in order, none twice.
 4. Members: every member is there, nothing else is, and each is the file of that digest.
 5. Record: the history is valid by its own procedure, over the certificates among the members,
    and no member is neither of them.
 6. Conditions: each certificate was made on the Python and behind the guards that the bundle
    names, and each release has an environment, and each environment a certificate.
 7. Locks, where they are given: each has the digest that its environment names, and the SDK's
    wheel in it is the one named.

That the environments were fresh, of that commit and on such a machine is only said.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentrunproof import canonical
from agentrunproof.checker import binding, history, procedure
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.checker.members import Assess, Read, refuse_first
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import bundle as bundles
from agentrunproof.record import certificate as records
from agentrunproof.record import lock
from agentrunproof.record.bundle import MARKER, Bundle
from agentrunproof.record.matrix import version_order

#: Where a bundle keeps the certificates of its record.
CERTIFICATES = "certificates/"


def check(names: Iterable[str], read: Read, locks: Read | None = None,
          assess: Assess | None = None) -> Judgement:
    """Check a bundle by all steps; the first that does not hold ends it.

    Args:
        names: of all files in the bundle's folder, relative to it, the marker among them.
        read: gives the bytes of one.
        locks: gives the bytes of the lock of a release; None leaves step 7 out, which is noted.
        assess: assesses many certificates at once, in place of reading and checking each here.
    """
    id, present = "", set(names)
    try:
        if MARKER not in present:
            reject("BUNDLE_UNFINISHED", f"there is no {MARKER}: it is written last, so what is "
                   "here was not finished", "make the evidence again")
        value = procedure.read(read(MARKER))                                               # 1
        bundle = bundles.FORM.from_json(value)                                             # 2
        id = value["id"]
        _check_form(bundle)                                                                # 3
        _check_members(bundle, present - {MARKER}, read)                                   # 4
        notes = _check_record(bundle, read, assess)                                        # 5
        _check_conditions(bundle, read)                                                    # 6
        if locks is None:
            notes = (*notes, "locks not looked at: name their folder with --locks")
        else:
            _check_locks(bundle, locks)                                                    # 7
    except AgentRunProofError as problem:
        return refused(problem, id=id)
    return Judgement(valid=True, code="OK", id=id, notes=notes)


def _check_form(bundle: Bundle) -> None:
    binding.check_version(bundle.producer.version)
    releases = [environment.sdk for environment in bundle.environments]
    if releases != sorted(set(releases), key=version_order):
        reject("ENVIRONMENTS_DISORDERED", "the environments are not in order, or one stands twice")


def _check_members(bundle: Bundle, present: set[str], read: Read) -> None:
    refuse_first("MEMBER_MISSING", bundle.members.keys() - present, "is not there",
                 "copy the whole folder")
    refuse_first("MEMBER_EXTRA", present - bundle.members.keys(), "is no member of the bundle")
    refuse_first("MEMBER_DIFFERS", (name for name, named in bundle.members.items()
                                    if canonical.digest_bytes(read(name)) != named),
                 "is not the file that the bundle names")


def _certificates(bundle: Bundle) -> list[str]:
    return [name for name in bundle.members if name.startswith(CERTIFICATES)]


def _check_record(bundle: Bundle, read: Read, assess: Assess | None) -> tuple[str, ...]:
    certificates = _certificates(bundle)
    refuse_first("MEMBER_UNRELATED", bundle.members.keys() - {bundle.record, *certificates},
                 "is neither the record nor a certificate")
    if bundle.record not in bundle.members:
        reject("MEMBER_MISSING", f"the record {bundle.record} is no member")
    judgement = history.check(read(bundle.record),
                              [name.removeprefix(CERTIFICATES) for name in certificates],
                              lambda name: read(CERTIFICATES + name), assess=assess)
    if not judgement.valid:
        reject(judgement.code, f"{bundle.record}: {judgement.message}", judgement.hint)
    return judgement.notes


def _check_conditions(bundle: Bundle, read: Read) -> None:
    conditions, used = bundle.conditions, set[str]()
    for name in _certificates(bundle):
        made_by = records.read_envelope(canonical.parse(read(name))).producer
        used.add(made_by.sdk.version)
        if (made_by.python, made_by.network) != (conditions.python, conditions.network):
            reject("CONDITIONS_DIFFER", f"{name}: made on Python {made_by.python} behind "
                   f"{made_by.network}, the bundle says {conditions.python} and "
                   f"{conditions.network}")
    had = {environment.sdk for environment in bundle.environments}
    refuse_first("ENVIRONMENT_MISSING", used - had, "has certificates and no environment")
    refuse_first("ENVIRONMENT_UNUSED", had - used, "has an environment and no certificate")


def _check_locks(bundle: Bundle, locks: Read) -> None:
    for environment in bundle.environments:
        data = locks(environment.sdk)
        if canonical.digest_bytes(data) != environment.lock:
            reject("LOCK_DIFFERS", f"the lock of {environment.sdk} is not the one that the bundle "
                   "names")
        sdk = lock.read(data).sdk
        if (sdk.version, sdk.digest) != (environment.sdk, environment.wheel):
            reject("LOCK_OF_OTHER_WHEEL", f"the lock of {environment.sdk} has the wheel of "
                   f"{sdk.version}, {sdk.digest}")
