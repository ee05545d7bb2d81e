"""Which leaves to look at first: those that share rare words with the decision."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from agentrunproof.ablation.leaves import Texts
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


def scores(leaves: Texts, decision: Decision, hints: Mapping[int, float]) -> dict[int, float]:
    """How much leaves share with the decision: the rarer a word, the more it counts. The highest
    score is 1, before hints are added; a leaf that shares nothing has none.

    Args:
        leaves: what they all say.
        decision: the one that is asked about.
        hints: what leaves have more.
    """
    found: defaultdict[int, float] = defaultdict(float)
    words = sorted(words_of(decision))
    for holding in leaves.holding(words):
        for leaf in holding:
            found[leaf] += math.log(1 + len(leaves) / len(holding))
    top = max(found.values(), default=1.0)
    shared = defaultdict(float, {leaf: score / top for leaf, score in found.items()})
    for leaf, weight in hints.items():
        shared[leaf] += weight
    return dict(sorted(shared.items()))


def suspects(score: Mapping[int, float]) -> list[int]:
    """The leaves to look at first, by their scores; none where no leaf stands out."""
    return sorted(sorted(score, key=lambda n: (-score[n], n))[:MOST])
