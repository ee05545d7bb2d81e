from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.errors import LabError
from agentrunproof.lab import releases, selection
from agentrunproof.record import sdk_releases
from agentrunproof.record.matrix import Column

ALL = list(releases.known())


@pytest.mark.parametrize(("spec", "chosen"), [
    ("0.24.0", ["0.24.0"]),
    ("latest", ["0.24.0"]),
    ("0.20.0,0.7.0,0.20.0", ["0.7.0", "0.20.0"]),
    (" 0.20.0 , latest ", ["0.20.0", "0.24.0"]),
    (">=0.23", ["0.23.1", "0.24.0"]),
    (">=0.8,<0.8.3", ["0.8.0", "0.8.1", "0.8.2"]),
    ("<0.0.4", ["0.0.2", "0.0.3"]),
    ("==0.20", ["0.20.0"]),
    ("==0.8.*,!=0.8.1,>0.8.0,<=0.8.3", ["0.8.2", "0.8.3"]),
    ("~=0.8.2", ["0.8.2", "0.8.3", "0.8.4"]),
    ("<0.0.3,0.20.0,>=0.24", ["0.0.2", "0.20.0", "0.24.0"]),
    ("99.0.0", ["99.0.0"]),
    ("0.24.0,99.0.0,99.0.0rc1", ["0.24.0", "99.0.0rc1", "99.0.0"]),
    ("minors>=0.22", ["0.22.3", "0.23.1", "0.24.0"]),
    ("0.7.0, minors >=0.2,<0.4, 0.8.0", ["0.2.11", "0.3.3", "0.7.0", "0.8.0"]),
    ("latest>=0.20,0.7.0,<0.0.3", ["0.0.2", "0.7.0", "0.24.0"]),
])
def test_a_specification_names_releases_in_version_order(spec: str, chosen: list[str]) -> None:
    assert list(selection.releases_of(spec)) == chosen


def test_all_is_every_release_and_certified_those_we_know_the_files_of() -> None:
    assert list(selection.releases_of("all")) == ALL
    assert set(selection.releases_of("certified")) == set(sdk_releases.known())


def test_minors_has_the_last_release_of_every_minor_version() -> None:
    minors = selection.releases_of("minors")
    assert len(minors) == len({tuple(version.split(".")[:2]) for version in ALL}) == 25
    for minor in minors:
        later = [version for version in ALL if version.split(".")[:2] == minor.split(".")[:2]
                 and releases.parse(version) > releases.parse(minor)]
        assert later == []


@pytest.mark.parametrize(("spec", "code"), [
    ("0.20.9", "RELEASE_UNKNOWN"), ("0.0.1", "RELEASE_UNKNOWN"), ("newest", "RELEASE_SYNTAX"),
    ("", "RELEASE_SYNTAX"), ("0.20.0,", "RELEASE_SYNTAX"), (">=0.20,<0.19", "RELEASE_NONE"),
    (">=99", "RELEASE_NONE"), (">=", "RELEASE_SYNTAX"), (">=new", "RELEASE_SYNTAX"),
    ("~=1", "RELEASE_SYNTAX"), ("=>0.20", "RELEASE_SYNTAX"), ("1..2", "RELEASE_SYNTAX"),
    ("v0.20.0", "RELEASE_SYNTAX"), ("minors<0.2,>=0.24", "RELEASE_NONE"),
    ("minor>=0.2", "RELEASE_SYNTAX"), ("0.7.0>=0.2", "RELEASE_SYNTAX"),
])
def test_what_names_no_release_is_refused(spec: str, code: str) -> None:
    with pytest.raises(LabError) as caught:
        selection.releases_of(spec)
    assert caught.value.code == code
    assert caught.value.hint


def test_a_misspelt_word_is_answered_with_the_nearest() -> None:
    with pytest.raises(LabError, match="did you mean 'latest'"):
        selection.releases_of("lates")


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_two_bounds_choose_exactly_what_lies_between(low: str, high: str) -> None:
    between = ALL[ALL.index(low):ALL.index(high) + 1]
    if between:
        assert list(selection.releases_of(f">={low},<={high}")) == between
    else:
        with pytest.raises(LabError):
            selection.releases_of(f">={low},<={high}")


@given(st.lists(st.sampled_from(ALL), min_size=1))
def test_a_union_is_sorted_and_without_repeats(chosen: list[str]) -> None:
    assert list(selection.releases_of(",".join(chosen))) == sorted(
        set(chosen), key=ALL.index)


def test_pythons_are_sorted_by_number() -> None:
    assert selection.pythons_of("3.13,3.10, 3.13") == ("3.10", "3.13")


@pytest.mark.parametrize("spec", ["3", "3.9", "3.12.1", "python3.12", "", "3.12,"])
def test_what_is_no_python_is_refused(spec: str) -> None:
    with pytest.raises(LabError) as caught:
        selection.pythons_of(spec)
    assert caught.value.code == "PYTHON_SYNTAX"


def test_pins_are_combined() -> None:
    assert selection.pins_of([]) == ((),)
    assert selection.pins_of(["openai=lowest,latest", "Pydantic=2.12"]) == (
        ("openai=lowest", "pydantic=2.12"), ("openai=latest", "pydantic=2.12"))


@pytest.mark.parametrize(("specs", "code"), [
    (["openai"], "PIN_SYNTAX"), (["openai="], "PIN_SYNTAX"), (["=lowest"], "PIN_SYNTAX"),
    (["openai==2.0"], "PIN_SYNTAX"), (["openai=lowest,"], "PIN_SYNTAX"),
    (["../x=latest"], "PIN_SYNTAX"), (["openai-agents=0.20.0"], "PIN_SYNTAX"),
    (["openai=lowest", "OpenAI=latest"], "PIN_TWICE"),
])
def test_pins_that_make_no_sense_are_refused(specs: list[str], code: str) -> None:
    with pytest.raises(LabError) as caught:
        selection.pins_of(specs)
    assert caught.value.code == code


def test_columns_are_all_combinations_by_release_python_and_pins() -> None:
    columns = selection.columns_of("0.10.0,0.9.0", "3.12,3.10",
                                   ["openai=lowest,latest"])
    assert [column.key for column in columns] == [
        f"{sdk}-python-{python}+openai={version}" for sdk in ("0.9.0", "0.10.0")
        for python in ("3.10", "3.12") for version in ("latest", "lowest")]


@given(st.integers(1, 12), st.integers(0, 40))
def test_shards_share_the_columns_out(count: int, size: int) -> None:
    columns = tuple(Column(sdk=version, python="3.12") for version in ALL[:size])
    shards = [selection.shard_of(columns, f"{number}/{count}") for number in range(1, count + 1)]
    assert sorted((column for shard in shards for column in shard),
                  key=columns.index) == list(columns)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3"])
def test_a_shard_that_is_not_one_of_so_many_is_refused(shard: str) -> None:
    with pytest.raises(LabError) as caught:
        selection.shard_of((), shard)
    assert caught.value.code == "SHARD_SYNTAX"
