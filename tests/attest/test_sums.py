"""SHA256SUMS: one form, every file in it, and nothing that is elsewhere."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.attest import sums
from agentrunproof.errors import RecordError

A, B = "a" * 64, "b" * 64
FILES = {"evidence/x.json": A, "scenarios/a/y.toml": B}
LIST = f"{A}  evidence/x.json\n{B}  scenarios/a/y.toml\n"

PARTS = st.text(st.characters(blacklist_characters="/\\\n\r", blacklist_categories=["Cs"]),
                min_size=1).filter(lambda part: part not in (".", ".."))
NAMES = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


def code(content: str) -> str:
    with pytest.raises(RecordError) as caught:
        sums.parse(content)
    return caught.value.code


@given(st.dictionaries(NAMES, DIGESTS))
def test_what_is_written_is_read_back(digests: dict[str, str]) -> None:
    assert sums.parse(sums.text(digests)) == digests


PIECES = st.sampled_from([A, B, "  ", " *", "a/x", "b/y", "..", "/", "\\", "\r", "\n"])


@given(st.lists(PIECES | st.just(f"{A}  a/x\n") | st.just(f"{B}  b/y\n")).map("".join))
def test_what_can_be_read_has_one_form(content: str) -> None:
    try:
        digests = sums.parse(content)
    except RecordError:
        return
    assert sums.text(digests) == content


def test_lines_are_sorted_by_name() -> None:
    assert sums.text(dict(reversed(FILES.items()))) == LIST


@pytest.mark.parametrize("content", [
    f"{A} evidence/x\n",  # one space
    f"{A} *evidence/x\n",  # the mark of binary mode
    f"{A}   \n" + f"{B}  /\n",
    f"{A.upper()}  evidence/x\n",
    f"{A[1:]}  evidence/x\n",
    f"{A}a  evidence/x\n",
    f"{A}  \n",
    f"{A}  evidence/x\r\n",
    f"{A}  evidence\\x\n",
    f"\\{A}  evidence\\\\x\n",  # how sha256sum writes a name with a backslash in it
    f"\\{A}  evidence\\nx\n",
    f"{A}  /evidence/x\n",
    f"{A}  ../evidence/x\n",
    f"{A}  evidence/../x\n",
    f"{A}  evidence/./x\n",
    f"{A}  evidence//x\n",
    f"{A}  evidence/\n",
    f"SHA256 (evidence/x) = {A}\n",
    f"# a comment\n{A}  evidence/x\n",
    f"{A}  evidence/x\n\n",
    "\n",
    "x",
    f"{A}  evidence/x",  # the last line is not ended
    f"{B}  scenarios/y\n{A}  evidence/x\n",  # not in order
    f"{A}  evidence/x\n{A}  evidence/x\n",  # twice
    f"{A}  evidence/x\n{B}  evidence/x\n",
])
def test_another_form_is_refused(content: str) -> None:
    assert code(content) == "SUMS_FORMAT"


def test_the_line_at_fault_is_named() -> None:
    with pytest.raises(RecordError, match=r"^line 3 names evidence/x\.json again"):
        sums.parse(LIST + f"{A}  evidence/x.json\n")
    with pytest.raises(RecordError, match=r"^line 2 is not a digest, two spaces"):
        sums.parse(f"{A}  evidence/x\nnonsense\n")


def check(content: str, files: Mapping[str, str]) -> int:
    return sums.check(content, ["evidence", "scenarios"], list(files), files.__getitem__)


def test_a_list_that_names_every_file_as_it_is_holds() -> None:
    assert check(LIST, FILES) == 2


@pytest.mark.parametrize(("content", "files", "code", "named"), [
    (LIST, {**FILES, "evidence/.hidden": A}, "SUMS_EXTRA", "evidence/.hidden"),
    (LIST, {"evidence/x.json": A}, "SUMS_MISSING", "scenarios/a/y.toml"),
    (LIST, {}, "SUMS_MISSING", "evidence/x.json"),
    ("", FILES, "SUMS_EXTRA", "evidence/x.json"),
    (LIST, {**FILES, "scenarios/a/y.toml": A}, "SUMS_DIFFER", "scenarios/a/y.toml"),
    (f"{A}  README.md\n" + LIST, {**FILES, "README.md": A}, "SUMS_FOLDER", "README.md"),
    (f"{A}  SHA256SUMS\n" + LIST, FILES, "SUMS_FOLDER", "SHA256SUMS"),
    (LIST + f"{A}  scenarios2/x\n", FILES, "SUMS_FOLDER", "scenarios2/x"),
    (LIST.replace("scenarios/a", "scenarios/.."), FILES, "SUMS_FORMAT", "line 2"),
])
def test_a_list_of_other_files_is_refused_and_the_first_is_named(
        content: str, files: dict[str, str], code: str, named: str) -> None:
    with pytest.raises(RecordError) as caught:
        check(content, files)
    assert caught.value.code == code
    assert named in caught.value.message


def test_how_many_more_files_are_at_fault_is_said() -> None:
    with pytest.raises(RecordError, match=r"evidence/x\.json is listed and not there "
                                          r"\(and 1 more\)"):
        check(LIST, {})


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_sha256sum_reads_what_is_written(tmp_path: Path) -> None:
    names = ["a/ leading space", "a/two  spaces", "a/*", "a/ü", "a/-", "a/#x", "b"]
    (tmp_path / "a").mkdir()
    digests = {}
    for name in names:
        (tmp_path / name).write_text(name)
        digests[name] = hashlib.sha256(name.encode()).hexdigest()

    def passes() -> bool:
        (tmp_path / "SUMS").write_text(sums.text(digests), encoding="utf-8")
        return subprocess.run(["sha256sum", "--check", "--strict", "SUMS"], cwd=tmp_path,
                              capture_output=True, check=False).returncode == 0

    assert passes()
    digests["b"] = A
    assert not passes()
