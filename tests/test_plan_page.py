"""docs/plan.md: its examples load, and it leaves no key and no capability out."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from agentrunproof.plan import model
from agentrunproof.plan.capabilities import CAPABILITIES
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.sugar import SHORTHANDS
from agentrunproof.shape import fields_of

PAGE = (Path(__file__).parents[1] / "docs" / "plan.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SHAPES = [value for value in vars(model).values()
          if isinstance(value, type) and value.__module__ == model.__name__
          and dataclasses.is_dataclass(value)]


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_is_a_plan(example: str) -> None:
    assert load_text(example, "plan.md").phases


def test_the_examples_show_all_places_of_foreign_python_but_the_guardrail() -> None:
    places = [place for text in EXAMPLES for place, _ in load_text(text, "plan.md").python_refs()]
    assert places == ["tools.stock.python", "agents.clerk.instructions", "session.python"]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_key_is_explained(shape: type) -> None:
    keys = {field.name for field in fields_of(shape)}
    if shape in SHORTHANDS:
        keys |= set(SHORTHANDS[shape].keys)
    explained = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    assert keys - explained == set()


def test_capabilities_are_listed_as_the_code_has_them() -> None:
    section = PAGE.split("## Capabilities")[1].split("## ")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE))
    assert rows == CAPABILITIES
