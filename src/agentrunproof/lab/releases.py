"""Releases of the SDK: when each was published, and which of them we certified.

``releases.json`` holds PyPI's upload times. A release is installed with the dependencies of its
own day (`Release.exclude_newer`), because with the newest ones many old releases import and then
fail in every run. Certified are the releases whose files the checker knows: those on which this
version of agentrunproof was run. Any other is labelled ``untested``, never refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from packaging.version import InvalidVersion, Version

from agentrunproof.errors import LabError
from agentrunproof.record.sdk_releases import DISTRIBUTION as DISTRIBUTION

_MINIMUM = re.compile(r">=\s*(\d+)\.(\d+)")


@dataclass(frozen=True)
class Release:
    """One published release.

    Args:
        version: as on PyPI.
        uploaded: UTC time of its upload.
        exclude_newer: dependencies published after this UTC time are left out.
        requires_python: as on PyPI, such as ``>=3.10``.
    """

    version: str
    uploaded: str
    exclude_newer: str
    requires_python: str

    @property
    def oldest_python(self) -> tuple[int, int]:
        """The lowest Python (major, minor) it installs on."""
        match = _MINIMUM.search(self.requires_python)
        assert match is not None, self.requires_python
        return int(match[1]), int(match[2])


@lru_cache(maxsize=1)
def known() -> dict[str, Release]:
    """Every release of the table by its version, oldest first."""
    table = json.loads(Path(__file__).with_name("releases.json").read_bytes())
    return {row["version"]: Release(**row) for row in table["releases"]}


def parse(version: str) -> Version:
    """A version that compares as PEP 440 says: pre-releases come before their release.

    Raises:
        LabError: it is not written as a version is, in its normal form.
    """
    try:
        parsed = Version(version)
    except InvalidVersion:
        parsed = None
    if parsed is None or str(parsed) != version:  # `Version` also takes v0.24 and spaces
        raise LabError("RELEASE_SYNTAX", f"--sdk {version!r} is not a release number",
                       "write it like 0.24.0")
    return parsed


def find(version: str) -> Release | None:
    """The release of that number; None where it may be newer than the table.

    Raises:
        LabError: the number is malformed, or no such release was ever published.
    """
    asked = parse(version)
    if version in known():
        return known()[version]
    newest = next(reversed(known()))
    if asked > parse(newest):
        return None
    raise unknown(version)


def unknown(version: str) -> LabError:
    """The error for a release that does not exist, naming the nearest one before it."""
    asked = parse(version)
    before = [name for name in known() if parse(name) <= asked] or list(known())[:1]
    return LabError("RELEASE_UNKNOWN", f"{DISTRIBUTION} {version} does not exist",
                    f"did you mean {before[-1]}?")
