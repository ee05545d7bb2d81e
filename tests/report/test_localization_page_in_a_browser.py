"""The page of a localization as a real browser shows it; skipped where there is no Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report.browser import Page
from tests.report.localized import deploy, page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("localized")
    (folder / "run.html").write_text(page(deploy()), encoding="utf-8")
    (folder / "long.html").write_text(page(deploy(10_000)), encoding="utf-8")
    return folder


@pytest.fixture
def shown(chromium: Page, site: Path) -> Iterator[Page]:
    chromium.open((site / "run.html").as_uri())
    yield chromium
    assert chromium.complaints() == []
    assert chromium.run("typeof hacked") == "undefined"


def visible(step: str) -> str:
    return f"getComputedStyle(document.querySelector('#{step} .tip')).visibility == 'visible'"


def until(page: Page, condition: str) -> None:
    """Frames go by until a condition is met."""
    page.run(f"new Promise(done => {{ const look = () => ({condition}) ? done()"
             " : requestAnimationFrame(look); look(); })")


def here(page: Page) -> object:
    return page.run("document.activeElement.closest('li[id]').id")


def test_evidence_is_seen_where_the_keyboard_stands_and_all_of_it_on_enter(shown: Page) -> None:
    assert shown.run(visible("s3")) is False
    shown.run("document.querySelector('#s2 summary').focus()")
    shown.press("Tab")
    assert here(shown) == "s3"
    assert shown.run(visible("s3")) is True
    assert "the task says 'production'" in shown.run("document.querySelector('#s3 .tip').innerText")
    shown.press("Tab")  # to a link in it
    assert (here(shown), shown.run("document.activeElement.tagName")) == ("s3", "A")
    assert shown.run(visible("s3")) is True
    while here(shown) == "s3":
        shown.press("Tab")
    assert here(shown) == "s4"
    assert shown.run(visible("s4")) is True
    until(shown, f"!({visible('s3')})")
    shown.press("Enter")
    assert shown.run("document.querySelector('#s4 details').open") is True
    told = shown.run("document.querySelector('#s4').innerText")
    assert "wrote 'config.yaml', which step 14 consumed" in told
    assert "asked for by step 3" in told


def test_evidence_is_seen_under_the_mouse(shown: Page) -> None:
    shown.point("#s14 summary")
    until(shown, visible("s14"))
    assert "consumed 'config.yaml', written by step 4" in shown.run(
        "document.querySelector('#s14 .tip').innerText")


def test_the_line_of_the_data_flow_begins_and_ends_at_its_steps(shown: Page) -> None:
    def middle(selector: str, edge: str) -> float:
        return float(shown.run(
            f"document.querySelector('{selector}').getBoundingClientRect().{edge}"))

    start, end = middle("#s4 .start.flow", "top"), middle("#s14 .end.flow", "bottom")
    assert middle("#s4 summary", "top") < start < middle("#s4 summary", "bottom")
    assert middle("#s14 summary", "top") < end < middle("#s14 summary", "bottom")
    between = shown.run("[...document.querySelectorAll('.steps > li')].filter(row =>"
                        " row.querySelector(':scope > .gutter .by.flow')).map(row => row.id)")
    assert between == ["s5", "s13"]


def test_a_click_into_the_strip_leads_to_the_step(shown: Page) -> None:
    shown.click(".strip a[href='#s14'] rect")
    assert shown.run("location.hash") == "#s14"
    assert shown.run("document.querySelector('#s14').matches(':target')") is True


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light"), (1400, "dark")])
def test_it_fits_windows_of_all_sizes_in_both_schemes(
        chromium: Page, site: Path, width: int, scheme: str) -> None:
    chromium.open((site / "run.html").as_uri(), width, 800, scheme)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    ground = chromium.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is (scheme == "light")
    assert len(chromium.picture()) > 5000
    assert chromium.complaints() == []


def test_ten_thousand_steps_open_folded_and_unfold(chromium: Page, site: Path) -> None:
    chromium.open((site / "long.html").as_uri())
    assert chromium.run("document.documentElement.scrollHeight") < 3000
    assert chromium.run("document.querySelector('.strip').getBoundingClientRect().width") > 500
    chromium.run("document.querySelector('.stretch details').open = true")
    assert chromium.run("document.documentElement.scrollHeight") > 100_000
    assert chromium.run("document.querySelector('.inner li').innerText").startswith("5 look ")
    assert chromium.complaints() == []
