"""A real browser for the tests of pages; where there is none, they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.report import browser
from tests.report.browser import Page


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = browser.find()
    if program is None:
        pytest.skip(f"no browser to look at the page with: none of {', '.join(browser.NAMES)}")
    folder = tmp_path_factory.mktemp("browser")
    (folder / "plain.html").write_text("<title>plain</title>")
    with ExitStack() as stack:
        try:  # a sandbox may forbid it to start, or to see our files
            page = stack.enter_context(browser.opened(program, folder / "profile"))
            page.open((folder / "plain.html").as_uri())
            assert page.run("document.title") == "plain"
        except (AssertionError, OSError) as error:
            pytest.skip(f"{program} shows no page at all here: {error}")
        yield page
