"""A hook that the release does not have is not due; one that it has is."""

from __future__ import annotations

from agentrunproof.contracts.base import CheckResult, judge_one
from agentrunproof.contracts.hook_order import CONTRACT
from tests.contracts import worlds
from tests.contracts.damage import change, drop, on

LLM = ("on_llm_end", "on_llm_start")


def _judged(*missing: str, unheard: tuple[str, ...]) -> CheckResult | None:
    plan, seen = worlds.handoff()
    for hook in missing:
        seen = on("one", drop("hook", None, on=hook))(seen)
    if unheard:
        seen = on("one", change("run_started", unheard=unheard))(seen)
    return judge_one(CONTRACT, plan, seen)


def test_hooks_around_the_model_are_not_due_where_the_release_has_none() -> None:
    result = _judged(*LLM, unheard=LLM)
    assert result is not None
    assert result.verdict == "PASS"


def test_they_are_due_where_the_release_has_them() -> None:
    result = _judged(*LLM, unheard=())
    assert result is not None
    assert result.code == "HOOK_MISSING"


def test_one_of_them_is_due_where_only_the_other_lacks() -> None:
    result = _judged(*LLM, unheard=("on_llm_end",))
    assert result is not None
    assert result.code == "HOOK_MISSING"
    assert "on_llm_start" in result.detail


def test_every_other_hook_is_due_whatever_a_run_cannot_hear() -> None:
    result = _judged("on_tool_start", unheard=("on_tool_start", *LLM))
    assert result is not None
    assert result.code == "HOOK_MISSING"
