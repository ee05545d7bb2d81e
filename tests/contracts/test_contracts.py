"""Contracts hold for a faithful Runner, and each miniature flips exactly the checks it must."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from agentrunproof.contracts.base import OK, CheckResult
from agentrunproof.contracts.registry import CONTRACTS, find, judge, verdict
from agentrunproof.plan.model import Run, Session
from agentrunproof.record.observation import Observation
from tests.contracts import worlds
from tests.contracts.beside_worlds import BESIDE_WORLDS
from tests.contracts.boundaries import BOUNDARY_WORLDS
from tests.contracts.call_boundaries import CALL_BOUNDARY_WORLDS
from tests.contracts.call_worlds import CALL_WORLDS
from tests.contracts.failure_boundaries import FAILURE_BOUNDARY_WORLDS
from tests.contracts.flow_worlds import FLOW_WORLDS
from tests.contracts.function_worlds import FUNCTION_WORLDS
from tests.contracts.given_worlds import GIVEN_WORLDS
from tests.contracts.linkage_boundaries import LINKAGE_BOUNDARY_WORLDS
from tests.contracts.linkage_worlds import LINKAGE_WORLDS
from tests.contracts.miniature import Miniature
from tests.contracts.miniatures import MINIATURES
from tests.contracts.option_worlds import OPTION_WORLDS
from tests.contracts.raised_worlds import RAISED_WORLDS
from tests.contracts.reading_worlds import READING_WORLDS
from tests.contracts.relation_boundaries import RELATION_BOUNDARY_WORLDS
from tests.contracts.run_worlds import RUN_WORLDS
from tests.contracts.server_worlds import SERVER_WORLDS
from tests.contracts.turn_boundaries import TURN_BOUNDARY_WORLDS
from tests.contracts.untold_boundaries import UNTOLD_BOUNDARY_WORLDS
from tests.contracts.variations import WATCHED

FAITHFUL: dict[str, Callable[[], worlds.World]] = (
    CALL_WORLDS | RUN_WORLDS | FLOW_WORLDS | FUNCTION_WORLDS | GIVEN_WORLDS | WATCHED
    | OPTION_WORLDS | BESIDE_WORLDS | BOUNDARY_WORLDS | CALL_BOUNDARY_WORLDS
    | FAILURE_BOUNDARY_WORLDS | LINKAGE_BOUNDARY_WORLDS | LINKAGE_WORLDS | READING_WORLDS
    | RELATION_BOUNDARY_WORLDS | SERVER_WORLDS | TURN_BOUNDARY_WORLDS | RAISED_WORLDS
    | UNTOLD_BOUNDARY_WORLDS) | {
    "tools": worlds.tools, "quiet": lambda: worlds.tools(run=worlds.QUIET),
    "failing": worlds.failing, "fork": worlds.fork, "nested": worlds.nested,
    "handoff": worlds.handoff, "filtered handoff": lambda: worlds.handoff(filtered=True),
    "guarded": worlds.guarded, "blocked": worlds.blocked, "raced": worlds.raced,
    "nested history": worlds.nested_history,
    "typed handoff": lambda: worlds.typed_handoff('{"n":5}'),
    "cancelled": worlds.cancelled, "failing hook": worlds.hook_failing,
    "unpaired input": worlds.fed_by_plan, "misfit calls": worlds.misfits,
    "nested failure": worlds.nested_failure, "call id used again": worlds.used_again,
    "refused handoff": worlds.handoff_refused, "deadline": worlds.deadline,
    "broken answer": worlds.model_fails, "nested trip": worlds.nested_trip,
    "late trip": lambda: worlds.raced(started=True, gate=None),
    "twins": worlds.twins, "tried again": worlds.tried_again, "refused": worlds.refused,
    "refused result": lambda: worlds.refused(stops=True),
    "refused fallback": lambda: worlds.refused(fallback="a secret"),
    "failing in a session": lambda: worlds.failing(session=Session()),
    "max turns": lambda: worlds.failing(Run(max_turns=2), "MaxTurnsExceeded"),
}


def _named(miniature: Miniature) -> str:
    return f"{miniature.check}-{miniature.code}"


def _flipped(results: tuple[CheckResult, ...]) -> dict[str, str]:
    return {result.check: result.code for result in results if result.verdict != "PASS"}


@pytest.mark.parametrize("name", FAITHFUL)
def test_a_faithful_runner_passes_every_check(name: str) -> None:
    plan, seen = FAITHFUL[name]()
    results = judge(plan, seen)
    assert _flipped(results) == {}
    assert all(result.code == OK for result in results)
    assert verdict(results, ()) == "PASS"


@pytest.mark.parametrize("miniature", MINIATURES, ids=_named)
def test_a_miniature_flips_exactly_its_checks(miniature: Miniature) -> None:
    plan, seen = miniature.world()
    if miniature.damage is not None:
        seen = miniature.damage(seen)
    results = judge(plan, seen)
    assert _flipped(results) == miniature.flips
    unobserved = miniature.code.endswith("UNOBSERVED")
    assert verdict(results, ()) == ("UNTESTABLE" if unobserved else "FAIL")


def test_every_code_of_every_contract_has_a_miniature() -> None:
    declared = {(contract.name, code) for contract in CONTRACTS for code in contract.codes}
    assert {(mini.check, mini.code) for mini in MINIATURES} == declared


def test_every_contract_is_judged_on_some_faithful_run() -> None:
    judged = {result.check for make in FAITHFUL.values() for result in judge(*make())}
    assert judged == {contract.name for contract in CONTRACTS}


def test_names_are_unique_and_found_by_name() -> None:
    assert max(Counter(contract.name for contract in CONTRACTS).values()) == 1
    for contract in CONTRACTS:
        assert find(contract.name) is contract
        assert type(contract).__module__ == "agentrunproof.contracts.base"
    assert find("no_such_check") is None


def test_each_contract_lives_in_the_module_of_its_name_which_cites_its_source() -> None:
    import importlib

    for contract in CONTRACTS:
        module = importlib.import_module(f"agentrunproof.contracts.{contract.name}")
        assert module.CONTRACT is contract
        assert contract.source.startswith("https://")
        assert "https://" in (module.__doc__ or "") or "agents." in (module.__doc__ or "")


def test_a_check_that_does_not_apply_is_absent() -> None:
    names = {result.check for result in judge(*worlds.blocked())}
    assert "session_persistence" not in names
    assert "state_transition" not in names
    assert "guardrail_before_effect" in names


def test_a_release_that_lacks_something_is_not_judged_and_untestable() -> None:
    plan, _ = worlds.tools()
    results = judge(plan, Observation((), ("run-state",)))
    assert results == ()
    assert verdict(results, ("run-state",)) == "UNTESTABLE"


def test_the_worst_check_decides_and_judging_nothing_is_an_error() -> None:
    one = CheckResult("a", "PASS", OK)
    fail = CheckResult("b", "FAIL", "X")
    untestable = CheckResult("c", "UNTESTABLE", "Y")
    error = CheckResult("d", "ERROR", "Z")
    assert verdict((one,)) == "PASS"
    assert verdict((one, untestable)) == "UNTESTABLE"
    assert verdict((one, untestable, fail)) == "FAIL"
    assert verdict((one, error, fail)) == "ERROR"
    assert verdict(()) == "ERROR"


def test_the_first_violation_names_the_place_and_the_rest_are_counted() -> None:
    miniature = next(mini for mini in MINIATURES if mini.code == "TASK_LEAKED")
    plan, seen = miniature.world()
    assert miniature.damage is not None
    results = judge(plan, miniature.damage(seen))
    leaked = next(result for result in results if result.check == "task_cleanup")
    assert (leaked.verdict, leaked.where, leaked.also) == ("FAIL", "run/one", 1)
    assert "Runner._stray" in leaked.detail
