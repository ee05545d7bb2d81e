"""What each leaf says, without splitting texts that nobody asks about.

A request of a million characters has tens of thousands of leaves, of which a search looks at a
handful. They are counted at once, since they are numbered through all texts, and split on demand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Protocol, overload

from agentrunproof.ablation import text as texts


class Texts(Protocol):
    """What each leaf of a subject says, by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, n: int, /) -> str: ...

    def holding(self, words: Sequence[str], /) -> Iterator[list[int]]:
        """For each of some small letter words, the leaves in which it stands as a whole word."""


class Leaves(Sequence[str]):
    """The leaves of texts, by number.

    Args:
        said: the texts.
    """

    def __init__(self, said: Sequence[str]) -> None:
        self._values: list[str] = []   # each holds the leaves from its start up to the next one's
        self._starts: list[int] = []
        self._count = 0
        self._split: dict[int, list[str]] = {}
        self.groups = [self._add(text) for text in said]

    def _add(self, text: str) -> tuple[int, int]:
        """Count the leaves of a text: the first, and one past the last."""
        first = self._count
        for value in texts.values(text):
            count = len(texts.sentences(value))
            if count:
                self._values.append(value)
                self._starts.append(self._count)
                self._count += count
        return first, self._count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, n: int) -> str: ...

    @overload
    def __getitem__(self, n: slice) -> list[str]: ...

    def __getitem__(self, n: int | slice) -> str | list[str]:
        if isinstance(n, slice):
            return [self[each] for each in range(*n.indices(self._count))]
        if not -self._count <= n < self._count:
            raise IndexError(n)
        value = bisect_right(self._starts, n % self._count) - 1
        return self._sentences(value)[n % self._count - self._starts[value]].rstrip()

    def _sentences(self, value: int) -> list[str]:
        if value not in self._split:
            self._split[value] = texts.sentences(self._values[value])
        return self._split[value]

    def holding(self, words: Sequence[str]) -> Iterator[list[int]]:
        """For each of some small letter words, the leaves in which it stands as a whole word."""
        lowered = [value.lower() for value in self._values]
        joined = "\n".join(lowered)
        begins = list(accumulate((len(value) + 1 for value in lowered), initial=0))
        inside: dict[int, list[int]] = {}  # where the sentences of a value begin
        for word in words:
            found: list[int] = []
            for at in _places(joined, word):
                value = bisect_right(begins, at) - 1
                if value not in inside:
                    inside[value] = texts.begins(lowered[value])
                leaf = self._starts[value] + bisect_right(inside[value], at - begins[value]) - 1
                if found[-1:] != [leaf]:
                    found.append(leaf)
            yield found


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word stands as a whole one."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1:at].isalnum() or text[end:end + 1].isalnum()):
            yield at
        at = text.find(word, end)
