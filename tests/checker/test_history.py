"""The history checker: an authentic one holds, and each step refuses for its own reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from agentrunproof import canonical
from agentrunproof.checker import history as checker
from agentrunproof.record import history, sdk_releases
from agentrunproof.record.document import id_of
from agentrunproof.record.matrix import version_order
from tests import histories
from tests.histories import PYTHON, Story

pytestmark = pytest.mark.sdk


@pytest.fixture
def story() -> Story:
    return Story()


def test_an_authentic_history_holds(story: Story) -> None:
    judgement = story.judge()
    assert (judgement.code, judgement.id) == ("OK", story.value["id"])
    assert judgement.notes == ("plan not in the catalogue: it says itself what is expected: "
                               f"{len(story.members)} certificates",)


def test_the_sides_say_what_the_check_said(story: Story) -> None:
    said = {row.scenario: {name: f"{side.sdk} {side.words}" for name, side in row.sides}
            for row in history.FORM.from_json(story.value).rows}
    assert said == {
        "greeting": {"first_bad": "0.0.2 FAIL HOOK_MISSING", "last_bad": "0.0.3 FAIL HOOK_MISSING",
                     "first_fixed": "0.0.4 PASS"},
        "saved": {"before": "0.7.0 UNTESTABLE", "first_bad": "0.8.0 FAIL HOOK_MISSING",
                  "last_bad": "0.8.0 FAIL HOOK_MISSING", "first_fixed": "0.8.1 PASS"}}


def test_a_history_is_read_back_as_it_was_written_and_has_the_published_form(story: Story) -> None:
    read = history.FORM.from_json(canonical.parse(story.data()))
    assert history.FORM.to_bytes(read) == story.data()
    jsonschema.validate(story.value, history.FORM.schema())


def test_a_history_of_what_we_did_not_observe_is_refused_to_who_asks_for_that(
        story: Story) -> None:
    assert story.judge(reproduced=True).code == "OBSERVATION_UNKNOWN"


def test_releases_are_known_in_the_order_of_versions() -> None:
    known = list(sdk_releases.known())
    assert known == sorted(known, key=version_order)


def put(story: Story, scenario: str, side: str, data: bytes, sdk: str | None = None) -> None:
    """Let a side name another certificate, which is there in the place of the right one."""
    row = story.row(scenario)
    row[side]["certificate"] = canonical.parse(data)["id"]
    story.put(scenario, sdk or row[side]["sdk"], data)


def forged(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """A certificate that says something else, named by what it says."""
    value = canonical.parse(data)
    change(value)
    value["id"] = id_of(value)
    return canonical.dumps(value)


def _call_it_a_pass(value: dict[str, Any]) -> None:
    value["verdict"] = "PASS"
    for check in value["checks"]:
        if check["check"] == histories.CHECK:
            check |= {"verdict": "PASS", "code": "OK"}
            for name in ("where", "detail", "also"):
                check.pop(name, None)


def _forge_a_pass(story: Story) -> None:
    put(story, "greeting", "last_bad",
        forged(histories.certificate("greeting", "0.0.3", broken=True), _call_it_a_pass))


def _move(story: Story, scenario: str, side: str, sdk: str) -> None:
    """Let a side be of another release, its certificate included."""
    story.row(scenario)[side]["sdk"] = sdk
    put(story, scenario, side, histories.certificate(scenario, sdk))


def _before_the_first(story: Story) -> None:
    row = story.row("greeting")
    row["before"] = dict(row["first_fixed"])


def _swap(story: Story) -> None:
    row = story.row("greeting")
    for side, other in (("first_bad", "0.0.3"), ("last_bad", "0.0.2")):
        put(story, "greeting", side, histories.certificate("greeting", other, broken=True),
            row[side]["sdk"])


def _other_python(story: Story) -> None:
    story.value["python"] = "3.13"
    story.members = {name.replace(PYTHON, "3.13"): data for name, data in story.members.items()}


def _tamper(story: Story) -> None:
    name = f"0.0.3-python-{PYTHON}/greeting.json"
    story.members[name] = story.members[name].replace(b'"FAIL"', b'"PASS"')


def _pass(story: Story, side: str) -> None:
    said = story.row("greeting")[side]
    said["state"] = "PASS"
    said.pop("code", None)


NEGATIVE: list[tuple[Callable[[Story], object], str]] = [
    (lambda story: story.value.update(schema="other"), "HISTORY_FORMAT"),
    (lambda story: story.value.update(extra=1), "RECORD_SHAPE"),
    (lambda story: story.row("greeting")["first_bad"].update(state="MAYBE"), "RECORD_SHAPE"),
    (lambda story: story.row("greeting").pop("first_fixed"), "RECORD_SHAPE"),
    (lambda story: story.row("greeting").update(upstream=[]), "RECORD_EXPLICIT_DEFAULT"),
    (lambda story: story.value["producer"].update(version="9.9.9"), "PRODUCER_UNKNOWN"),
    (lambda story: story.value.update(rows=[]), "HISTORY_EMPTY"),
    (lambda story: story.value["rows"].reverse(), "ROWS_DISORDERED"),
    (lambda story: story.value["rows"].append(story.row("saved")), "ROWS_DISORDERED"),
    (lambda story: story.row("saved").update(check="nothing_known"), "CHECK_UNKNOWN"),
    (lambda story: story.row("saved").update(code="NOTHING_KNOWN"), "CHECK_UNKNOWN"),
    (lambda story: story.row("saved").update(universal=False), "UNIVERSAL_WRONG"),
    (lambda story: story.row("saved").update(check="execution_outcome", code="TIMEOUT"),
     "UNIVERSAL_WRONG"),
    (lambda story: story.row("saved").update(bug="demo#3"), "REPORT_UNKNOWN"),
    (lambda story: story.row("greeting").update(bug="demo#1"), "REPORT_UNKNOWN"),
    *((lambda story, side=side: story.row("saved")[side].update(sdk="0.8.99"), "RELEASE_UNKNOWN")
      for side in ("before", "first_bad", "last_bad", "first_fixed")),
    (lambda story: story.row("saved").pop("before"), "RELEASES_APART"),
    (lambda story: _move(story, "saved", "before", "0.6.9"), "RELEASES_APART"),
    (lambda story: _move(story, "saved", "before", "0.8.0"), "RELEASES_APART"),
    (_before_the_first, "RELEASES_APART"),
    (lambda story: _move(story, "saved", "first_fixed", "0.8.2"), "RELEASES_APART"),
    (lambda story: _move(story, "saved", "first_fixed", "0.8.0"), "RELEASES_APART"),
    (lambda story: (_move(story, "saved", "before", "0.8.0"),
                    _move(story, "saved", "first_bad", "0.8.1")), "RELEASES_APART"),
    (lambda story: _move(story, "greeting", "first_bad", "0.0.3"), "RELEASES_APART"),
    (lambda story: story.members.pop(f"0.0.2-python-{PYTHON}/greeting.json"),
     "CERTIFICATE_MISSING"),
    (lambda story: story.value.update(python="3.13"), "CERTIFICATE_MISSING"),
    (lambda story: story.members.update({f"0.0.2-python-{PYTHON}/saved.json": b"{}"}),
     "CERTIFICATE_EXTRA"),
    (lambda story: story.members.update({"column.json": b"{}"}), "CERTIFICATE_EXTRA"),
    (_tamper, "ID_DIFFERS"),
    (_forge_a_pass, "CHECKS_DIFFER"),
    (lambda story: story.put("greeting", "0.0.2", b""), "JSON_EMPTY"),
    (lambda story: story.row("saved")["before"].update(certificate="sha256:" + "0" * 64),
     "CERTIFICATE_DIFFERS"),
    (lambda story: story.put("saved", "0.8.1",
                             histories.certificate("saved", "0.8.1", broken=True)),
     "CERTIFICATE_DIFFERS"),
    (lambda story: put(story, "saved", "first_fixed", histories.certificate("greeting", "0.8.1")),
     "CERTIFICATE_OF_OTHER_PLAN"),
    (lambda story: story.row("saved").update(plan="sha256:" + "0" * 64),
     "CERTIFICATE_OF_OTHER_PLAN"),
    (_swap, "CERTIFICATE_OF_OTHER_COLUMN"),
    (_other_python, "CERTIFICATE_OF_OTHER_COLUMN"),
    (lambda story: story.row("saved").update(title="Another"), "ROW_DIFFERS"),
    (lambda story: story.row("saved").update(area="exile"), "ROW_DIFFERS"),
    (lambda story: story.row("saved").update(upstream=["demo#1"]), "ROW_DIFFERS"),
    (lambda story: _pass(story, "first_bad"), "SIDE_DIFFERS"),
    (lambda story: story.row("saved")["before"].update(state="ABSENT"), "SIDE_DIFFERS"),
    (lambda story: story.row("saved")["first_bad"].update(code="HOOK_DUPLICATED"), "SIDE_DIFFERS"),
    (lambda story: story.row("saved")["first_fixed"].update(state="FAIL", code="HOOK_MISSING"),
     "SIDE_DIFFERS"),
]


@pytest.mark.parametrize(("forge", "code"), NEGATIVE,
                         ids=[f"{number}-{code}" for number, (_, code) in enumerate(NEGATIVE)])
def test_a_forged_history_is_refused_for_the_named_reason(
        story: Story, forge: Callable[[Story], object], code: str) -> None:
    forge(story)
    judgement = story.judge()
    assert (judgement.valid, judgement.code) == (False, code)
    assert judgement.message


@pytest.mark.parametrize(("bug", "broken", "said"), [
    (("0.8.0", "0.8.1", "0.8.2"), ["0.8.1"], "does not fail with HOOK_MISSING on 0.8.0: PASS"),
    (("0.8.0", "0.8.1", "0.8.2"), ["0.8.0"], "does not fail with HOOK_MISSING on 0.8.1: PASS"),
    (("0.8.0", "0.8.1", "0.8.2"), ["0.8.0", "0.8.1", "0.8.2"],
     "does not pass on 0.8.2: FAIL HOOK_MISSING"),
    (("0.8.1", "0.8.1", "0.8.2"), ["0.8.0", "0.8.1"], "fails with HOOK_MISSING on 0.8.0 already"),
])
def test_an_honest_row_that_shows_no_bug_is_refused(
        bug: tuple[str, str, str], broken: list[str], said: str) -> None:
    judgement = Story({"saved": bug}, {"saved": broken}).judge()
    assert judgement.code == "ROW_SHOWS_NOTHING"
    assert judgement.message == f"saved: hook_order {said}"


def test_a_row_of_another_code_of_its_check_shows_nothing(story: Story) -> None:
    story.row("saved")["code"] = "HOOK_DUPLICATED"
    judgement = story.judge()
    assert judgement.code == "ROW_SHOWS_NOTHING"


def test_a_history_in_other_bytes_or_changed_after_it_was_made_is_refused(story: Story) -> None:
    data = story.data()
    codes = [checker.check(one, story.members, story.members.__getitem__).code
             for one in (data.replace(b'{"id":', b'{ "id":'), data + b"\n",
                         data.replace(b'"A greeting"', b'"A GREETING"'), b"", b"[]", b"{}")]
    assert codes == ["NOT_CANONICAL", "NOT_CANONICAL", "HISTORY_ID", "JSON_EMPTY",
                     "HISTORY_FORMAT", "HISTORY_FORMAT"]
