"""No two packaged plans are the same but for names and texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agentrunproof.plan import catalog
from agentrunproof.plan.model import OWN_CODE, Plan
from agentrunproof.plan.schema import plan_schema

#: What a plan says about itself; two plans must differ in more.
ABOUT = dict.fromkeys(("title", "contract", "why", "upstream", "docs", "area", "revision"))


def _language(value: Any) -> Iterator[str]:
    """Words of the plan language: names of fields, and what an enumeration allows."""
    if isinstance(value, dict):
        yield from value.get("properties", ())
        yield from (word for word in value.get("enum", ()) if isinstance(word, str))
        yield from (value["const"] for _ in "x" if isinstance(value.get("const"), str))
        value = list(value.values())
    if isinstance(value, list):
        yield from (word for part in value for word in _language(part))


WORDS = frozenset(_language(plan_schema()))


def _shape(plan: Plan) -> str:
    """A plan with each name and text replaced by the number of its first occurrence."""
    met: dict[str, str] = {}

    def text(value: str) -> Any:
        if value in WORDS or value.startswith(OWN_CODE):
            return value
        try:
            inner = json.loads(value)
        except ValueError:
            return met.setdefault(value, f"text {len(met)}")
        return value if isinstance(inner, str | int | float | None) else bare(inner)

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return [[text(key), bare(part)] for key, part in value.items()]
        if isinstance(value, list):
            return [bare(part) for part in value]
        return text(value) if isinstance(value, str) else value

    told = plan.to_json()
    kept = {key: part for key, part in told.items() if key not in ABOUT}
    if plan.calls:  # what is called with which arguments is the plan
        return json.dumps(kept["phases"])
    return json.dumps(bare(kept))


def test_no_two_packaged_plans_differ_only_in_names() -> None:
    met: dict[str, str] = {}
    twins = []
    for id in catalog.ids():
        other = met.setdefault(_shape(catalog.load(id)), id)
        if other != id:
            twins.append((other, id))
    assert twins == []


def test_a_renamed_plan_is_found_to_be_the_same_and_another_input_policy_is_not() -> None:
    plan = catalog.load("basic-tool-parity")
    told = json.dumps(plan.to_json())
    tool = next(iter(plan.tools))
    renamed = Plan.from_json(json.loads(told.replace(f'"{tool}"', '"another_name"')))
    assert renamed != plan
    assert _shape(renamed) == _shape(plan)
    assert _shape(replace(plan, run=replace(plan.run, max_turns=7))) != _shape(plan)
