"""Random findings and matrices of them, for tests that need some."""

from __future__ import annotations

from hypothesis import strategies as st

from agentrunproof.plan.model import Plan
from agentrunproof.record.layout import Finding, Findings, head_of_plan, lay_out, of_error
from agentrunproof.record.matrix import Column, Matrix, Row
from agentrunproof.record.result import CheckResult
from tests.plans import greeting

CHECKS = ("exactly_once", "tool_linkage", "usage_sum")
RELEASES = tuple(f"0.{number}.0" for number in range(7, 13))
COLUMNS = tuple(Column(sdk=release, python="3.12") for release in RELEASES)


def head(scenario: str = "greeting", plan: Plan | None = None) -> Row:
    return head_of_plan(scenario, plan or greeting())


def ran(number: int = 0, **verdicts: str) -> Finding:
    """A finding with these checks: ``PASS``, ``UNTESTABLE``, or the code of a failure."""
    results = []
    for check, word in verdicts.items():
        verdict = word if word in ("PASS", "UNTESTABLE") else "FAIL"
        code = {"PASS": "OK", "UNTESTABLE": "UNSEEN"}.get(word, word)
        results.append(CheckResult(check, verdict, code))  # type: ignore[arg-type]
    found = {result.verdict for result in results}
    verdict = next((one for one in ("FAIL", "UNTESTABLE") if one in found), "PASS")
    return Finding(verdict, f"sha256:{number:064x}", (), tuple(results))  # type: ignore[arg-type]


def lacking(number: int = 0) -> Finding:
    return Finding("UNTESTABLE", f"sha256:{number:064x}", ("run-state",))


def history(letters: str, check: str = "tool_linkage") -> Matrix:
    """One row: ``p`` passes, a capital fails with that code, ``-`` lacks, ``?`` unjudged."""
    found = {"p": ran(**{check: "PASS"}), "-": lacking(), "?": of_error("WORKER_DIED"),
             "u": ran(**{check: "UNTESTABLE"}), "a": ran(other="PASS")}
    columns = [Column(sdk=f"0.{number}.0", python="3.12") for number in range(len(letters))]
    return lay_out("0.1.0", columns, [head()], {
        ("greeting", column): found.get(letter) or ran(**{check: letter})
        for column, letter in zip(columns, letters, strict=True)})


FINDINGS: st.SearchStrategy[Finding] = st.one_of(
    st.builds(lambda number, verdicts: ran(number, **verdicts), st.integers(0, 9),
              st.dictionaries(st.sampled_from(CHECKS),
                              st.sampled_from(["PASS", "LOST", "TWICE", "UNTESTABLE"]),
                              min_size=1)),
    st.builds(lacking, st.integers(0, 9)),
    st.sampled_from([of_error("WORKER_DIED"), of_error("NO_NETWORK")]))

LANES = st.sets(st.tuples(st.sampled_from(["3.10", "3.12"]),
                          st.sampled_from([(), ("openai=lowest",)])), min_size=1)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    columns = [Column(sdk=sdk, python=python, pins=pins) for python, pins in draw(LANES)
               for sdk in draw(st.sets(st.sampled_from(RELEASES), min_size=1))]
    heads = [head(scenario) for scenario in draw(
        st.sets(st.sampled_from(["greeting", "parting", "a-third"]), min_size=1))]
    findings: Findings = {(row.scenario, column): draw(FINDINGS)
                          for row in heads for column in columns}
    return lay_out("0.1.0", draw(st.permutations(columns)), draw(st.permutations(heads)),
                   findings)
