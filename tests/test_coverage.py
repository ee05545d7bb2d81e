"""docs/coverage.md and docs/scenarios/: what they list exists, and nothing on them is stale."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.contracts.registry import CONTRACTS
from agentrunproof.plan import catalog
from agentrunproof.report import coverage
from agentrunproof.report import scenarios as scenario_pages
from agentrunproof.report.coverage import Outside, Promise, Promises, Section, slug
from tests import scripts

DOCS = Path(__file__).resolve().parent.parent / "docs"
STALE = "stale: run scripts/update_docs.py"


@pytest.fixture(scope="module")
def listed() -> Promises:
    found: Promises = scripts.load("update_docs").promises()
    return found


def _named(listed: Promises, kind: str) -> set[str]:
    """Names of the checks of a kind; of contracts where that is empty."""
    parts = [check.rpartition(":") for promise in listed.all() for check in promise.checks]
    return {name for found, _, name in parts if found == kind}


def test_the_pages_of_scenarios_are_the_ones_the_plans_make() -> None:
    made = scripts.load("update_docs").scenario_pages()
    on_disk = {path.name: path.read_text(encoding="utf-8")
               for path in (DOCS / "scenarios").iterdir()}
    assert on_disk.keys() == made.keys(), STALE
    assert [name for name in made if on_disk[name] != made[name]] == [], STALE


def test_every_scenario_stands_on_the_page_of_its_area_with_contract_reason_and_links() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8")
             for path in (DOCS / "scenarios").iterdir()}
    for id in catalog.ids():
        plan = catalog.load(id)
        _, found, rest = pages[plan.area].partition(f"## {id}\n")
        section = rest.partition("\n## ")[0]
        assert found, id
        assert all(told in section for told in (plan.contract, plan.why, *plan.docs)), id
        assert all(f"#{report.rpartition('#')[2]}" in section for report in plan.upstream), id


def test_a_page_of_scenarios_says_on_which_releases_and_what_is_known_to_fail() -> None:
    plans = {"session-limit": catalog.load("session-limit")}
    page = scenario_pages.page("sessions", plans, {"session-limit": ("it fails",)})
    assert page.startswith("# Scenarios: sessions\n")
    assert "\n1 scenario. " in page
    assert "\n- Releases: 0.8.0 and later (runs keep their history in a session; " in page
    assert "\n- Relations: [hooks](../contracts.md#relation_hooks)\n" in page
    assert "\n- Known failure: it fails\n" in page
    index = scenario_pages.index(plans, {})
    assert "| [sessions](sessions.md) | 1 | 0 | 0 |" in index


def test_the_page_of_coverage_is_the_one_the_list_makes() -> None:
    page = (DOCS / "coverage.md").read_text(encoding="utf-8")
    assert page == scripts.load("update_docs").coverage_page(), STALE


def test_each_promise_names_checks_or_why_there_are_none(listed: Promises) -> None:
    for promise in listed.all():
        assert bool(promise.checks) != bool(promise.none), promise.quote
        assert promise.checks or not promise.part, promise.quote
        assert len(set(promise.checks)) == len(promise.checks), promise.quote


def test_no_section_stands_twice_and_none_holds_a_sentence_twice(listed: Promises) -> None:
    places = [(section.page, section.heading) for section in listed.section]
    assert len(set(places)) == len(places)
    for section in listed.section:
        quotes = [promise.quote for promise in section.promises]
        assert len(set(quotes)) == len(quotes), section.heading


def test_every_contract_watches_a_promise_and_every_named_one_exists(listed: Promises) -> None:
    assert _named(listed, "") == {contract.name for contract in CONTRACTS}


def test_every_named_scenario_exists(listed: Promises) -> None:
    assert _named(listed, "scenario") <= set(catalog.ids())
    assert {check.partition(":")[0] for promise in listed.all() for check in promise.checks
            if ":" in check} <= {"scenario", "case"}


@pytest.mark.sdk
def test_every_named_case_of_the_session_suite_exists(listed: Promises) -> None:
    from agentrunproof.suites.session.suite import CASES

    assert _named(listed, "case") <= set(CASES)


@pytest.mark.sdk
def test_what_is_quoted_of_the_reference_stands_in_the_installed_sdk(listed: Promises) -> None:
    sections = [section for section in listed.section if section.page.startswith("ref/")]
    assert len(sections) > 5
    for section in sections:
        source = " ".join(inspect.getsource(_object(section.heading)).split())
        for promise in section.promises:
            assert promise.quote in source, (section.heading, promise.quote)


def _object(path: str) -> Any:
    """The object of a dotted path: a module, or what stands in one."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, name = path.rpartition(".")
        return getattr(_object(parent), name)


SMALL = Promises(sdk="1.2.3", section=(
    Section(page="runs", heading="The `loop`, in 2 steps", promises=(
        Promise(quote="It ends.", checks=("max_turns",)),
        Promise(quote="It ends | once.", checks=("case:pop", "scenario:one"), part="one end"),
        Promise(quote="It is seen.", none="nobody looks"))),),
    outside=(Outside(page="voice", headings=("Speaking", "Hearing"), reason="no ears"),))


def test_a_page_counts_and_shows_what_is_watched_by_what() -> None:
    page = coverage.page(SMALL, {"one": "basic"})
    assert "Of 3 promises **1 are watched, 1 in part and\n1 by nothing**" in page
    assert "| [runs](#runs) | 3 | 1 | 1 | 1 |" in page
    assert f"### [The `loop`, in 2 steps]({coverage.SITE}runs/#the-loop-in-2-steps)" in page
    assert "| It ends. | [`max_turns`](contracts.md#max_turns) |" in page
    assert ("| It ends \\| once. | [case pop](session-suite.md), [one](scenarios/basic.md#one): "
            "*in part*, one end |") in page
    assert "| It is seen. | *nothing*: nobody looks |" in page
    assert f"| [voice]({coverage.SITE}voice/) | Speaking; Hearing | no ears |" in page


def test_a_declared_case_is_not_counted_as_watching_every_run() -> None:
    assert Promise(quote="a", checks=("max_turns",)).universal
    for checks in (("case:pop",), ("scenario:one", "execution_outcome"), ("session_suite",), ()):
        assert not Promise(quote="a", checks=checks).universal


def test_anchors_are_those_that_the_documentation_has() -> None:
    assert slug("2. Using `previous_response_id`") == "2-using-previous_response_id"
    assert slug("MCP tool outputs: text, images, and other content") \
        == "mcp-tool-outputs-text-images-and-other-content"
    reference = Section(page="ref/result", heading="agents.result.RunResult", promises=())
    assert reference.url == f"{coverage.SITE}ref/result/#agents.result.RunResult"


def test_a_quote_is_looked_for_below_its_heading_without_markup(tmp_path: Path) -> None:
    script = scripts.load("check_promises")
    (tmp_path / "runs.md").write_text("# Runs\n\nIt is *seen*.\n\n## The `loop`, in 2 steps\n\n"
                                      "- `It` [ends][agents.run.Runner].\n\n"
                                      "```python\n# It is seen.\n```\n", encoding="utf-8")
    said = list(script.problems(Promises(sdk="1.2.3", section=(
        Section(page="runs", heading="The loop, in 2 steps", promises=(
            Promise(quote="It ends."), Promise(quote="It is seen."))),
        Section(page="runs", heading="Gone", promises=(Promise(quote="It ends."),)),
        Section(page="nowhere", heading="Runs", promises=()))), tmp_path))
    assert said == ["runs: The loop, in 2 steps: not there: It is seen.",
                    "runs: no such heading: Gone", "runs: Gone: not there: It ends.",
                    "nowhere: no such page"]


def test_a_quote_of_a_contract_is_looked_for_sentence_by_sentence() -> None:
    script = scripts.load("check_promises")
    texts = ["It [ends](#end) when `final_output`\n is there. Then\n- it is *told*."]
    for quote in ("It ends when final_output is there.", "It ends; it is told", "Then it ...told"):
        assert list(script.invented([("one", quote)], texts)) == [], quote
    assert list(script.invented([("one", "It ends. It is over.")], texts)) == [
        "one: not there: It is over."]
    quotes = dict(script.quoted())
    assert quotes["task_cleanup"] == "Whether the agent has finished running."
