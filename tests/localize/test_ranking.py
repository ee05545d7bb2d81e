"""Which step is named, and when none is."""

from __future__ import annotations

import pytest

from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace
from tests.localize.made import answer, end, of, task, tool


def test_a_healthy_run_yields_no_onset() -> None:
    result = of(task(0, "Add a line."), tool(1, "edit_file"), tool(2, "pytest"), end(3, "success"))
    assert (result.status, result.suspects, result.symptom) == ("HEALTHY", (), None)


def test_a_failure_that_the_run_got_over_is_no_onset() -> None:
    result = of(tool(1, "pytest", "error"), tool(2, "edit_file"), tool(3, "pytest"),
                end(4, "success"))
    assert result.status == "HEALTHY"
    assert [finding.recovered for finding in result.findings
            if finding.detector == "tool-failure"] == [True]


def test_in_a_bad_run_only_the_same_call_gets_over_a_failure() -> None:
    result = of(tool(1, "fetch", "error", url="a"), tool(2, "fetch", url="a"),
                tool(3, "build", "error", target="x"), tool(4, "lint"), end(5, "failure"))
    assert [suspect.step for suspect in result.suspects] == [3]


def test_the_earliest_of_equal_failures_is_the_onset_and_the_last_the_symptom() -> None:
    result = of(tool(1, "fetch", "error"), tool(2, "build", "error"), end(3, "failure"))
    assert result.onset == 1
    assert result.symptom is not None
    assert result.symptom.step == 2


def test_who_wrote_the_failing_calls_input_is_blamed_before_the_call() -> None:
    result = of(task(0, "Ship it."), tool(1, "write_file", path="config.yaml"),
                tool(2, "edit_file", path="readme.md"), tool(3, "read_config", "error",
                                                             path="config.yaml"),
                end(4, "failure"))
    assert result.onset == 1
    assert [(edge.source, edge.target, edge.value) for edge in result.edges] == [
        (1, 3, "config.yaml")]


def test_a_recorded_change_is_blamed_where_nothing_else_looks_wrong() -> None:
    result = of(tool(4, "write_config", changes={"endpoint": "staging"}), tool(6, "edit_file"),
                tool(14, "pytest", "error"), end(15, "failure"))
    assert result.onset == 4


def test_a_failed_run_always_has_a_suspect() -> None:
    result = of(task(0, "Say hi."), answer(1, "hi"), failed=True)
    assert (result.status, result.onset) == ("ONSET", 1)
    assert of(task(0, "Say hi."), answer(1, "hi")).status == "HEALTHY"


def test_whoever_first_wrote_the_wrong_answer_is_suspected() -> None:
    result = of(task(0, "Which pen is cheapest?"), answer(1, "Let me look at the shop first."),
                answer(2, "The cheapest pen is the **Turquoise Harbinger** of all, I believe."),
                answer(3, "FINAL ANSWER: Turquoise Harbinger"), failed=True)
    assert result.onset == 2
    assert "answer" in {term.name for term in result.suspects[0].terms}


def test_an_answer_that_a_program_printed_is_its_writers() -> None:
    result = of(task(0, "How many?"), answer(1, "Let me think about how to count all of these."),
                answer(2, "```python\nprint(count())\n```"), tool(3, "executor", output="8412",
                                                                  by=2),
                answer(4, "FINAL ANSWER: 8412"), failed=True)
    assert result.onset == 2


def test_a_score_is_the_sum_of_its_terms_and_the_list_is_in_their_order() -> None:
    result = of(tool(1, "fetch", "error"), tool(2, "set_flag", changes={"on": "yes"}),
                tool(3, "build", "error"), end(4, "failure"))
    assert all(suspect.score == sum(term.points for term in suspect.terms)
               for suspect in result.suspects)
    order = [(-suspect.score, suspect.step) for suspect in result.suspects]
    assert order == sorted(order)


def test_what_is_left_out_is_not_used() -> None:
    trace = Trace([tool(1, "a", "error"), end(2, "failure")])
    assert localize(trace, without={"tool-failure"}).suspects == ()


@pytest.mark.parametrize("steps", [(), (task(0, "Hello"),)])
def test_a_run_in_which_nothing_was_done_can_be_looked_at(steps: tuple[object, ...]) -> None:
    assert of(*steps).suspects == ()  # type: ignore[arg-type]
