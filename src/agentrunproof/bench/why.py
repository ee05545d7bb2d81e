"""How well a `why` finds planted causes: calls, right headlines, exact sentences, false causes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from agentrunproof import canonical
from agentrunproof.ablation.explain import ALPHA, BUDGET, Explanation
from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.recorded_call import RecordedCall
from agentrunproof.ablation.recording import record
from agentrunproof.ablation.subject import Decision
from agentrunproof.bench.cases import BenchError, Body, Case, Kind
from agentrunproof.checker import ablation as checker
from agentrunproof.record.ablation import FORM, Ablation, SubjectLine, leaves_runs
from agentrunproof.shape import nearest


@dataclass
class Score:
    """What became of the cases of one kind.

    Args:
        cases: how many there were.
        planted: of them with a cause.
        headline: of those where each text that the first claim names holds a cause.
        exact: of those where all claims together name the causes and nothing else.
        false: cases without a cause where one was claimed.
        unanswered: cases whose budget ran out.
        calls: of models, in all.
        most: of them in one case.
        seconds: of CPU, without those of the models.
    """

    cases: int = 0
    planted: int = 0
    headline: int = 0
    exact: int = 0
    false: int = 0
    unanswered: int = 0
    calls: int = 0
    most: int = 0
    seconds: float = 0.0

    def __add__(self, other: Score) -> Score:
        both = {each.name: getattr(self, each.name) + getattr(other, each.name)
                for each in fields(self)}
        return Score(**both | {"most": max(self.most, other.most)})

    def json(self) -> dict[str, Any]:
        """For machines; seconds as a decimal."""
        return asdict(self) | {"seconds": f"{self.seconds:.3f}"}


@dataclass(frozen=True)
class Result:
    """One case: its kind, seed and score, and the record of its explanation."""

    kind: str
    seed: int
    score: Score
    record: Ablation


def chosen(kinds: dict[str, Kind], patterns: Iterable[str]) -> dict[str, Kind]:
    """The kinds that were asked for by names with ``*`` and ``?``; without any, all usual ones.

    Raises:
        BenchError: ``KIND_UNKNOWN``.
    """
    patterns = list(patterns)
    if not patterns:
        return {name: kind for name, kind in kinds.items() if not kind.extra}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in kinds):
            raise BenchError("KIND_UNKNOWN", f"there is no kind of case {pattern!r}",
                             nearest(pattern, kinds) or "kinds: " + ", ".join(kinds))
    return {name: kind for name, kind in kinds.items()
            if any(fnmatchcase(name, pattern) for pattern in patterns)}


def measured(kinds: dict[str, Kind], *, most: int | None = None, first: int = 0,
             budget: int = BUDGET, alpha: Fraction = ALPHA) -> Iterator[Result]:
    """Explain the cases of all kinds, one after the other.

    Args:
        kinds: by name.
        most: cases of each kind at most.
        first: seed of the first case of each kind.
        budget: of calls, for each case.
        alpha: of each explanation.
    """
    for name, kind in kinds.items():
        count = kind.usual if most is None else min(kind.usual, most)
        for seed in range(first, first + count):
            yield Result(name, seed, *measure(kind.make(seed), seed, budget, alpha))


def measure(case: Case, seed: int, budget: int, alpha: Fraction) -> tuple[Score, Ablation]:
    """Explain one case, check the record, and compare with what was planted.

    Raises:
        BenchError: ``RECORD_REFUSED``: the record does not follow from its own trials.
    """
    asked = [0.0]
    answer = case.model(seed)

    def model(body: Body) -> Decision:
        begun = time.process_time()
        decision = Decision.of(answer(body))
        asked[0] += time.process_time() - begun
        return decision

    begun = time.process_time()
    context = Context(case.body, case.dialect)
    explanation = Explanation(RecordedCall(context, model), case.target, budget=budget,
                              alpha=alpha)
    explanation.run()
    seconds = time.process_time() - begun - asked[0]
    digest = canonical.digest_bytes(json.dumps(case.body).encode())
    made = record(explanation, SubjectLine(kind="call", digest=digest, dialect=case.dialect))
    judgement = checker.check(FORM.to_bytes(made))
    if not judgement.valid:
        raise BenchError("RECORD_REFUSED", f"{judgement.code}: {judgement.message}")
    return _score(case, context, made, seconds), made


def _score(case: Case, context: Context, made: Ablation, seconds: float) -> Score:
    named = [[context.texts[n] for low, high in leaves_runs(claim.leaves)
              for n in range(low, high)]
             for claim in made.claims if claim.verdict == "CONFIRMED"]
    return score(case, named, made.calls, unanswered=made.status == "BUDGET", seconds=seconds)


def score(case: Case, named: Sequence[Sequence[str]], calls: int, *, unanswered: bool,
          seconds: float = 0.0) -> Score:
    """What became of a case.

    Args:
        case: that was explained.
        named: the texts of each claim, the headline first.
        calls: of the model.
        unanswered: whether the budget ran out before an answer.
        seconds: of CPU.
    """
    planted = bool(case.truth)
    return Score(
        cases=1, planted=planted, headline=bool(planted and named and case.right(named[0])),
        exact=planted and case.exact([text for texts in named for text in texts]),
        false=bool(named and not planted), unanswered=unanswered, calls=calls, most=calls,
        seconds=seconds)
