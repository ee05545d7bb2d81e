from __future__ import annotations

import pytest

from agentrunproof.errors import LabError
from agentrunproof.lab import releases
from agentrunproof.record import sdk_releases


def test_the_table_is_in_order_and_dependencies_are_dated_after_each_upload() -> None:
    table = list(releases.known().values())
    assert [releases.parse(row.version) for row in table] == sorted(
        releases.parse(row.version) for row in table)
    assert all(row.uploaded < row.exclude_newer for row in table)
    assert len(table) > 100


def test_every_certified_release_is_in_the_table() -> None:
    assert sdk_releases.known().keys() <= releases.known().keys()


def test_a_release_knows_its_oldest_python() -> None:
    assert releases.known()["0.8.0"].oldest_python == (3, 9)
    assert releases.known()["0.24.0"].oldest_python == (3, 10)


def test_what_was_not_certified_is_labelled_untested() -> None:
    version, files = next(iter(sdk_releases.known().items()))
    assert sdk_releases.label(version, files) == "certified"
    assert sdk_releases.label("99.0.0", files) == "untested"
    assert sdk_releases.label(version, "sha256:" + "0" * 64) == "untested"


def test_a_release_newer_than_the_table_may_exist() -> None:
    assert releases.find("99.0.0") is None


def test_the_oldest_release_may_be_asked_for() -> None:
    oldest = releases.find("0.0.2")
    assert oldest is not None
    assert next(iter(releases.known())) == oldest.version


@pytest.mark.parametrize(("asked", "nearest"), [
    ("0.20.7", "0.20.0"), ("0.23.0", "0.22.3"), ("0.0.1", "0.0.2")])
def test_a_release_that_never_was_is_answered_with_the_nearest(asked: str, nearest: str) -> None:
    with pytest.raises(LabError) as caught:
        releases.find(asked)
    assert caught.value.code == "RELEASE_UNKNOWN"
    assert caught.value.hint == f"did you mean {nearest}?"


@pytest.mark.parametrize("written", ["", "newest", "0.20.x", "v0.20.0", "0.20 ", "-1", "0.24\n"])
def test_what_is_no_release_number_is_refused(written: str) -> None:
    with pytest.raises(LabError) as caught:
        releases.find(written)
    assert caught.value.code == "RELEASE_SYNTAX"
