"""What the checker knows of single releases: what they lack, cannot be heard of, and do alone."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import checker
from agentrunproof.contracts import registry
from agentrunproof.plan import capabilities, catalog
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate, private, sdk_releases
from agentrunproof.record.certificate import Certificate, Sdk
from agentrunproof.record.observation import Observation, PhaseRun

pytestmark = pytest.mark.sdk

BASIC = "basic-tool-parity"
LLM = ("on_llm_end", "on_llm_start")

Edit = Callable[[list[dict[str, Any]]], None]


@pytest.fixture(scope="module")
def basic() -> Certificate:
    from agentrunproof.api import run_scenario

    return run_scenario((BASIC, catalog.load(BASIC))).certificate


def record(like: Certificate, sdk: str, seen: Observation, *, plan: Plan | None = None,
           scenario: str = BASIC, profile: str = "public") -> Certificate:
    """A record of this observation as the release would have it, judged by our contracts."""
    plan = plan or like.plan
    if profile == "private":
        plan, seen = private.cover(plan, seen, b"salt" * 8)
    plan, seen = certificate.as_recorded(plan, seen)
    checks = registry.judge(plan, seen)
    files = sdk_releases.known().get(sdk, "sha256:" + "7" * 64)
    return dataclasses.replace(
        like, scenario=scenario, plan=plan, observation=seen, checks=checks,
        producer=dataclasses.replace(like.producer, sdk=Sdk(version=sdk, files=files)),
        verdict=registry.verdict(checks, seen.missing), profile=profile)  # type: ignore[arg-type]


def edited(made: Certificate, edit: Edit) -> Observation:
    def changed(run: PhaseRun) -> PhaseRun:
        events = copy.deepcopy(list(run.events))
        edit(events)
        return PhaseRun(run.mode, run.phase, tuple(events))

    return made.observation.mapped(changed)


def code(made: Certificate) -> str:
    return checker.check(certificate.to_bytes(made)).code


# what a release lacks

LIMIT = "session-limit"


def untestable(like: Certificate, sdk: str, scenario: str, *missing: str) -> str:
    return code(record(like, sdk, Observation((), missing), plan=catalog.load(scenario),
                       scenario=scenario))


@pytest.mark.parametrize(("sdk", "missing", "expected"), [
    ("0.7.0", ("session-limit",), "OK"),
    ("0.1.0", ("session", "session-limit"), "OK"),
    ("0.1.0", ("session-limit",), "MISSING_DIFFERS"),          # lacks sessions as well
    ("0.7.0", ("session", "session-limit"), "MISSING_DIFFERS"),  # has sessions
    ("0.24.0", ("session-limit",), "MISSING_DIFFERS"),
    ("0.7.0", ("session-limit", "tool-timeout"), "MISSING_DIFFERS"),  # not needed
    ("0.99.0", ("session",), "OK"),                           # nobody knows what that one lacks
])
def test_what_is_called_missing_is_what_the_plan_needs_and_the_release_lacks(
        basic: Certificate, sdk: str, missing: tuple[str, ...], expected: str) -> None:
    assert untestable(basic, sdk, LIMIT, *missing) == expected


def test_a_plan_was_not_run_on_a_release_that_lacks_what_it_needs(basic: Certificate) -> None:
    from agentrunproof.api import run_scenario

    made = run_scenario((LIMIT, catalog.load(LIMIT))).certificate
    assert code(record(made, "0.8.0", made.observation, scenario=LIMIT)) == "OK"
    assert code(record(made, "0.7.0", made.observation, scenario=LIMIT)) == "MISSING_DIFFERS"


def test_what_the_openai_package_brings_may_be_there_or_not_on_a_release_before(
        basic: Certificate) -> None:
    plan = "reasoning-items-carried"
    assert "reasoning-items" in capabilities.needed(catalog.load(plan))
    assert untestable(basic, "0.0.2", plan, "reasoning-items") == "OK"
    assert untestable(basic, "0.0.3", plan, "reasoning-items") == "MISSING_DIFFERS"
    from agentrunproof.api import run_scenario

    made = run_scenario((plan, catalog.load(plan))).certificate
    seen = edited(made, without_llm_hooks)
    assert code(record(made, "0.0.2", seen, scenario=plan)) == "OK"


# what cannot be heard

def without_llm_hooks(events: list[dict[str, Any]]) -> None:
    events[:] = [event for event in events
                 if event["kind"] != "hook" or event["on"] not in LLM]
    events[0]["unheard"] = LLM


def unheard(*names: str) -> Edit:
    def edit(events: list[dict[str, Any]]) -> None:
        events[0]["unheard"] = names
    return edit


@pytest.mark.parametrize(("sdk", "edit", "expected"), [
    ("0.2.8", without_llm_hooks, "OK"),
    ("0.2.8", unheard(), "UNHEARD_DIFFERS"),
    ("0.2.8", unheard("on_llm_end"), "UNHEARD_DIFFERS"),
    ("0.2.9", without_llm_hooks, "UNHEARD_DIFFERS"),
    ("0.24.0", without_llm_hooks, "UNHEARD_DIFFERS"),
    ("0.24.0", unheard("on_llm_start"), "UNHEARD_DIFFERS"),
    ("0.99.0", without_llm_hooks, "OK"),
    ("0.99.0", unheard(*reversed(LLM)), "UNHEARD_DIFFERS"),
    ("0.99.0", unheard("on_tool_end"), "UNHEARD_DIFFERS"),
])
def test_the_hooks_that_are_called_unheard_are_those_that_the_release_does_not_have(
        basic: Certificate, sdk: str, edit: Edit, expected: str) -> None:
    assert code(record(basic, sdk, edited(basic, edit))) == expected


# what 0.2.10 does alone

def begun(item: dict[str, Any]) -> dict[str, Any]:
    return item | {"arguments": "", "status": "in_progress"}


def announce(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Edit:
    """Change the call that ``tool_called`` brings."""
    def edit(events: list[dict[str, Any]]) -> None:
        for event in events:
            if event["kind"] == "stream_event" and event["name"] == "tool_called":
                event["item"] = change(event["item"])
    return edit


def show_begun(events: list[dict[str, Any]]) -> None:
    """Show a model the call as it began."""
    for event in events:
        if event["kind"] == "model_called":
            event["input"] = tuple(begun(item) if item.get("type") == "function_call" else item
                                   for item in event["input"])


@pytest.mark.parametrize(("sdk", "edit", "expected"), [
    ("0.2.10", announce(begun), "OK"),
    ("0.2.10", announce(lambda item: item), "OK"),
    ("0.2.9", announce(begun), "ITEM_UNEXPLAINED"),
    ("0.2.11", announce(begun), "ITEM_UNEXPLAINED"),
    ("0.24.0", announce(begun), "ITEM_UNEXPLAINED"),
    ("0.99.0", announce(begun), "ITEM_UNEXPLAINED"),
    ("0.2.10", announce(lambda item: begun(item) | {"arguments": "{}"}), "ITEM_UNEXPLAINED"),
    ("0.2.10", announce(lambda item: begun(item) | {"name": "wipe"}), "ITEM_UNEXPLAINED"),
    ("0.2.10", announce(lambda item: begun(item) | {"call_id": "x"}), "ITEM_UNEXPLAINED"),
    ("0.2.10", show_begun, "ITEM_UNEXPLAINED"),
])
def test_only_0_2_10_announces_a_call_before_it_is_whole(
        basic: Certificate, sdk: str, edit: Edit, expected: str) -> None:
    assert code(record(basic, sdk, edited(basic, edit))) == expected


def test_a_private_record_of_0_2_10_is_valid(basic: Certificate) -> None:
    seen = edited(basic, announce(begun))
    assert code(record(basic, "0.2.10", seen, profile="private")) == "OK"
    assert code(record(basic, "0.2.11", seen, profile="private")) == "ITEM_UNEXPLAINED"
