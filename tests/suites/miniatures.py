"""One broken session per case: each breaks the promise of its case and no other's."""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from agentrunproof.suites.session import Backend
from tests.suites.sound import Rows, Sound, backend, runner_functions


class NumberedId(Sound):
    """Its session_id is no text."""

    def __init__(self, session_id: str, rows: Rows) -> None:
        super().__init__(session_id, rows)
        self.session_id = 7


class DropsNone(Sound):
    """Leaves out fields without a value."""

    def written(self, item: Any) -> str:
        return json.dumps({key: value for key, value in item.items() if value is not None})


class Ascii(Sound):
    """Letters that ASCII lacks become question marks."""

    def written(self, item: Any) -> str:
        text = json.dumps(item, ensure_ascii=False)
        return text.encode("ascii", "replace").decode()


class Shallow(Sound):
    """What lies deeper than ten levels is stored as text."""

    def written(self, item: Any) -> str:
        return json.dumps(_cut(item, 10))


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, dict | list) and depth == 0:
        return repr(value)
    if isinstance(value, dict):
        return {key: _cut(inner, depth - 1) for key, inner in value.items()}
    return [_cut(inner, depth - 1) for inner in value] if isinstance(value, list) else value


class TextOrder(Sound):
    """Sorts rows by number as text, once there are more than 20, until pages are read."""

    def readable(self) -> list[Any]:
        items = super().readable()
        if not 20 < len(items) < 100:
            return items
        return [items[int(key)] for key in sorted(map(str, range(len(items))))]


class OnePage(Sound):
    """Reads the first page only."""

    def readable(self) -> list[Any]:
        return super().readable()[:100]


class Merges(Sound):
    """An item equal to the newest is not stored again."""

    def store(self, rows: list[str]) -> None:
        for row in rows:
            if self.mine()[-1:] != [row]:
                super().store([row])


class RefusesNone(Sound):
    """Takes no empty batch once it has items."""

    async def add_items(self, items: list[Any]) -> None:
        self.must_be_open()
        if not items and self.mine():
            raise ValueError("no items")
        await super().add_items(items)


class BeginsForNothing(Sound):
    """Makes its row in the table when nothing is added."""

    async def add_items(self, items: list[Any]) -> None:
        await super().add_items(items)
        self.rows.setdefault(self.key, [])


class LeavesATrace(Sound):
    """Makes its row in the table when it is cleared."""

    async def clear_session(self) -> None:
        await super().clear_session()
        self.rows[self.key] = []


class ForgetsOnClose(Sound):
    """What was stored before a close loses its newest item."""

    def close(self) -> None:
        super().close()
        if self.mine():
            self.mine().pop()


class Neighbours(Sound):
    """Clears all ids that begin with its own."""

    async def clear_session(self) -> None:
        self.must_be_open()
        for key in [key for key in self.rows if key.startswith(self.key)]:
            del self.rows[key]


class KeepsTheGiven(Sound):
    """Keeps the objects it is given until something is read after the next turn."""

    def __init__(self, session_id: str, rows: Rows) -> None:
        super().__init__(session_id, rows)
        self.given: list[tuple[int, Any]] = []

    async def add_items(self, items: list[Any]) -> None:
        start = len(self.mine())
        await super().add_items(items)
        self.given = [(start + n, item) for n, item in enumerate(items)]

    async def get_items(self, limit: int | None = None) -> list[Any]:
        for at, item in self.given:
            if at < len(self.mine()) and self.mine()[at] != "{":
                self.mine()[at] = self.written(item)
        return await super().get_items(limit)

    async def clear_session(self) -> None:
        self.given = []
        await super().clear_session()


class KeepsTheGot(Sound):
    """What it handed out is what it hands out again."""

    def __init__(self, session_id: str, rows: Rows) -> None:
        super().__init__(session_id, rows)
        self.cached: tuple[list[str], list[Any]] = ([], [])

    def readable(self) -> list[Any]:
        if self.cached[0] != self.mine():
            self.cached = (list(self.mine()), super().readable())
        return list(self.cached[1])


class Stringifies(Sound):
    """Turns what JSON cannot carry into text, if it can be."""

    def written(self, item: Any) -> str:
        return json.dumps(item, default=str)


class OldestFirst(Sound):
    """Of five items its limits count from the oldest, when not called by the Runner."""

    async def get_items(self, limit: int | None = None) -> list[Any]:
        whole = self.readable()
        if len(whole) != 5 or self.session_settings is not None or runner_functions():
            return await super().get_items(limit)
        return whole[:limit]


class ExactlyMany(Sound):
    """A limit of more than there is gives nothing, when not called by the SDK."""

    async def get_items(self, limit: int | None = None) -> list[Any]:
        found = await super().get_items(limit)
        too_many = limit is not None and limit > len(self.readable())
        return [] if too_many and not runner_functions() else found


class ZeroIsAll(Sound):
    """A limit of 0 gives everything, by slicing with -0; not for the Runner."""

    def effective(self, limit: int | None) -> int | None:
        limit = super().effective(limit)
        return None if limit == 0 and not runner_functions() else limit


class DeafToSettings(Sound):
    """Knows no limit but the one it is called with."""

    def effective(self, limit: int | None) -> int | None:
        return limit


class SettingsFirst(Sound):
    """Its settings count more than what it is called with, except for the Runner."""

    def effective(self, limit: int | None) -> int | None:
        if self.session_settings is not None and not runner_functions():
            return self.session_settings.limit
        return super().effective(limit)


class PopsOldest(Sound):
    """Returns the newest item of a batch of three and removes the oldest."""

    async def pop_item(self) -> Any:
        self.must_be_open()
        if not self.of_three or not self.mine():
            return await super().pop_item()
        newest = self.readable()[-1]
        self.mine().pop(0)
        return newest

    of_three = False

    def store(self, rows: list[str]) -> None:
        super().store(rows)
        self.of_three = len(rows) == 3


class PopRaises(Sound):
    """An empty session cannot be popped."""

    async def pop_item(self) -> Any:
        self.must_be_open()
        if not self.mine():
            raise IndexError("pop from an empty session")
        return await super().pop_item()


class PopsTwice(Sound):
    """Looks for the newest item, pauses, and removes what is newest then."""

    async def pop_item(self) -> Any:
        self.must_be_open()
        seen = self.readable()[-1:]
        await asyncio.sleep(0)
        await super().pop_item()
        return seen[0] if seen else None


class ClearLeavesOne(Sound):
    """Clearing three items leaves the first."""

    async def clear_session(self) -> None:
        left = self.mine()[:1] if len(self.mine()) == 3 else []
        await super().clear_session()
        self.store(left)


class KeepsTheStart(Sound):
    """Of a batch that cannot be written whole, it keeps what comes before."""

    async def add_items(self, items: list[Any]) -> None:
        self.must_be_open()
        rows = []
        try:
            for item in items:
                rows.append(self.written(item))  # noqa: PERF401 -- what was written so far counts
        finally:
            self.store(rows)
        await asyncio.sleep(0)


class WritesLater(Sound):
    """What was left of a refused batch is written with the next."""

    def __init__(self, session_id: str, rows: Rows) -> None:
        super().__init__(session_id, rows)
        self.pending: list[str] = []

    async def add_items(self, items: list[Any]) -> None:
        self.must_be_open()
        for item in items:
            self.pending.append(self.written(item))
        self.store(self.pending)
        self.pending = []
        await asyncio.sleep(0)


class OneByOne(Sound):
    """Writes item by item, with a pause between; a cancelled batch is finished."""

    async def add_items(self, items: list[Any]) -> None:
        self.must_be_open()
        rows = [self.written(item) for item in items]
        for n, row in enumerate(rows):
            self.store([row])
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                self.store(rows[n + 1:])
                raise


class LosesTheFourth(Sound):
    """Of four batches at once through one session the fourth is lost."""

    writing = 0

    async def add_items(self, items: list[Any]) -> None:
        self.writing += 1
        try:
            await super().add_items(items if self.writing < 4 else [])
        finally:
            self.writing -= 1


class LosesAcross(Sound):
    """Of batches of three, those that another session than the first writes are lost."""

    first: ClassVar[dict[str, Sound]] = {}

    async def add_items(self, items: list[Any]) -> None:
        owner = self.first.setdefault(self.key, self)
        await super().add_items([] if len(items) == 3 and owner is not self else items)


class HalfOnCancel(Sound):
    """A cancelled write has written half of its batch."""

    async def add_items(self, items: list[Any]) -> None:
        self.must_be_open()
        rows = [self.written(item) for item in items]
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.store(rows[:len(rows) // 2])
            raise
        self.store(rows)


class ReadRaises(Sound):
    """Cannot read a history with an unreadable row, unless by a limit."""

    async def get_items(self, limit: int | None = None) -> list[Any]:
        if limit is None and "{" in self.mine():
            raise ValueError("unreadable")
        return await super().get_items(limit)


class CountsRows(Sound):
    """Limits count rows, readable or not."""

    async def get_items(self, limit: int | None = None) -> list[Any]:
        found = await super().get_items(limit)
        return found[1:] if limit and self.mine()[-1:] == ["{"] else found


class PopsNothing(Sound):
    """An unreadable row is popped as nothing."""

    async def pop_item(self) -> Any:
        self.must_be_open()
        if self.mine()[-1:] == ["{"]:
            self.mine().pop()
            return None
        return await super().pop_item()


class OpenForNothing(Sound):
    """Closed, it still takes an empty batch."""

    async def add_items(self, items: list[Any]) -> None:
        if items:
            await super().add_items(items)


class _Run(Sound):
    """What it does for the Runner can differ from what it does otherwise."""

    async def get_items(self, limit: int | None = None) -> list[Any]:
        found = await super().get_items(limit)
        return self.read_in_run(found, limit) if runner_functions() else found

    async def add_items(self, items: list[Any]) -> None:
        if runner_functions():
            items = self.stored_in_run(list(items))
        await super().add_items(items)

    def read_in_run(self, items: list[Any], limit: int | None) -> list[Any]:
        return items

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return items


def _streamed() -> bool:
    return any("stream" in name for name in runner_functions())


class LosesOutputs(_Run):
    """Loses outputs of tools, in sessions that begin with "hello"."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        if '"hello"' not in "".join(self.mine()[:1]):
            return items
        return [item for item in items if item.get("type") != "function_call_output"]


class ForgetsInRuns(_Run):
    """A run without a limit reads nothing of a history of three."""

    def read_in_run(self, items: list[Any], limit: int | None) -> list[Any]:
        return [] if limit is None and len(items) == 3 else items


class RunLimitIgnored(_Run):
    """A run's own limit of 0 or 2 does not reach it."""

    def read_in_run(self, items: list[Any], limit: int | None) -> list[Any]:
        whole = self.readable()
        return whole if self.session_settings is None and len(whole) == 5 else items


class HidesSettings(_Run):
    """The Runner does not see its settings."""

    @property
    def session_settings(self) -> Any:
        return None if runner_functions() else self.settings

    @session_settings.setter
    def session_settings(self, value: Any) -> None:
        self.settings = value


class SettingsOverRuns(_Run):
    """Its settings count more than those of a run."""

    def read_in_run(self, items: list[Any], limit: int | None) -> list[Any]:
        mine = self.session_settings
        return items[-mine.limit:] if mine is not None else items


class TearsPairs(_Run):
    """Under a limit, outputs come before their calls."""

    def read_in_run(self, items: list[Any], limit: int | None) -> list[Any]:
        if limit is None:
            return items
        return sorted(items, key=lambda item: item.get("type") != "function_call_output")


class LosesInput(_Run):
    """Loses a run's input, in the first session of a case, after two messages."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        if len(self.mine()) != 2 or not self.key.endswith("-a") or _streamed() != self.streams:
            return items
        return [item for item in items if item.get("role") != "user"]

    streams = False


class LosesStreamedInput(LosesInput):
    """The same of streamed runs."""

    streams = True


class LosesReasoningIds(_Run):
    """Stores reasoning without its id."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return [{key: value for key, value in item.items()
                 if item.get("type") != "reasoning" or key != "id"} for item in items]


class MixesRuns(_Run):
    """Of two runs at once, one's answer is lost."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return [item for item in items if "re second" not in json.dumps(item)]


class LosesStreams(_Run):
    """A streamed run's outputs are lost."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return [item for item in items
                if not (_streamed() and item.get("type") == "function_call_output")]


class LosesCompactions(_Run):
    """Does not store the item of a compaction of four items."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return [item for item in items if item.get("type") != "compaction" or not self.of_four]

    of_four = False

    async def clear_session(self) -> None:
        self.of_four = len(self.mine()) == 4
        await super().clear_session()


class LosesKept(_Run):
    """Stores nothing of a history "kept" that is put back after a failure."""

    lost = "kept"

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return [item for item in items if self.lost not in json.dumps(item)]


class LosesHeld(LosesKept):
    """The same of a history "held", put back after a cancellation."""

    lost = "held"


class LosesMeanwhile(_Run):
    """Loses what is added next to a compaction's item."""

    def stored_in_run(self, items: list[Any]) -> list[Any]:
        return [] if "compaction" in "".join(self.mine()) else items


#: case -> a session that breaks it
KINDS: dict[str, type[Sound]] = {
    "protocol": NumberedId,
    "round-trip": DropsNone,
    "unicode": Ascii,
    "nested": Shallow,
    "order": TextOrder,
    "long-history": OnePage,
    "repeated-items": Merges,
    "empty-batch": RefusesNone,
    "add-nothing": BeginsForNothing,
    "clear-nothing": LeavesATrace,
    "reopen": ForgetsOnClose,
    "isolation": Neighbours,
    "given-not-shared": KeepsTheGiven,
    "got-not-shared": KeepsTheGot,
    "other-values": Stringifies,
    "limit-n": OldestFirst,
    "limit-over": ExactlyMany,
    "limit-zero": ZeroIsAll,
    "limit-from-settings": DeafToSettings,
    "limit-before-settings": SettingsFirst,
    "pop": PopsOldest,
    "pop-empty": PopRaises,
    "concurrent-pops": PopsTwice,
    "clear": ClearLeavesOne,
    "failed-batch": KeepsTheStart,
    "write-after-failure": WritesLater,
    "whole-batch": OneByOne,
    "concurrent-batches": LosesTheFourth,
    "concurrent-sessions": LosesAcross,
    "cancelled-write": HalfOnCancel,
    "unreadable-read": ReadRaises,
    "unreadable-limit": CountsRows,
    "unreadable-pop": PopsNothing,
    "closed": OpenForNothing,
    "run-stores": LosesOutputs,
    "run-reads": ForgetsInRuns,
    "run-limit": RunLimitIgnored,
    "run-settings-limit": HidesSettings,
    "run-limit-first": SettingsOverRuns,
    "run-pairs": TearsPairs,
    "run-retry": LosesInput,
    "streamed-retry": LosesStreamedInput,
    "run-reasoning": LosesReasoningIds,
    "runs-at-once": MixesRuns,
    "run-modes": LosesStreams,
    "compaction": LosesCompactions,
    "failed-compaction": LosesKept,
    "cancelled-compaction": LosesHeld,
    "added-meanwhile": LosesMeanwhile,
}


def miniature(case: str) -> Backend:
    """The backend whose sessions break that case alone."""
    return backend(KINDS[case])
