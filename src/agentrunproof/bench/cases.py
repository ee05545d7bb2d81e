"""Cases with planted causes, and the files that others bring them in."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentrunproof.ablation.subject import Decision, Target
from agentrunproof.errors import AgentRunProofError

Body = dict[str, Any]
#: Answers a request: ``{"tool_calls": [...]}`` or ``{"text": ...}``.
Model = Callable[[Body], Any]


class BenchError(AgentRunProofError):
    """What was asked of a benchmark cannot be measured."""


@dataclass(frozen=True)
class Case:
    """A request with planted sentences, and a rule in place of a model.

    Args:
        truth: the planted sentences; none where the model decides so by itself.
        body: the request.
        target: what is asked about.
        model: gives for a seed what answers requests.
        dialect: of the request.
    """

    truth: frozenset[str]
    body: Body
    target: Target
    model: Callable[[int], Model]
    dialect: str = "openai.chat"

    def right(self, texts: Sequence[str]) -> bool:
        """Whether there are texts, and each holds a planted sentence."""
        return bool(texts) and all(any(sentence in text for sentence in self.truth)
                                   for text in texts)

    def exact(self, texts: Sequence[str]) -> bool:
        """Whether texts are the planted sentences with little around them, and nothing else."""
        longest = max(map(len, self.truth), default=0)
        return self.right(texts) and all(len(text) < 2 * longest for text in texts) and all(
            any(sentence in text for text in texts) for sentence in self.truth)


@dataclass(frozen=True)
class Kind:
    """Cases of one kind.

    Args:
        usual: how many of them a whole benchmark has.
        make: makes the one of a seed.
        extra: whether it is left out unless asked for by name.
    """

    usual: int
    make: Callable[[int], Case]
    extra: bool = False


def read(path: Path) -> dict[str, Kind]:
    """The kinds of a file of cases.

    Args:
        path: a Python file with ``SUITE`` and perhaps ``EXTRA`` (for each kind its options and how
            many cases it has) and ``make(kind, seed, **options)``.

    Raises:
        BenchError: ``CASES_UNREADABLE``.
    """
    try:
        spec = importlib.util.spec_from_file_location("agentrunproof_planted_cases", path)
        if spec is None or spec.loader is None:
            raise ImportError("it is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look there
        spec.loader.exec_module(module)
        extra = getattr(module, "EXTRA", {})
        return {kind: Kind(count, _maker(module.make, kind, options), kind in extra)
                for kind, (options, count) in {**module.SUITE, **extra}.items()}
    except Exception as problem:  # the file is somebody else's program
        raise BenchError("CASES_UNREADABLE", f"{path}: {problem or type(problem).__name__}",
                         "a file of cases has SUITE and make(kind, seed, **options)") from problem


def _maker(make: Callable[..., Any], kind: str, options: dict[str, Any]) -> Callable[[int], Case]:
    def made(seed: int) -> Case:
        case = make(kind, seed, **options)
        decision = Decision.of({"tool_calls": [case.decision]})
        return Case(frozenset(case.truth),
                    {"model": "rule", "messages": case.messages, "tools": case.tools},
                    Target(f"tool:{case.decision['name']}", decision), case.model)

    return made
