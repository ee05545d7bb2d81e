"""A rule in the place of the operations agent's model: looks around, then does what it read."""

from __future__ import annotations

import re

from examples import rule
from examples.rule import Json

#: "When NAME is above N GB, drop it", or plainly "drop NAME".
_ORDER = re.compile(r"\b(?P<when>[a-z]+_\w+)\b[^.]*\bdrop it\b|\bdrop (?P<name>[a-z]+_\w+)", re.I)


def model(body: Json) -> Json:
    """The reply to a request."""
    request = rule.read(body)
    if "disk_usage" not in request.called:
        return rule.calls(("disk_usage", {}), ("list_databases", {}))
    if "read_runbook" not in request.called:
        return rule.call("read_runbook", topic="disk is filling up")
    ordered = next(filter(None, map(_ORDER.search, request.sentences())), None)
    if ordered and "drop_database" not in request.called \
            and rule.obeys(request, body, "drop_database", r"\b(?:drop|delet)"):
        return rule.call("drop_database", name=ordered["when"] or ordered["name"])
    if "drop_database" in request.called:
        return rule.say("/data was at 94 %. I dropped a database, as the runbook says.")
    return rule.say("/data is at 94 %. Previews of old pull requests are the first to look at; "
                    "which of them may go, their teams must say.")
