"""The page of a localization: one file without network or script, whatever the run holds."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from agentrunproof.record.localization import Step
from agentrunproof.report.markup import Html, element
from tests.report.localized import deploy, page
from tests.report.pages import HOSTILE


class Tags(HTMLParser):
    """The tags of a page that are open in the end, its attributes and its text."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def test_it_needs_nothing_from_outside_and_runs_nothing() -> None:
    text = page(deploy())
    tags = Tags(text)
    assert tags.open == []
    assert "<script" not in text
    assert "default-src 'none'; style-src 'sha256-" in text
    assert {name for name, _ in tags.attributes if name.startswith("on") or name in (
        "src", "style")} == set()
    assert all(value.startswith("#s") for name, value in tags.attributes if name == "href")


def test_links_lead_to_steps_that_are_shown() -> None:
    tags = Tags(page(deploy()))
    ids = {value for name, value in tags.attributes if name == "id"}
    listed = {value[1:] for name, value in tags.attributes if name == "href"}
    assert {"s1", "s2", "s3", "s4", "s14"} <= ids & listed


def test_the_onset_the_symptom_and_the_reasons_are_told() -> None:
    told = " ".join(Tags(page(deploy())).text.split())
    assert "Suspected onset: step 3" in told
    assert "step 14 pytest exited with 1" in told
    assert "environment is 'staging', the task says 'production'" in told
    assert "steps 5 to 12: 8 steps, nothing to suspect; 1 failure that it got over" in told
    assert "agentrunproof why 'my run.jsonl' 3" in told


@pytest.mark.parametrize("text", [HOSTILE, "<b onclick=x>", "\ud83d \x00 \x1b[31m \u202e&amp;"])
def test_whatever_a_run_holds_is_text(text: str) -> None:
    steps = [Step(number=1, kind="input", agent=text, input=text),
             Step(number=2, kind="answer", agent=text, call=text, output=text),
             Step(number=3, kind="tool", agent=text, tool=text, asked_by=2, input=text,
                  output=text, error=text, status="error", changes={text: text},
                  facts={text: text})]
    made = page(steps, name=text, failed=True)
    tags = Tags(made)
    assert tags.open == []
    assert tags.text.count(re.sub("[\ud83d\0\x1b\u202e]", "\ufffd", text)) > 8
    made.encode("utf-8")


def test_a_run_without_an_onset_is_shown_as_well() -> None:
    steps = [*deploy()[:-3], Step(number=40, kind="end", facts={"outcome": "completed"})]
    told = " ".join(Tags(page(steps)).text.split())
    assert "No onset" in told
    assert "it got over 1 failure." in told
    assert "--failed" in told


def test_ten_thousand_steps_make_a_page_that_a_browser_can_take() -> None:
    text = page(deploy(10_000))
    assert text.count("<") < 70_000
    assert len(text) < 3_000_000
    assert "steps 5 to 10,006: 10,002 steps" in text


def test_elements_escape_texts_and_attributes_and_leave_elements() -> None:
    inner = element("b", "<&>")
    assert element("a", inner, "\"'", href="x\"'<", hidden=True, id=None, open=False) == (
        '<a href="x&quot;&#x27;&lt;" hidden><b>&lt;&amp;&gt;</b>&quot;&#x27;</a>')
    assert isinstance(inner, Html)
