"""Which step is named, and when none is."""

from __future__ import annotations

import pytest

from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step
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
    trace = Trace([tool(1, "a", "error")])
    assert localize(trace).onset == 1
    assert localize(trace, without={"tool-failure"}).suspects == ()


_WORK = "I looked through the list of the shops that you gave me, one by one."


def _scores(*steps: Step) -> dict[int, dict[str, int]]:
    return {suspect.step: {term.name: term.points for term in suspect.terms}
            for suspect in of(*steps, failed=True).suspects}


def test_that_work_came_first_is_no_evidence_beside_evidence() -> None:
    """Of two failed calls that of the first work is ahead only because it is earlier."""
    scores = _scores(task(0, "Count."), answer(1, _WORK), tool(2, "executor", "error", by=1),
                     answer(3, _WORK + " Again."), tool(4, "executor", "error", by=3))
    assert scores[1] == {"tool-failure": 4}
    assert scores[3]["tool-failure"] == 4


def test_weak_evidence_lifts_the_first_work_no_higher_than_nothing_would() -> None:
    scores = _scores(task(0, "Count."), answer(1, _WORK), answer(2, _WORK))
    assert scores[1]["repetition"] == 1
    assert sum(scores[1].values()) - scores[1].get("last-work", 0) == 2


@pytest.mark.parametrize("close", [(), (end(4, "completed"),)])
def test_the_last_work_is_looked_for_before_the_last_words(close: tuple[Step, ...]) -> None:
    scores = _scores(task(0, "Count."), answer(1, _WORK), answer(2, _WORK + " All of them."),
                     answer(3, _WORK + " So we are done now."), *close)
    assert [step for step, terms in scores.items() if "last-work" in terms] == [2]


@pytest.mark.parametrize("close", [(), (end(4, "completed"),)])
def test_an_end_that_is_recorded_changes_nothing_about_the_answer(close: tuple[Step, ...]) -> None:
    scores = _scores(task(0, "Which pen?"), answer(1, "It is the **Turquoise Harbinger**, I am "
                                                   "sure of it without looking it up."),
                     answer(2, "FINAL ANSWER: Turquoise Harbinger"), answer(3, "TERMINATE"), *close)
    assert scores[1]["answer"] == 4


@pytest.mark.parametrize(("rounds", "points"), [(3, 4), (10, 4), (11, 1)])
def test_the_last_of_many_tries_is_blamed_less_for_an_answer_from_nowhere(
        rounds: int, points: int) -> None:
    steps = [task(0, "Which pen?")]
    for number in range(1, 2 * rounds, 2):
        steps += [Step(number=number, kind="handoff", agent="lead", output=f"Look at page {number}",
                       facts={"to": "web"}),
                  answer(number + 1, f"{_WORK} This was page {number}.", agent="web")]
    steps.append(answer(2 * rounds + 1, "FINAL ANSWER: Turquoise Harbinger", agent="lead"))
    assert _scores(*steps)[2 * rounds]["supply"] == points


def test_a_failed_run_has_three_suspects_if_so_many_steps_acted() -> None:
    """Whoever asked for a call comes before who only said something; what agreed is left out."""
    steps = [task(0, "Count."), answer(1, _WORK), answer(2, _WORK + " All of them."),
             answer(3, "I run it."), tool(4, "executor", output="9 rows in all", by=3),
             answer(5, "Fine."), answer(6, "Fine, too.")]
    scores = _scores(*steps)
    assert list(scores)[:2] == [1, 2]
    assert scores[3] == {"further-work": 0}
    assert list(_scores(task(0, "Count."), answer(1, _WORK), answer(2, "Fine."))) == [1]


@pytest.mark.parametrize(("outcome", "status"), [
    ("failed", "ONSET"), ("raised", "ONSET"), ("timeout", "ONSET"), ("completed", "HEALTHY"),
    ("cancelled", "NONE"), ("interrupted", "NONE")])
def test_a_run_that_says_it_failed_is_taken_at_its_word(outcome: str, status: str) -> None:
    """Whoever stops a run says nothing about its steps."""
    steps = [task(0, "Book the flight."), answer(1, "I booked the flight to Oslo for you now.")]
    assert localize(Trace([*steps, end(2, outcome)])).status == status
    assert localize(Trace([*steps, end(2, outcome)], failed=True)).status == "ONSET"


@pytest.mark.parametrize("steps", [(), (task(0, "Hello"),)])
def test_a_run_in_which_nothing_was_done_can_be_looked_at(steps: tuple[object, ...]) -> None:
    assert of(*steps).suspects == ()  # type: ignore[arg-type]
