"""What the README shows works as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentrunproof.plan.loader import load_text

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The only code block in that language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return str(found)


def test_the_plan_is_a_plan() -> None:
    plan = load_text(block("toml"), "refund.toml")
    assert [phase.id for phase in plan.phases] == ["ask", "approved"]


@pytest.mark.sdk
def test_the_plan_passes() -> None:
    from agentrunproof import run_scenario

    assert run_scenario(("refund", load_text(block("toml"), "refund.toml"))).verdict == "PASS"


@pytest.mark.sdk
def test_the_python_example_runs() -> None:
    exec(compile(block("python"), "README.md", "exec"), {})


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        place = Path(__file__).parents[1] / target
        assert target.startswith("https://") or place.exists(), target
