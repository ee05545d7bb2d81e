"""Memory that was read though it is old, or holds another value than the one written last."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

POINTS = 4
#: Seconds: what was learned more than a week ago was learned in another session.
OLD = 7 * 24 * 3600


def find(trace: Trace) -> Iterator[Seen]:
    """Each such read."""
    written: dict[str, tuple[int, str]] = {}
    for at, step in enumerate(trace.steps):
        if step.kind != "memory":
            continue
        if step.facts.get("operation") == "write":
            written[step.tool] = (at, step.input)
            continue
        age = step.facts.get("age", "").split(".")[0]
        if age.isdecimal() and int(age) > OLD:
            yield Seen(at, f"read {step.tool} from memory, {int(age) // 86_400} days old", POINTS,
                       soft=True)
        elif step.tool in written and step.output and step.output != written[step.tool][1]:
            where, value = written[step.tool]
            yield Seen(at, f"read {step.output!r:.40} of {step.tool}, while {value!r:.40} was "
                       f"written at step {trace.steps[where].number}", POINTS, (where,), soft=True)
