"""Any plan survives the way through JSON, and no document breaks the loader."""

from __future__ import annotations

import copy
import dataclasses
import json
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.errors import AgentRunProofError, PlanError, ShapeError
from agentrunproof.plan import catalog, rules
from agentrunproof.plan.capabilities import CAPABILITIES, needed
from agentrunproof.plan.loader import tomllib
from agentrunproof.plan.model import Plan
from agentrunproof.plan.schema import plan_schema
from agentrunproof.plan.sugar import expand
from agentrunproof.shape import Range, Text, fields_of


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a declared shape, drawn from the declaration itself."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        constraint = args[1]
        if isinstance(constraint, Text):
            return st.from_regex(constraint.pattern, fullmatch=True).filter(str.isascii)
        assert isinstance(constraint, Range)
        return st.integers(constraint.low, constraint.high)
    if origin in (Union, types.UnionType):
        return st.none() | values(args[0])
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        return st.lists(values(args[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(values(args[0]), values(args[1]), max_size=2)
    if annotation is Any:
        return st.recursive(st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
                            lambda inner: st.lists(inner, max_size=2), max_leaves=3)
    if dataclasses.is_dataclass(annotation):
        names = [raw.name for raw in dataclasses.fields(annotation)]
        parts = {name: values(field.annotation)
                 for name, field in zip(names, fields_of(annotation), strict=True)}
        required = {name: parts.pop(name)
                    for name, field in zip(names, fields_of(annotation), strict=True)
                    if field.required}
        return st.fixed_dictionaries(required, optional=_few(parts)).map(
            lambda given: annotation(**given))
    return {str: st.text(max_size=5), int: st.integers(-9, 9), bool: st.booleans()}[annotation]


def _few(parts: dict[str, st.SearchStrategy[Any]]) -> dict[str, st.SearchStrategy[Any]]:
    return {name: st.deferred(lambda strategy=strategy: strategy)
            for name, strategy in parts.items()}


PLANS = values(Plan)
SLOW = settings(max_examples=40, deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                                       HealthCheck.filter_too_much])


@SLOW
@given(PLANS)
def test_a_plan_survives_the_way_through_canonical_json(plan: Plan) -> None:
    value = plan.to_json()
    again = canonical.parse(canonical.dumps(value))
    assert Plan.from_json(again) == plan
    assert Plan.from_json(again).to_json() == value


@SLOW
@given(PLANS)
def test_rules_answer_any_plan_of_the_right_shape_with_a_plan_error_at_most(plan: Plan) -> None:
    found: PlanError | None = None
    try:
        rules.check(plan)
    except PlanError as error:
        found = error
    if found is None:
        assert set(needed(plan)) <= set(CAPABILITIES)
    else:
        assert found.code.startswith("PLAN_")
        assert "\n" not in found.message


SCHEMA = jsonschema.Draft202012Validator(plan_schema())
DOCUMENTS = [tomllib.loads(catalog.path(id).read_text(encoding="utf-8")) for id in catalog.ids()]
SCALARS: list[Any] = [None, True, 0, -1, 0.5, float("inf"), "", "x", "python:a:b", [], {}, [[]],
                      {"x": 1}, 2**60]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    inner = [place for _, item in pairs if isinstance(item, dict | list) for place in places(item)]
    return [(value, key) for key, _ in pairs] + inner


def mutate(data: st.DataObject) -> dict[str, Any]:
    """A packaged plan's document with one value replaced, removed or put under another key."""
    document = copy.deepcopy(data.draw(st.sampled_from(DOCUMENTS)))
    container, key = data.draw(st.sampled_from(places(document)))
    how = data.draw(st.sampled_from(["replace", "remove", "rename"]))
    value = container[key]
    if how == "replace" or isinstance(container, list):
        container[key] = data.draw(st.sampled_from(SCALARS))
    else:
        del container[key]
        if how == "rename":
            container[f"{key}x"] = value
    return document


def loads(document: dict[str, Any]) -> bool:
    try:
        rules.check(Plan.from_json(expand(document)))
    except (PlanError, ShapeError):
        return False
    return True


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_document_is_refused_or_loads_and_nothing_else(data: st.DataObject) -> None:
    document = mutate(data)
    before = json.dumps(document, default=str)
    try:
        plan = Plan.from_json(expand(document))
        rules.check(plan)
    except AgentRunProofError:
        pass
    else:
        assert Plan.from_json(canonical.parse(canonical.dumps(plan.to_json()))) == plan
    assert json.dumps(document, default=str) == before, "expanding changed its argument"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_the_published_schema_refuses_the_loader_refuses(data: st.DataObject) -> None:
    document = mutate(data)
    if not SCHEMA.is_valid(document):
        assert not loads(document)
