"""The page of a matrix as a real browser shows it; skipped where there is no Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.report import page as pages_of
from tests.report import pages
from tests.report.browser import Page
from tests.report.pages import CELLS, HOSTILE, RELEASES

ROWS = "[...table.querySelectorAll('[data-row]')].filter(row => !row.closest('[hidden]'))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(
        pages_of.render(pages.everything(), pages.background()), encoding="utf-8")
    (folder / "command.html").write_text(pages_of.render(pages.of_a_command()), encoding="utf-8")
    return folder


@pytest.fixture
def page(chromium: Page, site: Path) -> Iterator[Page]:
    """The page with something of everything, freshly opened; in the end nothing went wrong."""
    chromium.open((site / "index.html").as_uri())
    yield chromium
    assert chromium.complaints() == []
    assert chromium.run("typeof hacked") == "undefined"


def rows(page: Page) -> Any:
    return page.run(f"{ROWS}.map(row => row.querySelector('.name').textContent)")


def told(page: Page) -> str:
    """What the panel says; nothing if it is closed."""
    text = page.run("at('panel').hidden ? '' : at('told').innerText")
    assert isinstance(text, str)
    return text


def choose(page: Page, scenario: str, release: str) -> str:
    """Click a cell; what is then told."""
    row, column = list(CELLS).index(scenario), RELEASES.index(release) + 2
    page.click(f"[data-row='{row}'] > :nth-child({column})")
    return told(page)


def test_there_is_a_cell_for_each_plan_on_each_release_with_its_sign(page: Page) -> None:
    signs = {"P": ".", "F": "F", "K": "x", "U": "-", "E": "E"}
    assert page.run(f"{ROWS}.map(row => [...row.querySelectorAll('td')]"
                    ".map(cell => cell.textContent).join(''))") == [
        "".join(signs[letter] for letter in letters) for letters in CELLS.values()]
    assert page.run("[...table.tHead.querySelectorAll('th')].map(th => th.innerText)") == \
        list(RELEASES)
    assert page.run("document.querySelectorAll('td.edge').length") == 4


def test_the_legend_counts_cells(page: Page) -> None:
    assert page.run("[...at('verdicts').children].map(chip => chip.innerText.split(/\\s+/)"
                    ".slice(-1)[0])") == ["14", "4", "2", "3", "1", "4"]


def test_every_cell_has_a_name_of_its_own_for_those_who_cannot_see_it(page: Page) -> None:
    names = page.run("[...table.querySelectorAll('td[aria-label]')].map(cell => cell.ariaLabel)")
    assert len(set(names)) == len(CELLS) * len(RELEASES)
    assert "alpha-fixed on 0.7.0: FAIL; tool_linkage ORPHAN_OUTPUT" in names
    assert page.run("[...new Set([...table.querySelectorAll('tr > *')].map(one => one.role))]"
                    ".sort()") == ["columnheader", "gridcell", "rowheader"]


@pytest.mark.parametrize(("set_filters", "left"), [
    ("at('area').value = 'beta'; at('area').dispatchEvent(new Event('input'))",
     ["beta-known", "beta-lacks"]),
    ("at('find').value = 'usage_DIFFERS'; at('find').dispatchEvent(new Event('input'))",
     ["beta-known"]),
    ("at('find').value = '#4322'; at('find').dispatchEvent(new Event('input'))",
     ["alpha-fixed"]),
    ("at('verdicts').querySelector('[value=FAIL]').click()", ["alpha-fixed", "beta-lacks"]),
    ("at('verdicts').querySelector('[value=FAIL]').click();"
     "at('verdicts').querySelector('[value=KNOWN]').click()",
     ["alpha-fixed", "beta-known", "beta-lacks"]),
    ("at('verdicts').querySelector('[value=edge]').click()",
     ["alpha-fixed", "beta-known", "beta-lacks"]),
    ("at('find').value = 'no such thing'; at('find').dispatchEvent(new Event('input'))", []),
])
def test_filters_leave_the_rows_that_fit(page: Page, set_filters: str, left: list[str]) -> None:
    page.run(set_filters)
    assert rows(page) == left
    assert page.run("at('none').hidden") is bool(left)
    assert f", {len(left)} shown" in page.run("at('scope').textContent")
    page.run("at('clear').click()")
    assert rows(page) == list(CELLS)


def test_a_range_of_releases_leaves_their_columns_and_counts(page: Page) -> None:
    page.run("at('from').value = '0.9.0'; at('to').value = '0.10.0';"
             "at('to').dispatchEvent(new Event('change'))")
    assert page.run("[...table.tHead.querySelectorAll('th')].map(th => th.innerText)") == \
        ["0.9.0", "0.10.0"]
    assert page.run("document.querySelectorAll('td.PASS').length") == 7
    assert page.run("at('verdicts').querySelector('[value=UNTESTABLE]').disabled") is True


def test_a_click_tells_the_checks_words_and_the_line_to_reproduce(page: Page) -> None:
    text = choose(page, "alpha-fixed", "0.8.0")
    assert "tool_linkage ORPHAN_OUTPUT" in text
    assert f"run/only: output:look has no call {HOSTILE} (and 2 more)" in text
    assert "agentrunproof probe plans/alpha-fixed.toml --sdk 0.8.0 --python 3.12" in text
    assert f"sha256:{1:064x}" in text
    assert page.run("location.hash") == "#alpha-fixed@0.8.0"
    assert page.run("[...at('told').querySelectorAll('a[target]')].map(a => a.href)") == [
        "https://github.com/openai/openai-agents-python/issues/4322"]


def test_each_kind_of_cell_says_why(page: Page) -> None:
    assert "run-state: runs pause for approval" in choose(page, "beta-lacks", "0.7.0")
    assert f"the worker died {HOSTILE} [WORKER_DIED]" in choose(page, "beta-lacks", "0.10.1")
    assert "It was decided so." in choose(page, "beta-known", "0.8.0")
    passed = choose(page, "alpha-hostile", "0.8.0")
    assert "tool_linkage, usage_sum" in passed
    assert HOSTILE in passed
    assert "fixed-in 0.9.0 (after 0.8.1): tool_linkage ORPHAN_OUTPUT #4322" in \
        choose(page, "alpha-fixed", "0.9.0")


def test_plans_and_releases_tell_their_boundaries(page: Page) -> None:
    page.click("[data-row='0'] .name")
    assert "fixed-in 0.9.0 (after 0.8.1): tool_linkage ORPHAN_OUTPUT #4322" in told(page)
    assert page.run("at('told').querySelector('details').textContent") == \
        "What the plan expectsonlycompleted"
    page.click("thead th:nth-child(5)")
    assert "fixed-in alpha-fixed (after 0.8.1)" in told(page)
    assert page.run("location.hash") == "#@0.9.0"


def test_the_keyboard_walks_the_grid_opens_and_closes(page: Page) -> None:
    page.run("at('clear').focus()")
    page.press("Tab")
    assert page.run("document.activeElement.ariaLabel").startswith("alpha-fixed on 0.7.0")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown"):
        page.press(key)
    assert page.run("document.activeElement.ariaLabel").startswith("beta-known on 0.8.0")
    assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert told(page) == ""
    page.press("Enter")
    assert "beta-known" in told(page)
    page.press("End")  # the panel goes along
    assert "0.10.1" in told(page)
    page.press("Escape")
    assert told(page) == ""
    assert page.run("document.activeElement.ariaLabel").startswith("beta-known on 0.10.1")
    assert page.run("table.querySelectorAll('[tabindex=\"0\"]').length") == 1


@pytest.mark.parametrize(("fragment", "first"), [
    ("#beta-known@0.8.1", "FAIL, known"), ("#beta-known", "beta-known"),
    ("#@0.9.0", "openai-agents 0.9.0"), ("#nothing@9.9.9", ""), ("#%E0%A4%A", ""),
])
def test_an_address_opens_what_it_names(chromium: Page, site: Path, fragment: str,
                                        first: str) -> None:
    chromium.open((site / "index.html").as_uri() + fragment)
    assert first in told(chromium)
    assert bool(told(chromium)) is bool(first)
    assert chromium.complaints() == []


@pytest.mark.parametrize("width", [320, 390, 1400])
def test_the_body_never_scrolls_sideways(chromium: Page, site: Path, width: int) -> None:
    chromium.open((site / "index.html").as_uri() + "#alpha-fixed@0.8.0", width, 844, "dark")
    assert chromium.run("innerWidth") == width
    assert chromium.run("document.documentElement.scrollWidth") == width
    assert chromium.run("at('panel').scrollWidth <= at('panel').clientWidth")
    assert chromium.run("at('filters').open") is (width > 700)
    cell = chromium.run("(() => { const box = table.querySelector('[aria-selected]')"
                        ".getBoundingClientRect(); return [box.left, box.right, box.bottom]; })()")
    panel = chromium.run("at('panel').getBoundingClientRect().top")
    assert 0 < cell[0] < cell[1] <= width
    assert cell[2] <= panel
    assert chromium.complaints() == []


def test_a_command_has_its_environments_and_its_log(chromium: Page, site: Path) -> None:
    chromium.open((site / "command.html").as_uri()
                  + "#run-pytest-q-0123abcd@0.9.0-python-3.12+openai=lowest")
    assert chromium.run("at('lane').value") == "Python 3.12 openai=lowest"
    assert "agentrunproof matrix --sdk 0.9.0 --python 3.12 --with openai=lowest " \
        "-- pytest -q -k 'a & b'" in told(chromium)
    assert "output.log" in told(chromium)
    assert rows(chromium) == ["pytest -q -k a & b"]
    assert chromium.complaints() == []


def test_the_policy_holds_against_a_script_that_got_in(chromium: Page, site: Path) -> None:
    text = (site / "index.html").read_text()
    intruder = text.replace("<header>", "<script>hacked = 1</script><header>", 1)
    (site / "intruder.html").write_text(intruder)
    chromium.open((site / "intruder.html").as_uri())
    assert chromium.run("typeof hacked") == "undefined"
    assert rows(chromium) == list(CELLS)
    assert any("Content Security Policy" in str(one) for one in chromium.complaints())
