"""The SDK releases whose files we know: those on which this version of agentrunproof was run.

``sdk_releases.json`` maps a version to the digest of the SDK's Python files
(`agentrunproof.sdk.compat.sdk_files_digest`); ``scripts/update_sdk_releases.py`` makes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

#: The SDK's name on the package index.
DISTRIBUTION = "openai-agents"

LOCAL = "+local"


@cache
def known() -> dict[str, str]:
    """Digest of the SDK's files by version."""
    table: dict[str, str] = json.loads(Path(__file__).with_name("sdk_releases.json").read_bytes())
    return table


def claimed(version: str, files: str) -> str:
    """The version by which a record may call an SDK with these files.

    Sources under a released version's number that are not that release (a maintainer's checkout,
    a patched installation) get the local version label of PEP 440: ``0.24.0+local``.
    """
    return version if known().get(version, files) == files else version + LOCAL


def label(version: str, files: str) -> str:
    """``certified`` for a release as it was published and run by us, else ``untested``."""
    return "certified" if known().get(version) == files else "untested"
