"""Cases about what is stored: the protocol, round trips, order, whose items they are."""

from __future__ import annotations

import copy
import inspect
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from agentrunproof.suites.session import promises
from agentrunproof.suites.session.case import Broken, Untestable, World, case, finished
from agentrunproof.suites.session.items import (
    Item,
    expect,
    messages,
    said,
    told,
    tool_call,
    tool_output,
)

_METHODS = ("get_items", "add_items", "pop_item", "clear_session")

#: Values that JSON cannot carry, each equal to a copy of itself.
_OTHER_VALUES: tuple[Any, ...] = (
    datetime(2026, 1, 2, tzinfo=timezone.utc), Decimal("1.50"), b"bytes", {"a", "b"})

#: More than an API gives in one page, and many times what it takes in one request.
_LONG = 130


@case(promises.PROTOCOL)
async def protocol(world: World) -> None:
    """The session has the four methods of the protocol, all async, and a session_id."""
    session = await world.open()
    for name in _METHODS:
        method = getattr(session, name, None)
        if not callable(method):
            raise Broken("NO_METHOD", f"there is no {name}()")
    _bind(session.get_items, "get_items", limit=1)
    _bind(session.get_items, "get_items", None)
    _bind(session.add_items, "add_items", [])
    for name, arguments in zip(_METHODS, ((), ([said("x")],), (), ()), strict=True):
        answer = getattr(session, name)(*arguments)
        if not inspect.isawaitable(answer):
            raise Broken("NOT_ASYNC", f"{name}() gave {type(answer).__name__}, nothing to await")
        found = await answer
        if name == "get_items" and not isinstance(found, list):
            raise Broken("NOT_A_LIST", f"get_items() gave {type(found).__name__}, not a list")
        # A session on a server may have an id from its first item until it is cleared.
        if name == "add_items" and not isinstance(getattr(session, "session_id", None), str):
            raise Broken("NO_SESSION_ID", "there is no text under session_id")


def _bind(method: Any, name: str, *arguments: Any, **named: Any) -> None:
    try:
        inspect.signature(method).bind(*arguments, **named)
    except TypeError as error:
        raise Broken("BAD_SIGNATURE", f"{name}() cannot be called as the Runner does: {error}"
                     ) from error


async def _keeps(world: World, items: list[Item]) -> None:
    session = await world.open()
    await session.add_items(copy.deepcopy(items))
    expect("CHANGED", "get_items()", await session.get_items(), items)


@case(promises.READ_BACK)
async def round_trip(world: World) -> None:
    """Items of every kind are read back with every field as it was."""
    await _keeps(world, [
        said("hello"),
        {"type": "reasoning", "id": "rs-1", "summary": [], "encrypted_content": None},
        tool_call("c1") | {"arguments": '{"n": 1, "s": ""}'},
        tool_output("c1", ""),
        {"type": "message", "id": "msg-1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "a", "annotations": [], "logprobs": []}],
         "flags": [True, False, None, 0, 1, 0.5, -3, 2**53]},
    ])


@case(promises.READ_BACK)
async def unicode(world: World) -> None:
    """Text of any script is read back letter by letter."""
    await _keeps(world, [said(text) for text in (
        "na\u00efve r\u00e9sum\u00e9", "e\u0301 is not \u00e9", "\u0645\u0631\u062d\u0628\u0627",
        "\u4f60\u597d", "\U0001f469\u200d\U0001f680 \U0001f1f3\U0001f1f1",
        "line\nfeed\ttab\r\u2028\u2029", "quotes ' \" ` \\ % _ -- ; {0} \\u0041", " ", "")])


@case(promises.READ_BACK)
async def nested(world: World) -> None:
    """Lists and tables within items are read back as deep as they were."""
    deep: Any = "bottom"
    for n in range(12):
        deep = {"level": n, "in": [deep, {"k": [[], {}]}]}
    parts = [{"type": "input_text", "text": "see"},
             {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}]
    await _keeps(world, [{"role": "user", "content": parts}, tool_call("c1"),
                         tool_output("c1", [{"type": "input_text", "text": "x"}]) | {"more": deep}])


@case(promises.READ_BACK)
async def order(world: World) -> None:
    """Many items, of batches and alone, are read in the order of writing."""
    session = await world.open()
    items = messages(25)
    for start, end in ((0, 1), (1, 9), (9, 10), (10, 22), (22, 25)):
        await session.add_items(items[start:end])
    expect("ORDER", "get_items()", await session.get_items(), items)


@case(promises.READ_BACK, "4365")
async def long_history(world: World) -> None:
    """A long history is stored whole and read whole, and by a large limit."""
    session = await world.open()
    items = messages(_LONG)
    await session.add_items(items)
    expect("LOST", "get_items()", await session.get_items(), items)
    expect("LOST", f"get_items({_LONG - 10})", await session.get_items(_LONG - 10), items[10:])


@case(promises.ADD)
async def repeated_items(world: World) -> None:
    """Two equal items are two items."""
    session = await world.open()
    await session.add_items([said("yes"), said("yes")])
    await session.add_items([said("yes")])
    expect("MERGED", "get_items()", await session.get_items(), [said("yes")] * 3)


@case(promises.ADD)
async def empty_batch(world: World) -> None:
    """Adding no items is allowed and changes nothing."""
    session = await world.open()
    await session.add_items([])
    expect("CHANGED", "get_items() after add_items([])", await session.get_items(), [])
    await session.add_items([said("a")])
    await session.add_items([])
    expect("CHANGED", "get_items() after add_items([])", await session.get_items(), [said("a")])


@case(promises.NO_EFFECT, "4190")
async def add_nothing(world: World) -> None:
    """Adding no items to a new session stores nothing."""
    await _leaves_no_trace(world, "add_items", [])


@case(promises.NO_EFFECT, "4111")
async def clear_nothing(world: World) -> None:
    """Clearing a new session stores nothing."""
    await _leaves_no_trace(world, "clear_session")


async def _leaves_no_trace(world: World, method: str, *arguments: Any) -> None:
    look = world.backend.effects
    if look is None:
        raise Untestable("NO_EFFECTS", "the backend does not say what its storage holds")
    session = await world.open()
    before = await finished(look(session))
    await getattr(session, method)(*arguments)
    after = await finished(look(session))
    if after != before:
        raise Broken("STORED", f"{method}() on a new session changed the storage: {after!r}"[:200])


@case(promises.SAME_STORE)
async def reopen(world: World) -> None:
    """A session closed and made again has its history."""
    session = await world.open()
    items = messages(5)
    await session.add_items(items[:3])
    await world.shut(session)
    session = await world.open()
    found = await session.get_items()
    if not found:
        raise _apart()
    expect("LOST", "get_items() of a session made again", found, items[:3])
    await session.add_items(items[3:])
    expect("LOST", "get_items() after adding to it", await session.get_items(), items)


def _apart() -> Untestable:
    return Untestable("NOT_SHARED", "a second session of the same id shows nothing: "
                      "the storage is in the session", "reopen")


async def pair(world: World) -> tuple[Any, Any]:
    """Two sessions of one id on one storage, which is empty again.

    Raises:
        Untestable: the second does not show what the first stores.
    """
    first = await world.open()
    await first.add_items([said("probe")])
    second = await world.open()
    if not await second.get_items():
        raise _apart()
    await first.pop_item()
    return first, second


@case(promises.SEPARATE)
async def isolation(world: World) -> None:
    """Sessions of other ids neither show nor lose these items."""
    names = ("a", "ab", "a:1", "A")
    sessions = {name: await world.open(name) for name in names}
    for name, session in sessions.items():
        await session.add_items([said(f"{name} {n}") for n in range(2)])
    for name, session in sessions.items():
        expect("MIXED", "get_items() beside other sessions", await session.get_items(),
               [said(f"{name} {n}") for n in range(2)])
    await sessions["a"].pop_item()
    await sessions["a"].clear_session()
    for name in names[1:]:
        expect("MIXED", "get_items() after another session was cleared",
               await sessions[name].get_items(), [said(f"{name} {n}") for n in range(2)])


def _told_item() -> Item:
    return {"role": "user", "content": [{"type": "input_text", "text": "as written"}]}


def _spoil(item: Any) -> None:
    item["content"][0]["text"] = "changed later"
    item["role"] = "system"


@case(promises.SAME_READ_TWICE)
async def given_not_shared(world: World) -> None:
    """Changing an item after it was added changes nothing stored."""
    session = await world.open()
    items = [_told_item()]
    await session.add_items(items)
    _spoil(items[0])
    items.clear()
    expect("SHARED", "get_items() after the given item was changed", await session.get_items(),
           [_told_item()])


@case(promises.SAME_READ_TWICE)
async def got_not_shared(world: World) -> None:
    """Changing what was read changes nothing stored."""
    session = await world.open()
    await session.add_items([_told_item()])
    got = await session.get_items()
    _spoil(got[0])
    got.clear()
    expect("SHARED", "get_items() after what was read was changed", await session.get_items(),
           [_told_item()])


@case(promises.KEPT_OR_REFUSED)
async def other_values(world: World) -> None:
    """A value that JSON cannot carry is refused or kept, never turned into text."""
    plain = await world.open("b")
    await plain.add_items([said("x")])  # whoever refuses all items refuses these for nothing
    session = await world.open()
    for value in _OTHER_VALUES:
        item = said("x") | {"extra": value}
        try:
            await session.add_items([item])
        except Exception:  # refused
            continue
        found = await session.get_items()
        if len(found) != 1 or not isinstance(found[0], dict):
            raise Broken("CHANGED", f"an item with a {type(value).__name__} was read as "
                         f"{told(found)}")
        read = found[0].get("extra")
        if type(read) is not type(value) or read != value:
            code = "STRINGIFIED" if isinstance(read, str) else "CHANGED"
            raise Broken(code, f"a {type(value).__name__} was stored and is read as {read!r}")
        await session.clear_session()
