"""Plans written as TOML load as the same plans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentrunproof.errors import PlanError
from agentrunproof.plan import catalog, writer
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Run


@pytest.mark.parametrize("id", catalog.ids())
def test_a_written_plan_loads_as_the_same_plan(id: str) -> None:
    plan = catalog.load(id)
    assert load_text(writer.to_toml(plan), id).to_json() == plan.to_json()


def test_short_forms_are_written() -> None:
    text = writer.to_toml(catalog.load("runstate-sibling-approval-isolation"))
    assert 'script = [[{ call = "charge", args = { amount = 64 } }]]' in text
    assert 'resume = { from = "pause", branch = "a", approve = ["call-1"] }' in text
    assert "start" not in text


def test_what_toml_cannot_say_is_refused() -> None:
    plan = replace(catalog.load("runstate-sibling-approval-isolation"),
                   run=Run(context={"nothing": None}))
    with pytest.raises(PlanError, match="null"):
        writer.to_toml(plan)
