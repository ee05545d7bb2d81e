"""What the page holds; what it does is in test_page_in_a_browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.lab import releases
from agentrunproof.record import layout
from agentrunproof.record.matrix import Column, Matrix
from agentrunproof.report import page
from agentrunproof.report.page import Background
from tests import matrices
from tests.matrices import head, history, ran
from tests.report import pages
from tests.report.pages import CELLS, COLUMNS, HOSTILE


class Elements(HTMLParser):
    """The elements of a page, and the text of those that hold text only."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self._inside: list[str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = self.texts.get(tag)
        if self._inside is not None:
            self._inside.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self._inside[-1] += data


def data_of(text: str) -> Any:
    match = re.search('<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert match is not None
    return json.loads(match[1])


def verdicts(text: str) -> list[list[str]]:
    data = data_of(text)
    return [[data["states"][number]["verdict"] for number in row["cells"]]
            for row in data["rows"]]


def test_every_cell_has_its_verdict_and_known_failures_one_of_their_own() -> None:
    letters = {"P": "PASS", "F": "FAIL", "K": "KNOWN", "U": "UNTESTABLE", "E": "ERROR"}
    assert verdicts(page.render(pages.everything(), pages.background())) == [
        [letters[letter] for letter in row] for row in CELLS.values()]


@given(matrices.matrices())
def test_the_page_of_any_matrix_holds_its_cells_and_certificates(made: Matrix) -> None:
    text = page.render(made)
    assert verdicts(text) == [[cell.verdict for cell in row.cells] for row in made.plans]
    assert [["sha256:" + id if id else None for id in row["ids"]]
            for row in data_of(text)["rows"]] == [
        [cell.certificate for cell in row.cells] for row in made.plans]
    assert sum(len(row["edges"]) for row in data_of(text)["rows"]) == len(made.boundaries)


def test_a_cell_tells_what_was_observed_and_why_it_is_known() -> None:
    data = data_of(page.render(pages.everything(), pages.background()))
    (check,) = data["states"][data["rows"][0]["cells"][0]]["checks"]
    assert check == {"check": "tool_linkage", "code": "ORPHAN_OUTPUT", "where": "run/only",
                     "seen": f"output:look has no call {HOSTILE}", "also": 2}
    assert "ORPHAN_OUTPUT" in data["checks"]["tool_linkage"]["codes"]
    (check,) = data["states"][data["rows"][2]["cells"][1]]["checks"]
    assert check["known"] == ["https://example.org/issues/7", "It was decided so."]
    assert data["links"][check["known"][0]] == check["known"][0]


def test_a_boundary_leads_to_the_issue_of_its_check_or_else_of_its_plan() -> None:
    rows = data_of(page.render(pages.everything(), pages.background()))["rows"]
    (fixed,) = rows[0]["edges"]
    assert (fixed["at"], fixed["kind"], fixed["previous"]) == (3, "fixed-in", "0.8.1")
    assert fixed["upstream"] == ["openai-agents-python#4322"]
    assert {edge["kind"]: edge["upstream"] for edge in rows[2]["edges"]} == {
        "introduced-in": ["https://example.org/issues/7"],
        "fixed-in": ["https://example.org/issues/7"]}


def test_the_line_to_reproduce_names_the_plan_as_the_user_did() -> None:
    rows = data_of(page.render(pages.everything(), pages.background()))["rows"]
    assert rows[0]["how"] == ["agentrunproof probe plans/alpha-fixed.toml", ""]
    assert rows[2]["how"] == ["agentrunproof probe beta-known", ""]


def test_the_line_to_reproduce_a_command_is_quoted_for_a_shell() -> None:
    text = page.render(pages.of_a_command(), Background(install=("pytest-asyncio>=1",)))
    assert data_of(text)["rows"][0]["how"] == [
        "agentrunproof matrix --install 'pytest-asyncio>=1'", "-- pytest -q -k 'a & b'"]


def test_nothing_in_a_record_becomes_an_element() -> None:
    hostile = Elements(page.render(pages.everything(), pages.background()))
    harmless = Elements(page.render(history("pF")))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in harmless.tags]
    assert data_of(page.render(pages.everything()))["rows"][1]["title"] == HOSTILE


@given(st.text())
def test_any_title_comes_back_as_it_was(title: str) -> None:
    matrix = layout.lay_out("0.1.0", COLUMNS[:1], [
        layout.head_of_command("run-x", (title,))], {
        ("run-x", COLUMNS[0]): layout.of_exit("PASS", "OK")})
    text = page.render(matrix)
    assert text.count("<script") == 2
    assert data_of(text)["rows"][0]["title"] == title


def test_a_title_that_looks_like_a_place_of_the_template_is_only_a_title() -> None:
    matrix = layout.lay_out("0.1.0", COLUMNS[:1], [
        layout.head_of_command("run-x", ("@SCRIPT@ @DATA@",))], {
        ("run-x", COLUMNS[0]): layout.of_exit("PASS", "OK")})
    assert data_of(page.render(matrix))["rows"][0]["title"] == "@SCRIPT@ @DATA@"


def test_only_issues_and_https_addresses_are_links() -> None:
    links = data_of(page.render(pages.everything(), pages.background()))["links"]
    assert links == {
        "openai-agents-python#4322": "https://github.com/openai/openai-agents-python/issues/4322",
        "https://example.org/issues/7": "https://example.org/issues/7"}


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    elements = Elements(page.render(history("pF")))
    (policy,) = [attributes["content"] for tag, attributes in elements.tags
                 if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    assert rules.pop("img-src") == "data:"

    def hash_of(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
                     "style-src": hash_of(elements.texts["style"][0]),
                     "script-src": hash_of(elements.texts["script"][1])}


def test_the_page_asks_for_no_other_file() -> None:
    elements = Elements(page.render(history("pF")))
    asked = [(tag, attributes) for tag, attributes in elements.tags
             if "src" in attributes or (tag == "link"
                                        and not (attributes["href"] or "").startswith("data:"))]
    assert asked == []
    assert "@import" not in elements.texts["style"][0]
    assert "url(" not in elements.texts["style"][0]
    assert "innerHTML" not in elements.texts["script"][1]


def test_the_page_of_all_plans_on_all_releases_stays_below_two_megabytes() -> None:
    columns = [Column(sdk=version, python="3.12") for version in releases.known()]
    heads = [head(f"a-scenario-of-usual-length-{number}") for number in range(102)]
    findings = {(row.scenario, column): ran(n * 1000 + c, tool_linkage="LOST", usage_sum="PASS")
                for n, row in enumerate(heads) for c, column in enumerate(columns)}
    seen = {found.certificate or "": tuple(found.checks) for found in findings.values()}
    text = page.render(layout.lay_out("0.1.0", columns, heads, findings), Background(checks=seen))
    assert len(text.encode()) < 2_000_000
    assert len(data_of(text)["states"]) == 1
