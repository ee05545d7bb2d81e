"""Which leaves to look at first: those that share rare words with the decision."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from agentrunproof.ablation.subject import Decision

#: No more leaves than these are suspects.
MOST = 12
_WORD = re.compile(r"[^\W_]+(?:[.\-][^\W_]+)*")
_STOP = frozenset(("the", "an", "of", "to", "in", "on", "for", "and", "or", "is", "it", "be",
                   "this", "that", "with", "from", "by", "at", "as"))


def words_of(decision: Decision) -> frozenset[str]:
    """The words of a decision: names, arguments, text."""
    said = [decision.text]
    for call in decision.calls:
        said += [call.name.replace("_", " "), call.name, *_strings(call.arguments)]
    return frozenset(word for text in said for word in _WORD.findall(text.lower())
                     if word not in _STOP and len(word) > 1)


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key.replace("_", " "),
                                                                 *_strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value if isinstance(value, str) else json.dumps(value)]


def scores(texts: Sequence[str], decision: Decision) -> list[float]:
    """For each text, how much it shares with the decision: the rarer a word, the more it counts.

    Args:
        texts: of all leaves.
        decision: the one that is asked about.
    """
    found: dict[int, set[str]] = {}
    joined = "\n".join(texts).lower()
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    if len(joined) + 1 != starts[-1]:  # a letter whose small form is longer
        joined, starts = _lowered(texts)
    worth = {}
    for word in sorted(words_of(decision)):
        leaves = {bisect_right(starts, at) - 1 for at in _places(joined, word)}
        for leaf in leaves:
            found.setdefault(leaf, set()).add(word)
        worth[word] = math.log(1 + len(texts) / max(len(leaves), 1))
    return [sum(worth[word] for word in sorted(found[n])) if n in found else 0.0
            for n in range(len(texts))]


def _lowered(texts: Sequence[str]) -> tuple[str, list[int]]:
    lowered = [text.lower() for text in texts]
    return "\n".join(lowered), list(accumulate((len(text) + 1 for text in lowered), initial=0))


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word stands as a whole word."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1:at].isalnum() or text[end:end + 1].isalnum()):
            yield at
        at = text.find(word, end)


def suspects(score: Sequence[float]) -> list[int]:
    """The leaves to look at first, by their scores; none where no leaf stands out."""
    ranked = sorted((n for n, value in enumerate(score) if value > 0),
                    key=lambda n: (-score[n], n))
    return sorted(ranked[:MOST])
