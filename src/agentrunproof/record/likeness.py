"""A variant's run told by what it shares with the plan's own run.

The runs of a variant (`plan.variants`) are nearly those of the plan. In a record each of them
stands as a list in which ``[3, 9]`` stands for the events 3 to 9 of the run that it is held
against (`record.observation.nearest`), and only what that one does not have stands in full. An
event is always told by the earliest equal one after those already told, so there is one form.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from agentrunproof.canonical import key
from agentrunproof.errors import RecordError
from agentrunproof.record.observation import nearest
from agentrunproof.shape import Count, decode

Stored = dict[str, Any]

SPAN_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 0},
               "minItems": 2, "maxItems": 2}


class Likeness:
    """The plan's own runs, in stored form, as what runs of variants are told by."""

    def __init__(self, known: Sequence[Stored]) -> None:
        self._known = known
        self._places = [(run["mode"], run["phase"]) for run in known]
        self._keys: dict[int | None, list[str]] = {None: []}
        self._texts: dict[int, tuple[Stored, str]] = {}  # runs share events

    def shorten(self, run: Stored) -> Stored:
        """A stored run with spans of the plan's own run."""
        base = self._base(nearest(self._places, run["mode"], run["phase"]))
        return run | {"events": _told([(event, self._key(event)) for event in run["events"]], base)}

    def lengthen(self, run: Stored) -> tuple[int | None, list[int | Stored]]:
        """Which of the plan's own runs a shortened one is told by, and its events.

        An event is the number of one of that run's, or stands in full.

        Raises:
            RecordError: ``RECORD_DANGLING_EVENT`` for a span that the other run does not have,
                ``RECORD_LIKENESS`` for a run that `shorten` would write otherwise.
            ShapeError: a span is not two numbers.
        """
        place = nearest(self._places, run["mode"], run["phase"])
        base = self._base(place)
        events: list[int | Stored] = []
        for told in run["events"]:
            if isinstance(told, list | tuple):
                events += _span(decode(tuple[Count, ...], told, "a span of events"), len(base))
            else:
                events.append(decode(dict[str, Any], told, "an event"))
        again = _told([(event, base[event] if isinstance(event, int) else key(event))
                       for event in events], base)
        if again != [list(told) if isinstance(told, tuple) else told for told in run["events"]]:
            raise RecordError("RECORD_LIKENESS", f"the variant's run {run['mode']}/{run['phase']} "
                              "is not told by what it shares with the plan's own")
        return place, events

    def _base(self, place: int | None) -> list[str]:
        if place not in self._keys:
            self._keys[place] = [self._key(event) for event in self._known[place or 0]["events"]]
        return self._keys[place]

    def _key(self, event: Stored) -> str:
        if id(event) not in self._texts:
            self._texts[id(event)] = event, key(event)
        return self._texts[id(event)][1]


def _span(span: tuple[int, ...], length: int) -> range:
    if len(span) != 2 or not span[0] <= span[1] < length:
        raise RecordError("RECORD_DANGLING_EVENT", f"events {list(span)} of a run that has "
                          f"{length}")
    return range(span[0], span[1] + 1)


def _told(events: Iterable[tuple[Any, str]], base: Sequence[str]) -> list[Any]:
    """Events, each with its key, as spans of the events with the keys in `base`."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(base):
        places.setdefault(text, []).append(place)
    told: list[Any] = []
    begin = 0
    for event, text in events:
        same = places.get(text, [])
        at = bisect_left(same, begin)
        if at == len(same):
            told.append(event)
            continue
        begin = same[at] + 1
        if told and isinstance(told[-1], list) and told[-1][1] == same[at] - 1:
            told[-1][1] = same[at]
        else:
            told.append([same[at], same[at]])
    return told
