"""Random observations of every event kind, made from the declared vocabulary."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

from hypothesis import strategies as st

from agentrunproof.record.events import FIELDS, HoldsItem, ItemRef
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
ITEM = st.fixed_dictionaries({"type": st.sampled_from(["message", "reasoning"]),
                              "n": st.integers(0, 3) | st.booleans()})


def of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a declared field, in the in-memory form."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated and any(isinstance(extra, ItemRef) for extra in args[1:]):
        return ITEM
    if origin is Annotated and any(isinstance(extra, HoldsItem) for extra in args[1:]):
        return st.fixed_dictionaries({"type": TEXT}, optional={"item": ITEM})
    if origin is Annotated:
        return st.integers(0, 9)
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        return st.lists(of(args[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, of(args[1]), max_size=2)
    return {str: TEXT, bool: st.booleans(), int: st.integers(0, 9),
            Any: TEXT | st.booleans()}[annotation]


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(FIELDS)))
    event: dict[str, Any] = {"kind": kind}
    for field in FIELDS[kind]:
        value = of(field.annotation)
        event[field.name] = draw(value if field.required else st.just(field.default) | value)
    return event


RUNS = st.builds(PhaseRun, mode=st.sampled_from(["run", "run_streamed"]),
                 phase=st.sampled_from(["a", "b"]),
                 events=st.lists(events(), max_size=5).map(tuple))


@st.composite
def variants(draw: st.DrawFn, runs: tuple[PhaseRun, ...]) -> VariantRuns:
    """Runs that share events with those of the plan, as runs of variants do."""
    shared = [event for run in runs for event in run.events]
    event = st.sampled_from(shared) | events() if shared else events()
    made = st.builds(PhaseRun, mode=st.sampled_from(["run", "run_sync"]),
                     phase=st.sampled_from(["a", "b"]),
                     events=st.lists(event, max_size=6).map(tuple))
    return VariantRuns(draw(TEXT), tuple(draw(st.lists(made, max_size=2))))


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    runs = tuple(draw(st.lists(RUNS, max_size=3)))
    return Observation(runs, variants=tuple(draw(st.lists(variants(runs), max_size=2))))


OBSERVATIONS = observations()
