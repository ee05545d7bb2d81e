"""The page of a run as a real browser shows it; skipped where there is no Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.report import run_page
from tests.report.browser import Page
from tests.report.pages import HOSTILE
from tests.report.recorded import CAUSE, everything, found, long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, text in (("plain", run_page.render(everything())),
                       ("found", run_page.render(everything(), [("m3", found())])),
                       ("long", run_page.render(long(1000)))):
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def page(chromium: Page, site: Path) -> Iterator[Page]:
    """The page with what was found, freshly opened; in the end nothing went wrong."""
    chromium.open((site / "found.html").as_uri())
    yield chromium
    assert chromium.complaints() == []
    assert chromium.run("typeof hacked") == "undefined"


def told(page: Page) -> str:
    text = page.run("at('told').innerText")
    assert isinstance(text, str)
    return text


def rows(page: Page) -> Any:
    return page.run("[...rows.children].filter(row => !row.hidden).map(row =>"
                    " row.querySelector('.what').textContent.trim())")


def chosen(page: Page) -> Any:
    return page.run("idOf(data.rows[chosen().dataset.n])")


def test_the_timeline_says_what_each_call_decided_and_how_deep_inside_it_ran(page: Page) -> None:
    assert rows(page) == [
        "→ look boss · big", 'look {"at": 1}', "Here it is. helper · small",
        "→ pay \u00d72 boss · big", f"pay {json.dumps({'amount': HOSTILE})}",
        "failed: HTTP 500 boss · big"]
    assert page.run("[...rows.children].map(row => row.style.getPropertyValue('--depth'))") == [
        "0", "1", "1", "0", "1", "0"]
    assert page.run("[...rows.querySelectorAll('.failed')].map(row => row.dataset.n)") == ["4", "5"]
    assert page.run("[...rows.querySelectorAll('.cause')].map(row => row.dataset.n)") == ["3"]


def test_it_opens_at_what_was_found_with_the_cause_first_and_marked_in_the_request(
        page: Page) -> None:
    assert chosen(page) == "m3"
    text = told(page)
    assert text.index("Why pay? Because of this:") < text.index(CAUSE) < text.index("THE MODEL")
    assert "1 of 1" in text
    assert "0 of 1" in text
    assert f"Without it the model instead: Nothing to pay. {HOSTILE}"[:80] in text
    assert page.run("[...told.querySelectorAll('mark')].map(mark => mark.textContent)") == [CAUSE]
    assert page.run("(() => { const mark = told.querySelector('mark');"
                    "return mark.closest('.card').innerText; })()").startswith("tool")


def test_the_button_brings_the_cause_into_sight(chromium: Page, site: Path) -> None:
    chromium.open((site / "found.html").as_uri(), 1400, 400)
    seen = "(() => { const box = told.querySelector('mark').getBoundingClientRect();" \
           "return 0 < box.top && box.bottom < innerHeight; })()"
    assert chromium.run(seen) is False
    chromium.run("[...told.querySelectorAll('button')].find(one =>"
                 " one.textContent.startsWith('Show it')).click()")
    assert chromium.run(seen) is True


def test_json_is_laid_out_and_its_strings_are_shown_as_they_are(page: Page) -> None:
    card = page.run("told.querySelector('mark').closest('.text').textContent")
    assert card == ('{\n  title: ' + HOSTILE + ',\n  lines: [\n    Nothing to see.\nReally.,\n'
                    f'    Hello.\n{CAUSE}\nBye.\n  ],\n  n: 7\n}}')


def test_a_request_shows_what_is_new_and_folds_what_was_asked_before(page: Page) -> None:
    assert "THE REQUEST: 4 MESSAGES, 2 OF THEM NEW" in told(page)
    folded = "told.querySelector('details > summary')"
    assert page.run(f"{folded}.textContent") == "2 texts as in m1"
    assert page.run(f"{folded}.parentNode.open") is False
    assert "Be good." not in told(page)
    page.run(f"new Promise(done => {{ {folded}.parentNode.addEventListener('toggle', done);"
             f"{folded}.click() }})")
    assert "Be good." in told(page)


def test_every_kind_of_text_is_shown(page: Page) -> None:
    page.run("goTo('m2'); told.querySelectorAll('details').forEach(one => one.open = true)")
    text = told(page)
    for words in ("inside of t1 look", "Read it.", "Which page?", "open", "{ page: 3 }",
                  "result of open", "It is long.", HOSTILE * 3, "1,200 tokens in, 7 out",
                  "max_tokens"):
        assert words in text, words
    page.run("goTo('m4')")
    for words in ("failed: HTTP 500: oh\nno", "Be short.", "And now?", "no JSON", "result of pay"):
        assert words in told(page), words


def test_tools_show_what_they_were_given_and_gave_and_who_asked(page: Page) -> None:
    page.run("goTo('t2')")
    assert "asked for by m3" in told(page)
    assert f"ValueError: {HOSTILE}" in told(page)
    page.run("told.querySelector('button').click()")
    assert chosen(page) == "m3"
    assert "ran as t2" in told(page)


def test_words_leave_the_rows_that_have_them(page: Page) -> None:
    page.run("at('find').value = 'PAGE 3'; at('find').dispatchEvent(new Event('input'))")
    assert rows(page) == []
    assert page.run("at('none').hidden") is False
    page.run("at('find').value = 'helper'; at('find').dispatchEvent(new Event('input'))")
    assert rows(page) == ["Here it is. helper · small"]


def test_the_keyboard_walks_the_timeline_and_reads(page: Page) -> None:
    page.run("at('find').focus()")
    page.press("Enter")
    assert page.run("document.activeElement.id") == "rows"
    page.press("Home")
    assert chosen(page) == "m1"
    page.press("ArrowDown")
    assert chosen(page) == "t1"
    assert page.run("document.getElementById(rows.getAttribute('aria-activedescendant'))"
                    ".getAttribute('aria-selected')") == "true"
    assert page.run("location.hash") == "#t1"
    page.press("End")
    assert chosen(page) == "m4"
    page.press("Enter")
    assert page.run("document.activeElement.id") == "told"
    page.press("Escape")
    assert page.run("document.activeElement.id") == "rows"
    page.press("Tab")
    assert page.run("told.contains(document.activeElement)") is True


@pytest.mark.parametrize(("fragment", "id"), [
    ("#t2", "t2"), ("#m1", "m1"), ("#nothing", "m1"), ("#%E0%A4%A", "m1")])
def test_an_address_opens_what_it_names(chromium: Page, site: Path, fragment: str,
                                        id: str) -> None:
    chromium.open((site / "plain.html").as_uri() + fragment)
    assert chosen(chromium) == id
    assert chromium.complaints() == []


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (390, "dark"), (1400, "dark")])
def test_the_body_never_scrolls_sideways(chromium: Page, site: Path, width: int,
                                         scheme: str) -> None:
    chromium.open((site / "found.html").as_uri(), width, 844, scheme)
    assert chromium.run("document.documentElement.scrollWidth") == width
    assert chromium.run("told.scrollWidth <= told.clientWidth") is True
    assert chromium.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(19, 23, 29)")


def test_a_run_of_a_thousand_calls_opens_and_shows_its_last_request_whole(
        chromium: Page, site: Path) -> None:
    chromium.open((site / "long.html").as_uri() + "#m1000")
    assert len(rows(chromium)) == 2000
    assert "THE REQUEST: 2,000 MESSAGES, 2 OF THEM NEW" in told(chromium)
    assert "I look at 999." in told(chromium)
    assert chromium.run("told.querySelectorAll('article').length") == 2
    assert chromium.complaints() == []


def test_the_policy_holds_against_a_script_that_got_in(chromium: Page, site: Path) -> None:
    text = (site / "found.html").read_text(encoding="utf-8")
    (site / "intruder.html").write_text(
        text.replace("<header>", "<script>hacked = 1</script><header>", 1), encoding="utf-8")
    chromium.open((site / "intruder.html").as_uri())
    assert chromium.run("typeof hacked") == "undefined"
    assert any("Content Security Policy" in str(one) for one in chromium.complaints())
