"""Step 10: packaged scenarios on certified releases, whose observations are known.

A scenario on a release gives the same observation every time, so this version carries the digest
of each that it made itself (``known_observations.json``, made by
``scripts/update_known_observations.py``). A record that claims such a plan and the very files of
such a release, and shows something else, is refused; a record about anything else is judged by
the other steps alone. Wording that the interpreter or a library puts into messages is left out of
the digest, because it is theirs to change.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from agentrunproof import canonical
from agentrunproof.checker.binding import Release
from agentrunproof.checker.judgement import reject
from agentrunproof.record.certificate import Envelope

_OWN_WORDS = "An error occurred while"


@cache
def known_observations() -> dict[str, dict[str, str]]:
    """Digests of observations, by plan digest and release."""
    path = Path(__file__).parent / "known_observations.json"
    table: dict[str, dict[str, str]] = json.loads(path.read_bytes())
    return table


def check(envelope: Envelope, release: Release) -> None:
    """Refuse another observation than the known one, where one is known."""
    if not release.certified or envelope.profile == "private":
        return
    known = known_observations().get(envelope.subject.plan, {}).get(release.version)
    if known is not None and known != observation_digest(envelope):
        reject("OBSERVATION_DIFFERS", f"{envelope.subject.scenario} gives something else on "
               f"release {release.version}", "probe it yourself on that release and compare")


def observation_digest(envelope: Envelope) -> str:
    """The digest of what a record says was observed, without others' wording."""
    return canonical.digest({"items": _without_wording(envelope.items),
                             "runs": _without_wording(envelope.runs),
                             "missing": list(envelope.missing)})


def _without_wording(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_wording(item) for key, item in value.items()}
        if set(kept) == {"type", "message"}:
            del kept["message"]
        return kept
    if isinstance(value, list | tuple):
        return [_without_wording(item) for item in value]
    if isinstance(value, str) and _OWN_WORDS in value:
        return value[:value.index(_OWN_WORDS) + len(_OWN_WORDS)]
    return value
