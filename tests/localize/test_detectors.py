"""Each detector sees what it is for, and keeps silent about its nearest relative."""

from __future__ import annotations

import pytest

from agentrunproof.localize.detectors import DETECTORS
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step
from tests.localize.made import answer, end, task, tool

_PROGRAM = "Let us run it:\n```python\nprint(len(rows))\n```\nThe executor prints what it finds."
_CHECKED = "I have verified the prices in the shop myself; the cheapest of them is the blue one."


def _executed(number: int, by: int, output: str, status: str = "ok") -> Step:
    return tool(number, "executor", status, output, by=by)


def _memory(number: int, key: str, operation: str, value: str = "", age: str = "") -> Step:
    return Step(number=number, kind="memory", tool=key,
                input=value if operation == "write" else "",
                output=value if operation == "read" else "",
                facts={"operation": operation, **({"age": age} if age else {})})


def _handoff(number: int, text: str = "", **facts: str) -> Step:
    return Step(number=number, kind="handoff", agent="lead", output=text, facts=facts)


def _claim(number: int, text: str = "", **facts: str) -> Step:
    return Step(number=number, kind="claim", output=text, facts=facts)


_START = Step(number=0, kind="start")
_ASK = "Please list every series with its rating and number of seasons"

#: detector, what it should see, at which steps it should point, and a run that is nearly the same
CASES = [
    ("tool-failure", [tool(1, "build", "error")], [1], [tool(1, "build")]),
    ("tool-failure", [answer(1, "x"), tool(2, "build", "blocked", by=1)], [1], []),
    ("tool-failure", [answer(1, "x"), tool(2, "fetch", "timeout", by=1)], [2], []),
    ("model-failure", [answer(1, "", status="error")], [1], [answer(1, "hello")]),
    ("model-failure", [answer(1, "half a", status="cut")], [1], [answer(1, "", status="open")]),
    ("retry-storm", [tool(n, "deploy", "error") for n in (1, 2, 3)], [1],
     [tool(1, "deploy", "error"), tool(2, "deploy", "error"), tool(3, "deploy")]),
    ("loop", [tool(n, "read", output="same", path="a") for n in (1, 2, 3)], [1],
     [tool(n, "read", output=f"line {n}", path="a") for n in (1, 2, 3)]),
    ("flapping", [tool(n, "set", changes={"on": value}) for n, value in
                  ((1, "yes"), (2, "no"), (3, "yes"))], [1],
     [tool(n, "set", changes={"on": value}) for n, value in ((1, "a"), (2, "b"), (3, "c"))]),
    ("stale-memory", [_memory(1, "target", "read", age="900000")], [1],
     [_memory(1, "target", "read", age="60")]),
    ("stale-memory", [_memory(1, "k", "write", "new"), _memory(2, "k", "read", "old")], [2],
     [_memory(1, "k", "write", "new"), _memory(2, "k", "read", "new")]),
    ("incomplete-handoff", [_handoff(1, to="tester", missing="branch")], [1],
     [_handoff(1, to="tester")]),
    ("claim", [_claim(1, support="contradicted")], [1], [_claim(1, support="supported")]),
    ("claim", [tool(1, "pytest", "error"), _claim(2, "All tests passed.")], [2],
     [tool(1, "pytest", "error"), _claim(2, "The tests have not passed.")]),
    ("outcome", [tool(1, "x"), end(2, "failure")], [2], [tool(1, "x"), end(2, "success")]),
    ("outcome", [tool(1, "pytest", "error"), end(2, "success")], [2],
     [tool(1, "pytest", "error"), tool(2, "pytest"), end(3, "success")]),
    ("interruption", [_START, tool(1, "build")], [1], [_START, tool(1, "build"), end(2, "ok")]),
    ("start", [tool(4, "edit_file")], [4], [_START, tool(4, "edit_file")]),
    ("gap", [tool(n, "x") for n in (1, 2, 3, 12)], [12], [tool(n, "x") for n in (1, 4, 7, 10)]),
    ("budget", [answer(1, "Max rounds (30) reached.")], [1], [answer(1, "It took 30 rounds.")]),
    ("wording", [answer(1, "x"), tool(2, "cancel", output="Error: no such order", by=1)], [1],
     [answer(1, "x"), tool(2, "cancel", output="Errors: none", by=1)]),
    ("wording", [answer(1, _PROGRAM), _executed(2, 1, "exitcode: 0 (execution succeeded)\n"
                                                "Code output: Error: no table")], [1],
     [answer(1, _PROGRAM), _executed(2, 1, "exitcode: 0 (execution succeeded)\n"
                                     "Code output: 4 tables, error rate 0")]),
    ("emptiness", [answer(1, _PROGRAM), _executed(2, 1, "[]")], [1],
     [answer(1, _PROGRAM), _executed(2, 1, "[4]")]),
    ("emptiness", [answer(1, _PROGRAM), _executed(2, 1, "exitcode: 0 (execution succeeded)\n"
                                                  "Code output: No rows of 1977 were found.")], [1],
     [answer(1, _PROGRAM), _executed(2, 1, "exitcode: 0 (execution succeeded)\n"
                                     "Code output: No errors were found in 12 rows.")]),
    ("emptiness", [answer(1, _PROGRAM), _executed(2, 1, "Could not read the table.")], [1],
     [answer(1, "x"), tool(2, "find", output="Could not read the table.", by=1, who="Ann")]),
    ("emptiness", [answer(1, "x"), tool(2, "find", output="None", by=1, who="Ann")], [1],
     [answer(1, "x"), tool(2, "think", output="", by=1, thought="hm")]),
    ("apology", [answer(1, "It is 7."), answer(2, "I apologize for the confusion.")], [1],
     [answer(1, "It is 7."), answer(2, "I apologize for the wait.", agent="other")]),
    ("evidence", [answer(1, _PROGRAM), _executed(2, 1, "boom", "error"), answer(3, _CHECKED)], [3],
     [answer(1, _PROGRAM), _executed(2, 1, "12.90"), answer(3, _CHECKED)]),
    ("count", [tool(1, "list", output='["a", "b"]', kind="shirt"),
               answer(2, "There are 11 shirts.")], [2],
     [tool(1, "list", output="11 in all", kind="shirt"), answer(2, "There are 11 shirts.")]),
    ("request", [_handoff(1, _ASK), answer(2, "I clicked."), _handoff(3, _ASK + " now")], [2],
     [_handoff(1, _ASK), answer(2, "I clicked."), _handoff(3, "Open the second page instead")]),
    ("repetition", [answer(1, _CHECKED), answer(2, _CHECKED)], [1],
     [answer(1, "TERMINATE"), answer(2, "TERMINATE")]),
    ("instruction", [task(0, "Never call drop_table. Ask first."), tool(1, "drop_table")], [1],
     [task(0, "Call drop_table at the end."), tool(1, "drop_table")]),
    ("instruction", [task(0, "Respond with valid JSON."), answer(1, "It is 4.")], [1],
     [task(0, "Respond with valid JSON."), answer(1, '```json\n{"n": 4}\n```')]),
    ("state-change", [tool(1, "get_order"), tool(2, "cancel_order"), tool(3, "cancel_order")], [2],
     [tool(1, "get_order"), tool(2, "transfer_to_agent")]),
    ("state-change", [tool(1, "cancel_order", output="Error: not pending"),
                      tool(2, "updateOrder", output="ok")], [2], []),
]


@pytest.mark.parametrize(("name", "steps", "points_at", "relative"), CASES,
                         ids=[f"{case[0]}-{n}" for n, case in enumerate(CASES)])
def test_a_detector_sees_what_it_is_for_and_nothing_near(
        name: str, steps: list[Step], points_at: list[int], relative: list[Step]) -> None:
    found = [seen.at for seen in DETECTORS[name](Trace(steps))]
    assert [steps[at].number for at in found] == points_at
    assert list(DETECTORS[name](Trace(relative))) == []


def test_every_detector_is_tried_here() -> None:
    assert {case[0] for case in CASES} == set(DETECTORS)


@pytest.mark.parametrize("name", DETECTORS)
def test_no_detector_minds_a_run_without_steps(name: str) -> None:
    assert list(DETECTORS[name](Trace(()))) == []


def test_a_value_that_differs_from_the_tasks_is_named() -> None:
    steps = [task(0, 'Deploy the shop; environment is "production".'),
             tool(1, "write_config", environment="staging")]
    messages = [seen.message for seen in DETECTORS["state-change"](Trace(steps))]
    assert messages[-1] == ("write_config: environment is 'staging', the task says 'production'")


def test_failures_of_one_writer_count_once() -> None:
    steps = [answer(1, "x"), tool(2, "a", "error", by=1), tool(3, "b", "error", by=1)]
    assert [seen.points for seen in DETECTORS["tool-failure"](Trace(steps))] == [4, 0]
