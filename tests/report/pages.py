"""A matrix with something of everything, and what its page tells besides."""

from __future__ import annotations

import dataclasses

from agentrunproof.record.layout import Findings, head_of_command, lay_out, of_error, of_exit
from agentrunproof.record.matrix import Cell, Column, Matrix
from agentrunproof.record.result import CheckResult
from agentrunproof.report.page import Background
from tests.matrices import head, lacking, ran
from tests.plans import greeting

HOSTILE = "</script><script>hacked = 1</script><img src=x onerror='hacked = 1'>&amp;\"'`${hacked}"

RELEASES = ("0.7.0", "0.8.0", "0.8.1", "0.9.0", "0.10.0", "0.10.1")
COLUMNS = tuple(Column(sdk=sdk, python="3.12") for sdk in RELEASES)

#: The verdict of each cell of `everything`, rows by area and id: K is a known FAIL.
CELLS = {"alpha-fixed": "FFFPPP", "alpha-hostile": "PPPPPP", "beta-known": "PKKPPP",
         "beta-lacks": "UUUPFE"}


def everything() -> Matrix:
    """Four plans in two areas on six releases; the cells are those of `CELLS`."""
    plans = {id: dataclasses.replace(greeting(), area=id.partition("-")[0], title=f"About {id}")
             for id in CELLS}
    heads = [head(id, plan) for id, plan in plans.items()]
    heads[0] = dataclasses.replace(heads[0], upstream=("openai-agents-python#4322",))
    heads[1] = dataclasses.replace(heads[1], title=HOSTILE, upstream=("javascript:hacked = 1",))
    findings: Findings = {
        (id, column): {"P": ran(number, tool_linkage="PASS", usage_sum="PASS"),
                       "F": ran(number, tool_linkage="ORPHAN_OUTPUT", usage_sum="PASS"),
                       "K": ran(number, usage_sum="USAGE_DIFFERS"),
                       "U": lacking(number), "E": of_error("WORKER_DIED")}[letter]
        for row, (id, letters) in enumerate(CELLS.items())
        for number, (column, letter) in enumerate(zip(COLUMNS, letters, strict=True), row * 10)}
    return lay_out("0.1.0", COLUMNS, heads, findings)


def background() -> Background:
    """What the page of `everything` tells."""
    orphan = CheckResult("tool_linkage", "FAIL", "ORPHAN_OUTPUT", "run/only",
                         f"output:look has no call {HOSTILE}", 2)
    return Background(
        expected=_expected, reason=_reason,
        checks={f"sha256:{number:064x}": (orphan,) for number in range(3)},
        plans={"alpha-fixed": greeting()},
        errors={("beta-lacks", COLUMNS[5]): f"the worker died {HOSTILE} [WORKER_DIED]"},
        names={"alpha-fixed": "plans/alpha-fixed.toml"})


def of_a_command() -> Matrix:
    """A command in two environments of two releases."""
    columns = [Column(sdk=sdk, python="3.12", pins=pins) for sdk in ("0.8.0", "0.9.0")
               for pins in ((), ("openai=lowest",))]
    row = head_of_command("run-pytest-q-0123abcd", ("pytest", "-q", "-k", "a & b"))
    return lay_out("0.1.0", columns, [row], {
        (row.scenario, column): of_exit("FAIL", "EXIT_1") if column.pins else of_exit("PASS", "OK")
        for column in columns})


def _expected(scenario: str, cell: Cell, column: Column) -> bool:
    return scenario == "beta-known"


def _reason(scenario: str, column: Column, check: str, code: str) -> tuple[str, str] | None:
    if scenario != "beta-known":
        return None
    return "https://example.org/issues/7", "It was decided so."
