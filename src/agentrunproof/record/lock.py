"""Locks: which wheels an environment is made of, each named by its SHA-256.

The form is a requirements file with one line for each wheel, which any installer that checks
hashes reads (`pip's hash-checking mode <https://pip.pypa.io/en/stable/topics/secure-installs/>`_),
held stricter here so that a lock has one form only:

    # openai-agents 0.19.4
    anyio==4.14.2 --hash=sha256:9f50…
    openai-agents==0.19.4 --hash=sha256:…
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentrunproof.errors import RecordError
from agentrunproof.record.sdk_releases import DISTRIBUTION

_LINE = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)==([0-9][A-Za-z0-9.!+]*) "
                   r"--hash=(sha256:[0-9a-f]{64})")


@dataclass(frozen=True, order=True)
class Wheel:
    """One wheel: its package's normalised name, its version, and the digest of the file."""

    name: str
    version: str
    digest: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version} --hash={self.digest}"


@dataclass(frozen=True)
class Lock:
    """All wheels of an environment, sorted by name, the SDK's among them."""

    wheels: tuple[Wheel, ...]

    @property
    def sdk(self) -> Wheel:
        return next(wheel for wheel in self.wheels if wheel.name == DISTRIBUTION)

    def text(self) -> str:
        """The content of the lock's file."""
        lines = [f"# {DISTRIBUTION} {self.sdk.version}", *map(str, self.wheels)]
        return "\n".join(lines) + "\n"


def read(data: bytes) -> Lock:
    """Read a lock's file, which has the one form that `Lock.text` writes.

    Raises:
        RecordError: ``LOCK_FORMAT``, saying which line is at fault.
    """
    text = data.decode("ascii", "replace")
    wheels: list[Wheel] = []
    for number, line in enumerate(text.split("\n")[1:-1], start=2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise RecordError("LOCK_FORMAT", f"line {number} of the lock is no wheel: {line:.60}")
        wheels.append(Wheel(*match.groups()))
    if sum(wheel.name == DISTRIBUTION for wheel in wheels) != 1:
        raise RecordError("LOCK_FORMAT", f"the lock does not name one wheel of {DISTRIBUTION}")
    if [wheel.name for wheel in wheels] != sorted({wheel.name for wheel in wheels}):
        raise RecordError("LOCK_FORMAT", "the lock's packages are not in order, or one stands "
                          "twice")
    lock = Lock(tuple(wheels))
    if lock.text() != text:
        raise RecordError("LOCK_FORMAT", "the lock's first or last line is not as it is written")
    return lock
