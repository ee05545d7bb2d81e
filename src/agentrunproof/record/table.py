"""The item table: events with inline items <-> stored events that refer to items by number.

A model input repeats the whole conversation each turn, so in a record each conversation item
stands once, in the order in which the events first mention it, and events hold its number. A
stored event also leaves out the fields at their default. Both rules are driven by
`record.events.FIELDS`, and reading is strict, so an observation has exactly one stored form.
Runs of variants are told by what they share with the plan's own (`record.likeness`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from agentrunproof.canonical import key
from agentrunproof.errors import RecordError, ShapeError
from agentrunproof.record.events import FIELDS, Event, HoldsItem, ItemRef
from agentrunproof.record.likeness import SPAN_SCHEMA, Likeness
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns
from agentrunproof.shape import Count, Field, decode, fields_schema, nearest, table_decoder

Item = dict[str, Any]
Stored = dict[str, Any]


class Parts(NamedTuple):
    """What a record holds of an observation."""

    items: list[Item]
    runs: list[Stored]
    variants: list[Stored]


def store(seen: Observation) -> Parts:
    """The item table, the runs and the variants' runs of an observation, as a record has them."""
    items: list[Item] = []
    numbers: dict[str, int] = {}

    def number(item: Item) -> int:
        at = numbers.setdefault(key(item), len(items))
        if at == len(items):
            items.append(item)
        return at

    known: dict[int, Stored] = {}  # what was read shares events between runs

    def stored(run: PhaseRun) -> Stored:
        events = []
        for event in run.events:
            if id(event) not in known:
                known[id(event)] = store_event(event, number)
            events.append(known[id(event)])
        return {"mode": run.mode, "phase": run.phase, "events": events}

    runs = [stored(run) for run in seen.runs]
    own = Likeness(runs)
    variants = [{"name": variant.name, "runs": [own.shorten(stored(run)) for run in variant.runs]}
                for variant in seen.variants]
    return Parts(items, runs, variants)


def store_event(event: Event, number: Callable[[Item], int]) -> Stored:
    """One event in stored form; `number` gives the table's number for an item."""
    kind = event["kind"]
    stored: Stored = {"kind": kind}
    for field, replace in _replacers(kind):
        value = event[field.name]
        if field.required or not _at_default(value, field):
            value = _plain(value)
            stored[field.name] = value if replace is _unchanged else replace(value, number)
    return stored


def resolve(items: Any, runs: Any, missing: Iterable[str] = (), variants: Any = ()
            ) -> Observation:
    """Read the stored form back; nothing but what `store` writes is accepted.

    Args:
        items: the item table, parsed JSON.
        runs: the runs, parsed JSON.
        missing: capabilities the release lacks, carried over.
        variants: the variants' runs, parsed JSON.

    Raises:
        RecordError: ``RECORD_SHAPE``, ``RECORD_UNKNOWN_KIND``, ``RECORD_EXPLICIT_DEFAULT``,
            ``RECORD_DANGLING_ITEM``, ``RECORD_ITEM_ORDER``, ``RECORD_UNUSED_ITEM``,
            ``RECORD_DUPLICATE_ITEM``, ``RECORD_DANGLING_EVENT`` or ``RECORD_LIKENESS``.
    """
    try:
        table = decode(tuple[dict[str, Any], ...], items, "items")
        stored_runs = decode(tuple[dict[str, Any], ...], runs, "runs")
        reader = _Reader(table)
        read = tuple(_read_run(run, f"runs[{n}]", reader) for n, run in enumerate(stored_runs))
        own = Likeness(stored_runs)
        varied = tuple(
            _read_variant(variant, f"variants[{n}]", reader, own, read)
            for n, variant in enumerate(decode(tuple[dict[str, Any], ...], variants, "variants")))
    except ShapeError as problem:
        raise RecordError("RECORD_SHAPE", problem.message, problem.hint) from None
    reader.check_all_used()
    return Observation(read, tuple(missing), varied)


def items_in(event: Event) -> list[Item]:
    """The items that an event (with its items inline) holds, in order."""
    found: list[Item] = []
    for name, replace in _holders(event["kind"]):
        replace(event[name], found.append)
    return found


def with_items(event: Event, change: Callable[[Item], Item]) -> Event:
    """A copy of an event (with its items inline) with every item changed."""
    return event | {name: replace(event[name], change)
                    for name, replace in _holders(event["kind"])}


def schema(definitions: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema of the stored runs; the shape of each event kind goes to `definitions`."""
    for kind in FIELDS:
        fields = (Field("kind", str, True), *_stored_fields(kind))
        shape = fields_schema(fields, definitions)
        shape["properties"]["kind"] = {"const": kind}
        definitions[f"event_{kind}"] = shape
    events = {"oneOf": [{"$ref": f"#/$defs/event_{kind}"} for kind in FIELDS]}
    run = fields_schema(_RUN, definitions)
    run["properties"]["events"] = {"type": "array", "items": events}
    return {"type": "array", "items": run}


def variants_schema(runs: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema of the stored variants; `runs` is what `schema` gave."""
    run = copy.deepcopy(runs["items"])
    run["properties"]["events"]["items"]["oneOf"].append(SPAN_SCHEMA)
    variant = fields_schema(_VARIANT, definitions)
    variant["properties"]["runs"] = {"type": "array", "items": run}
    return {"type": "array", "items": variant}


_RUN = (Field("mode", str, True), Field("phase", str, True),
        Field("events", tuple[dict[str, Any], ...], True))
_VARIANT = (Field("name", str, True), Field("runs", tuple[dict[str, Any], ...], True))
_decode_run = table_decoder(_RUN, "a run")
_decode_variant = table_decoder(_VARIANT, "a variant")
_decode_short_run = table_decoder((*_RUN[:2], Field("events", tuple[Any, ...], True)), "a run")


class _Reader:
    """Hands out items by number and holds references to their order of first appearance."""

    def __init__(self, items: tuple[Item, ...]) -> None:
        self._items = items
        self._next = 0
        keys: dict[str, int] = {}
        for number, item in enumerate(items):
            first = keys.setdefault(key(item), number)
            if first != number:
                raise RecordError("RECORD_DUPLICATE_ITEM",
                                  f"items[{number}] is the same as items[{first}]")

    def item(self, number: Any) -> Item:
        number = decode(Count, number, "the item an event refers to")
        if number >= len(self._items):
            raise RecordError("RECORD_DANGLING_ITEM", f"an event refers to item {number}, but "
                              f"there are {len(self._items)} items")
        if number > self._next:
            raise RecordError("RECORD_ITEM_ORDER", f"an event refers to item {number} before any "
                              f"refers to item {self._next}")
        self._next = max(self._next, number + 1)
        item: Item = self._items[number]
        return item

    def check_all_used(self) -> None:
        if self._next < len(self._items):
            raise RecordError("RECORD_UNUSED_ITEM", f"no event refers to items[{self._next}]")


def _read_run(stored: Stored, path: str, reader: _Reader) -> PhaseRun:
    run = _decode_run(stored, path)
    events = tuple(_read_event(event, f"{path}.events[{n}]", reader)
                   for n, event in enumerate(run["events"]))
    return PhaseRun(run["mode"], run["phase"], events)


def _read_variant(stored: Stored, path: str, reader: _Reader, own: Likeness,
                  read: tuple[PhaseRun, ...]) -> VariantRuns:
    variant = _decode_variant(stored, path)
    runs = []
    for n, short in enumerate(variant["runs"]):
        here = f"{path}.runs[{n}]"
        run = _decode_short_run(short, here)
        place, events = own.lengthen(run)
        like = read[place].events if place is not None else ()
        runs.append(PhaseRun(run["mode"], run["phase"], tuple(
            like[event] if isinstance(event, int)
            else _read_event(event, f"{here}.events[{at}]", reader)
            for at, event in enumerate(events))))
    return VariantRuns(variant["name"], tuple(runs))


def _read_event(stored: Stored, path: str, reader: _Reader) -> Event:
    kind = stored.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise RecordError("RECORD_UNKNOWN_KIND", f"{path}: {kind!r:.60} is no kind of event",
                          nearest(kind, FIELDS))
    fields = {name: value for name, value in stored.items() if name != "kind"}
    event: Event = {"kind": kind, **_event_decoder(kind)(fields, path)}
    for field in FIELDS[kind]:
        if field.name in fields and not field.required and _at_default(event[field.name], field):
            raise RecordError("RECORD_EXPLICIT_DEFAULT", f"{path}.{field.name}: stands at "
                              "its default, which is left out")
    for name, replace in _holders(kind):
        if name in fields:
            event[name] = replace(event[name], reader.item)
    return event


@cache
def _event_decoder(kind: str) -> Callable[[Any, str], dict[str, Any]]:
    return table_decoder(_stored_fields(kind), f"event {kind}")


def _stored_fields(kind: str) -> tuple[Field, ...]:
    return tuple(Field(f.name, _stored_annotation(f.annotation), f.required, f.default)
                 for f in FIELDS[kind])


def _stored_annotation(annotation: Any) -> Any:
    """The annotation with item numbers in place of items."""
    if _marked(annotation, ItemRef):
        return Count
    if get_origin(annotation) is tuple:
        return GenericAlias(tuple, (_stored_annotation(get_args(annotation)[0]), ...))
    if _marked(annotation, HoldsItem):
        return get_args(annotation)[0]
    return annotation


_Replacer = Callable[[Any, Callable[[Any], Any]], Any]


@cache
def _replacer(annotation: Any) -> _Replacer:
    """A function that replaces every item (or item number) in a value of this type, in order."""
    if _marked(annotation, ItemRef):
        return lambda value, by: None if value is None else by(value)
    if get_origin(annotation) is tuple:
        inner = _replacer(get_args(annotation)[0])
        if inner is not _unchanged:
            return lambda value, by: None if value is None else type(value)(
                inner(item, by) for item in value)
    if _marked(annotation, HoldsItem):
        return lambda value, by: value | {"item": by(value["item"])} if "item" in value else value
    return _unchanged


@cache
def _replacers(kind: str) -> tuple[tuple[Field, _Replacer], ...]:
    """The fields of a kind of event, each with what replaces the items in it."""
    return tuple((field, _replacer(field.annotation)) for field in FIELDS[kind])


@cache
def _holders(kind: str) -> tuple[tuple[str, _Replacer], ...]:
    """The fields of a kind of event that hold items, each with what replaces them."""
    return tuple((field.name, replace) for field, replace in _replacers(kind)
                 if replace is not _unchanged)


def _unchanged(value: Any, by: Callable[[Any], Any]) -> Any:
    return value


def _at_default(value: Any, field: Field) -> bool:
    """Whether `value` is the field's default; an empty list is an empty tuple."""
    if type(value) is not list and type(value) is not tuple:
        return type(value) is type(field.default) and bool(value == field.default)
    return type(field.default) is tuple and tuple(value) == field.default


def _marked(annotation: Any, mark: type) -> bool:
    return get_origin(annotation) is Annotated and any(
        isinstance(extra, mark) for extra in get_args(annotation)[1:])


def _plain(value: Any) -> Any:
    """`value` with lists for tuples, as parsed JSON has them."""
    if type(value) is str:  # most are
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value
