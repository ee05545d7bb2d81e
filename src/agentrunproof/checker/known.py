"""Step 10: packaged scenarios on certified releases, whose observations are known.

A scenario on a release gives the same observation every time, so this version carries the digest
of each that it made itself (``known_observations.json``, made by
``scripts/update_known_observations.py``). Libraries below the SDK may make it behave otherwise, and
that is worth recording: matrices hold such records, and whoever checks one may accept it by
saying so.

Wording that the interpreter or a library puts into messages is left out of the digest, because it
is theirs to change.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from agentrunproof import canonical
from agentrunproof.checker.binding import Release
from agentrunproof.record.certificate import Envelope

_TOOL_ERROR = "An error occurred while"
#: Messages in the words of the interpreter, of its JSON parser, or of pydantic.
_INTERPRETERS = frozenset({"AttributeError", "KeyError", "TypeError"})
_PARSERS = ("JSON", "validation error")


@cache
def known_observations() -> dict[str, dict[str, str]]:
    """Digests of observations, by plan digest and release."""
    path = Path(__file__).parent / "known_observations.json"
    table: dict[str, dict[str, str]] = json.loads(path.read_bytes())
    return table


def is_known(envelope: Envelope, release: Release) -> bool | None:
    """Whether the observation is the one we made; None where we made none."""
    if not release.certified or envelope.profile == "private":
        return None
    known = known_observations().get(envelope.subject.plan, {}).get(release.version)
    return None if known is None else known == observation_digest(envelope)


def observation_digest(envelope: Envelope) -> str:
    """The digest of what a record says was observed, without others' wording."""
    return canonical.digest_bytes(canonical.rewrite({
        "items": _without_wording(envelope.items), "runs": _without_wording(envelope.runs),
        "variants": _without_wording(envelope.variants), "missing": list(envelope.missing)}))


def _without_wording(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_wording(item) for key, item in value.items()}
        if set(kept) == {"type", "message"} and (kept["type"] in _INTERPRETERS or any(
                words in kept["message"] for words in _PARSERS)):
            del kept["message"]
        return kept
    if isinstance(value, list | tuple):
        return [_without_wording(item) for item in value]
    if isinstance(value, str) and _TOOL_ERROR in value and any(w in value for w in _PARSERS):
        return value[:value.index(_TOOL_ERROR) + len(_TOOL_ERROR)]
    return value
