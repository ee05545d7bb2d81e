"""The bundle checker: an authentic one holds, and each step refuses for its own reason."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.checker.bundle import CERTIFICATES
from agentrunproof.record import bundle as bundles
from agentrunproof.record.bundle import MARKER
from tests import histories
from tests.histories import PYTHON, RECORD, Bundle, Story

pytestmark = pytest.mark.sdk

FIRST = f"{CERTIFICATES}0.0.2-python-{PYTHON}/greeting.json"


@pytest.fixture
def bundle() -> Bundle:
    return Bundle()


def test_an_authentic_bundle_holds(bundle: Bundle) -> None:
    judgement = bundle.judge()
    assert (judgement.code, judgement.id) == ("OK", bundle.value["id"])
    assert judgement.notes == ("plan not in the catalogue: it says itself what is expected: "
                               f"{len(bundle.files) - 2} certificates",)


def test_locks_that_were_not_looked_at_are_noted(bundle: Bundle) -> None:
    bundle.locks.clear()
    judgement = bundle.judge(locked=False)
    assert judgement.code == "OK"
    assert judgement.notes[-1] == "locks not looked at: name their folder with --locks"


def test_a_bundle_is_read_back_as_it_was_written_and_has_the_published_form(
        bundle: Bundle) -> None:
    read = bundles.FORM.from_json(canonical.parse(bundle.files[MARKER]))
    assert bundles.FORM.to_bytes(read) == bundle.files[MARKER]
    jsonschema.validate(bundle.value, bundles.FORM.schema())


def _rename(bundle: Bundle, old: str, new: str) -> None:
    """Give a file another name, in the bundle too."""
    bundle.files[new] = bundle.files.pop(old)
    bundle.seal()


def _add(bundle: Bundle, name: str) -> None:
    """Add a file that is a member."""
    bundle.files[name] = b"{}"
    bundle.seal()


def _put(bundle: Bundle, change: Callable[[Story], object]) -> None:
    """Make the bundle of a history that was changed."""
    story = Story()
    change(story)
    bundle.files = Bundle(story).files
    bundle.seal()


def _replace(bundle: Bundle, **made: Any) -> None:
    """Put a certificate that was made otherwise in its place, in the history too."""
    def change(story: Story) -> None:
        data = histories.certificate("saved", "0.8.1", **made)
        story.put("saved", "0.8.1", data)
        story.row("saved")["first_fixed"]["certificate"] = canonical.parse(data)["id"]

    _put(bundle, change)


def _forge(bundle: Bundle) -> None:
    name = f"{CERTIFICATES}0.8.0-python-{PYTHON}/saved.json"
    bundle.files[name] = bundle.files[name].replace(b'"FAIL"', b'"PASS"')
    bundle.seal()


def _lock(bundle: Bundle, sdk: str, text: bytes) -> None:
    """Let the environment of a release be of this lock."""
    bundle.locks[sdk] = text
    environment = next(one for one in bundle.value["environments"] if one["sdk"] == sdk)
    environment["lock"] = canonical.digest_bytes(text)


def _other_wheel(bundle: Bundle) -> None:
    wheel = histories.lock_of("0.8.0").sdk.digest
    _lock(bundle, "0.8.0", bundle.locks["0.8.0"].replace(
        wheel.encode(), b"sha256:" + b"2" * 64))


def _without_the_record(bundle: Bundle) -> None:
    del bundle.files[RECORD]
    bundle.seal()


def _environments(bundle: Bundle) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bundle.value["environments"]
    return found


NAMES = ["../x", "/x", "a//b", "a/../b", "a/./b", "a/", "", ".hidden", "a/.hidden", "a\\b", "a b",
         "a\n", "a\nb", "ü", "certificates/\x00", "c:x"]

NEGATIVE: list[tuple[Callable[[Bundle], object], str]] = [
    (lambda bundle: bundle.value.update(schema="agentrunproof/bundle/2"), "BUNDLE_FORMAT"),
    (lambda bundle: bundle.value.update(extra=1), "RECORD_SHAPE"),
    (lambda bundle: bundle.value["producer"].update(commit="main"), "RECORD_SHAPE"),
    *((lambda bundle, name=name, other=other: bundle.value["conditions"].update({name: other}),
       "RECORD_SHAPE") for name, other in [
        ("system", "darwin"), ("machine", "aarch64"), ("implementation", "pypy"),
        ("python", "3.13.0"), ("environments", "cached"), ("network", "audit-hook"),
        ("acquisition", "offline")]),
    (lambda bundle: bundle.value["conditions"].pop("network"), "RECORD_SHAPE"),
    *((lambda bundle, name=name: bundle.value["members"].update({name: "sha256:" + "0" * 64}),
       "RECORD_SHAPE") for name in NAMES),
    *((lambda bundle, name=name: bundle.value.update(record=name), "RECORD_SHAPE")
      for name in NAMES),
    (lambda bundle: bundle.value["producer"].update(version="9.9.9"), "PRODUCER_UNKNOWN"),
    (lambda bundle: _environments(bundle).reverse(), "ENVIRONMENTS_DISORDERED"),
    (lambda bundle: _environments(bundle).insert(0, _environments(bundle)[0]),
     "ENVIRONMENTS_DISORDERED"),
    (lambda bundle: bundle.files.pop(RECORD), "MEMBER_MISSING"),
    (lambda bundle: bundle.files.pop(FIRST), "MEMBER_MISSING"),
    (lambda bundle: bundle.value["members"].update({MARKER: "sha256:" + "0" * 64}),
     "MEMBER_MISSING"),
    *((lambda bundle, name=name: bundle.files.update({name: b""}), "MEMBER_EXTRA")
      for name in ("notes.txt", ".hidden", "certificates/.hidden", f"certificates/{MARKER}",
                   f"{FIRST}~")),
    (lambda bundle: bundle.value["members"].pop(FIRST), "MEMBER_EXTRA"),
    (lambda bundle: bundle.files.update({RECORD: bundle.files[RECORD] + b"\n"}), "MEMBER_DIFFERS"),
    (lambda bundle: bundle.files.update({FIRST: b""}), "MEMBER_DIFFERS"),
    (lambda bundle: _add(bundle, "notes.txt"), "MEMBER_UNRELATED"),
    (lambda bundle: _rename(bundle, FIRST, FIRST.removeprefix(CERTIFICATES)), "MEMBER_UNRELATED"),
    (lambda bundle: _rename(bundle, RECORD, "history.json"), "MEMBER_UNRELATED"),
    (_without_the_record, "MEMBER_MISSING"),
    (lambda bundle: bundle.value.update(record=FIRST), "MEMBER_UNRELATED"),
    (lambda bundle: _add(bundle, f"{CERTIFICATES}0.0.2-python-{PYTHON}/saved.json"),
     "CERTIFICATE_EXTRA"),
    (lambda bundle: _rename(bundle, FIRST, f"{CERTIFICATES}greeting.json"), "CERTIFICATE_MISSING"),
    (lambda bundle: _put(bundle, lambda story: story.value["producer"].update(version="9.9.9")),
     "PRODUCER_UNKNOWN"),
    (lambda bundle: _put(bundle, lambda story: story.row("saved")["before"].update(
        state="ABSENT")), "SIDE_DIFFERS"),
    (_forge, "ID_DIFFERS"),
    (lambda bundle: _replace(bundle, python="3.12.2"), "CONDITIONS_DIFFER"),
    (lambda bundle: _replace(bundle, network="audit-hook"), "CONDITIONS_DIFFER"),
    (lambda bundle: bundle.value["conditions"].update(python="3.12.9"), "CONDITIONS_DIFFER"),
    (lambda bundle: _environments(bundle).pop(), "ENVIRONMENT_MISSING"),
    (lambda bundle: _environments(bundle).append({**_environments(bundle)[0], "sdk": "0.24.0"}),
     "ENVIRONMENT_UNUSED"),
    (lambda bundle: bundle.locks.pop("0.8.0"), "RECORD_NOT_FOUND"),
    (lambda bundle: bundle.locks.update({"0.8.0": bundle.locks["0.8.1"]}), "LOCK_DIFFERS"),
    (lambda bundle: _environments(bundle)[0].update(lock="sha256:" + "0" * 64), "LOCK_DIFFERS"),
    (lambda bundle: _lock(bundle, "0.8.0", b"openai-agents\n"), "LOCK_FORMAT"),
    (lambda bundle: _lock(bundle, "0.8.0", bundle.locks["0.8.1"]), "LOCK_OF_OTHER_WHEEL"),
    (_other_wheel, "LOCK_OF_OTHER_WHEEL"),
    (lambda bundle: _environments(bundle)[0].update(wheel="sha256:" + "0" * 64),
     "LOCK_OF_OTHER_WHEEL"),
]


@pytest.mark.parametrize(("forge", "code"), NEGATIVE,
                         ids=[f"{number}-{code}" for number, (_, code) in enumerate(NEGATIVE)])
def test_a_forged_bundle_is_refused_for_the_named_reason(
        bundle: Bundle, forge: Callable[[Bundle], object], code: str) -> None:
    forge(bundle)
    bundle.mark()
    judgement = bundle.judge()
    assert (judgement.valid, judgement.code) == (False, code)
    assert judgement.message


def test_what_is_wrong_with_the_history_is_said_of_its_file(bundle: Bundle) -> None:
    _forge(bundle)
    assert bundle.judge().message.startswith(f"{RECORD}: 0.8.0-python-{PYTHON}/saved.json: ")


def test_without_the_marker_all_the_rest_is_no_evidence(bundle: Bundle) -> None:
    del bundle.files[MARKER]
    assert bundle.judge().code == "BUNDLE_UNFINISHED"


def test_a_marker_in_other_bytes_or_changed_after_it_was_made_is_refused(bundle: Bundle) -> None:
    data = bundle.files[MARKER]
    codes = []
    for one in (data.replace(b'{"conditions":', b'{ "conditions":'), data + b"\n",
                data.replace(b"0" * 40, b"1" * 40), b"", b"{}", data[:-3]):
        bundle.files[MARKER] = one
        codes.append(bundle.judge().code)
    assert codes == ["NOT_CANONICAL", "NOT_CANONICAL", "BUNDLE_ID", "JSON_EMPTY", "BUNDLE_FORMAT",
                     "JSON_SYNTAX"]


@cache
def whole() -> Bundle:
    return Bundle()


@given(st.data())
def test_no_byte_of_any_file_can_be_changed(data: st.DataObject) -> None:
    bundle = copy.deepcopy(whole())
    file = data.draw(st.sampled_from(sorted(bundle.files)))
    content = bytearray(bundle.files[file])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    bundle.files[file] = bytes(content)
    assert not bundle.judge().valid


@settings(max_examples=10)  # each is refused after all certificates have been judged
@given(st.data())
def test_no_byte_of_any_lock_can_be_changed(data: st.DataObject) -> None:
    bundle = copy.deepcopy(whole())
    sdk = data.draw(st.sampled_from(sorted(bundle.locks)))
    content = bytearray(bundle.locks[sdk])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    bundle.locks[sdk] = bytes(content)
    assert bundle.judge().code == "LOCK_DIFFERS"


@given(st.data())
def test_no_file_can_be_taken_away(data: st.DataObject) -> None:
    bundle = copy.deepcopy(whole())
    for name in data.draw(st.sets(st.sampled_from(sorted(bundle.files)), min_size=1)):
        del bundle.files[name]
    assert bundle.judge().code in ("BUNDLE_UNFINISHED", "MEMBER_MISSING")


@given(st.text(min_size=1), st.sampled_from(["", CERTIFICATES, FIRST]), st.binary())
def test_no_file_can_be_added(name: str, folder: str, content: bytes) -> None:
    bundle = copy.deepcopy(whole())
    assume(folder + name not in bundle.files)
    bundle.files[folder + name] = content
    assert bundle.judge().code == "MEMBER_EXTRA"
