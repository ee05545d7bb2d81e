"""Locks: one form, read back as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.errors import RecordError
from agentrunproof.record import lock
from agentrunproof.record.lock import Lock, Wheel
from agentrunproof.record.sdk_releases import DISTRIBUTION

DIGEST = "sha256:" + "a" * 64
LOCK = f"""# openai-agents 0.19.4
anyio==4.14.2 --hash={DIGEST}
openai-agents==0.19.4 --hash={DIGEST}
"""

VERSIONS = st.lists(st.integers(0, 2030).map(str), min_size=1, max_size=4).map(".".join) \
    | st.sampled_from(["1!2.0", "2.0rc1", "1.0.post20250515", "2.0+cpu"])
DIGESTS = st.binary(min_size=32, max_size=32).map(lambda data: f"sha256:{data.hex()}")
NAMES = st.lists(st.text("az09", min_size=1), min_size=1, max_size=3).map("-".join)


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    names = draw(st.sets(NAMES, max_size=4)) | {DISTRIBUTION}
    return Lock(tuple(Wheel(name, draw(VERSIONS), draw(DIGESTS)) for name in sorted(names)))


@given(locks())
def test_a_lock_is_read_back_as_it_was_written(made: Lock) -> None:
    assert lock.read(made.text().encode()) == made


PIECES = [line + b"\n" for line in LOCK.encode().splitlines()]


@given(st.lists(st.sampled_from([*PIECES, b"\n", b"\r", b" ", b"\xff"])).map(b"".join))
def test_what_can_be_read_has_one_form(data: bytes) -> None:
    try:
        read = lock.read(data)
    except RecordError:
        return
    assert read.text().encode() == data


def test_a_lock_tells_the_wheel_of_the_sdk() -> None:
    read = lock.read(LOCK.encode())
    assert [str(wheel) for wheel in read.wheels] == LOCK.splitlines()[1:]
    assert read.sdk == Wheel("openai-agents", "0.19.4", DIGEST)


@pytest.mark.parametrize(("old", "new"), [
    ("# openai-agents 0.19.4\n", ""),
    ("# openai-agents 0.19.4", "# openai-agents 0.19.3"),
    ("# openai-agents 0.19.4", "#"),
    ("anyio", "Anyio"),
    ("anyio", "an_yio"),
    ("anyio", "anyio[trio]"),
    ("anyio", "openai-agents-"),
    ("anyio", "zope"),  # not in order
    ("anyio==4.14.2", "openai-agents==0.19.4"),  # twice
    ("anyio==4.14.2", "anyio>=4.14.2"),
    ("anyio==4.14.2", "anyio==latest"),
    ("anyio==4.14.2", "anyio == 4.14.2"),
    ("anyio==4.14.2", "-e anyio"),
    ("anyio==4.14.2 ", "anyio @ file:///anyio.whl "),
    ("anyio==4.14.2 ", "anyio==4.14.2; python_version > '3' "),
    (f" --hash={DIGEST}\nopenai", "\nopenai"),  # without a hash
    (f" --hash={DIGEST}\nopenai", f" --hash={DIGEST} --hash={DIGEST}\nopenai"),
    (f"{DIGEST}\nopenai", f"{DIGEST.upper()}\nopenai"),
    (f"{DIGEST}\nopenai", "md5:" + "a" * 32 + "\nopenai"),
    (f"{DIGEST}\nopenai", f"{DIGEST}a\nopenai"),
    ("openai-agents==", "openai-agent=="),  # no SDK
    ("\n", "\r\n"),
    ("\nopenai", "\n\nopenai"),
    ("\nopenai", "\n--index-url x\nopenai"),
    ("\nopenai", "\n# a comment\nopenai"),
    ("anyio", "\N{CYRILLIC SMALL LETTER A}nyio"),
])
def test_another_form_is_refused(old: str, new: str) -> None:
    assert old in LOCK
    with pytest.raises(RecordError) as caught:
        lock.read(LOCK.replace(old, new).encode())
    assert caught.value.code == "LOCK_FORMAT"


@pytest.mark.parametrize("data", [b"", b"\n", LOCK.encode()[:-1], LOCK.encode() + b"\n",
                                  b"\xef\xbb\xbf" + LOCK.encode(), LOCK.encode("utf-16"), b"\xff"])
def test_what_is_no_lock_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError) as caught:
        lock.read(data)
    assert caught.value.code == "LOCK_FORMAT"


def test_the_line_at_fault_is_named() -> None:
    with pytest.raises(RecordError, match=r"^line 3 of the lock is no wheel: openai-agents=0"):
        lock.read(LOCK.replace("agents==", "agents=").encode())
