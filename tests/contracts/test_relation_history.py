"""Which runs are held against those that a history is handed to by hand."""

from __future__ import annotations

from agentrunproof.contracts.relation_history import CONTRACT
from tests.contracts import worlds
from tests.contracts.damage import change, on
from tests.contracts.variations import in_variant, watched

_OTHERWISE = change("run_finished", outcome="cancelled")


def test_a_run_after_one_that_ended_as_planned_is_held_against_the_variants() -> None:
    declared, seen = watched("history", worlds.tools)
    found = CONTRACT.violations(declared, in_variant("two", _OTHERWISE)(seen))
    assert [(one.code, one.where) for one in found] == [("OUTCOMES_DIFFER", "history/two")]


def test_a_run_after_one_that_ended_otherwise_is_not() -> None:
    declared, seen = watched("history", worlds.tools)
    for damage in (on("one", _OTHERWISE), in_variant("one", _OTHERWISE),
                   in_variant("two", _OTHERWISE)):
        seen = damage(seen)
    assert list(CONTRACT.violations(declared, seen)) == []
