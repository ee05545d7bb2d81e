"""The bundle: published evidence as one whole, and the conditions under which it was made.

``bundle.json`` names every other file beside it by digest. It is written last, so a folder
without it is no evidence, whatever else is there. The shape allows the conditions of canonical
evidence only; what was made under others has no bundle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from agentrunproof.record.document import Document, Version
from agentrunproof.shape import Digest, Text

#: The file that makes a folder a bundle.
MARKER = "bundle.json"

#: No part of a name begins with a dot, so none leads out of the folder or is hidden.
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+=\-]*"
MemberName = Annotated[str, Text(f"{_PART}(/{_PART})*", "the relative name of a file")]
Python312 = Annotated[str, Text(r"3\.12\.[0-9]{1,2}", "a version of Python 3.12")]
Commit = Annotated[str, Text(r"[0-9a-f]{40}", "a commit")]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Where and how the evidence was made.

    Args:
        system: the operating system.
        machine: its processor.
        implementation: of Python.
        python: the exact version, in all environments.
        environments: each was made for this evidence and used for nothing else.
        network: what kept every run off the network.
        acquisition: packages came from an index before anything ran. So the index was reachable
            then; which files came is bound by the locks.
    """

    system: Literal["linux"]
    machine: Literal["x86_64"]
    implementation: Literal["cpython"]
    python: Python312
    environments: Literal["fresh"]
    network: Literal["audit-hook+namespace"]
    acquisition: Literal["index-before-runs"]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One environment.

    Args:
        sdk: the release in it.
        wheel: SHA-256 of that release's wheel.
        lock: SHA-256 of the lock (`record.lock`) of which all of it was installed.
    """

    sdk: Version
    wheel: Digest
    lock: Digest


@dataclass(frozen=True, kw_only=True)
class BundleProducer:
    """Who made the bundle: a version of ours, run from a clean checkout of a commit."""

    version: Version
    commit: Commit


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A whole bundle.

    Args:
        producer: who made it.
        conditions: where and how.
        environments: by release, in version order.
        record: the member that the others support.
        members: SHA-256 of every file by its name, `MARKER` left out.
    """

    producer: BundleProducer
    conditions: Conditions
    environments: tuple[Environment, ...]
    record: MemberName
    members: dict[MemberName, Digest]


FORM = Document("bundle", Bundle)
