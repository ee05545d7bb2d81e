"""What written tests need: asking a live model whether it still decides as it once did.

    odds = ask(Path(__file__).with_name("test_inbox.json"), runs=20, add_system=ADDED)
    assert odds.upper <= 0.15, odds
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentrunproof.ablation.dialects import Body
    from agentrunproof.fix.context_file import Context

__all__ = ["Odds", "ask"]


@dataclass(frozen=True)
class Odds:
    """How often a model decided so.

    Args:
        hits: how often it did.
        runs: of how many fresh reruns.
        upper: the exact one-sided 95% upper bound (Clopper-Pearson) of the rate; for a model
            that always does the same, 0 or 1.
        told: all of it in words, with a line that shows it again.
    """

    hits: int
    runs: int
    upper: float
    told: str

    def __str__(self) -> str:
        return self.told


def ask(context: Path, *, runs: int, system: str | None = None, add_system: str = "",
        mark_results: bool = False, remove: Sequence[str] = (),
        replace: Mapping[str, str] | None = None) -> Odds:
    """Ask the live model, and count how often it decides as recorded. Nothing is cached.

    Where there is no key for the model's API, the test that asks is skipped.

    Args:
        context: the file beside the test (``agentrunproof test`` writes it).
        runs: how often to ask; a model that always does the same is asked once.
        system: the system prompt, in place of the recorded one.
        add_system: what is added to the system prompt.
        mark_results: mark what tools gave as untrusted.
        remove: ids of pieces to leave out.
        replace: ids of pieces and what takes their place.

    Raises:
        AgentRunProofError: the context cannot be read or changed so; the model gave no reply.
    """
    from agentrunproof.fix import context_file, edits
    from agentrunproof.record import store
    from agentrunproof.record.fix import Change, Replacement

    found = context_file.read(store.read(context).decode("utf-8"), context.name)
    change = Change(system=system, added=add_system, marked=mark_results, removed=tuple(remove),
                    replaced=tuple(Replacement(id=id, text=text)
                                   for id, text in (replace or {}).items()))
    return _counted(found, edits.changed(found.request, found.dialect, change), runs)


def _counted(found: Context, body: Body, runs: int) -> Odds:
    from agentrunproof.ablation import statistics
    from agentrunproof.rerun import executors, models
    from agentrunproof.rerun.model import ModelError
    from agentrunproof.rerun.reruns import Reruns

    try:
        model = models.model_for(found.dialect, found.request, models.ModelOptions(**found.model),
                                 endpoint=found.endpoint)
    except ModelError as error:
        if error.code == "MODEL_KEY":
            import pytest

            pytest.skip(f"the live model is not asked: {error.message}")
        raise
    runs = 1 if model.deterministic else runs
    workers = executors.workers_for(model)
    target = found.asked
    try:
        with executors.of_uri(None, workers) as executor:
            reruns = Reruns(found.request, found.dialect, model, executor=executor,
                            workers=workers)
            hits = sum(target.met(decision) for decision in reruns.fresh(body, runs))
    finally:
        model.close()
    upper = float(hits) if model.deterministic else float(statistics.upper_bound(hits, runs))
    return Odds(hits, runs, upper, _told(found.target, model.name, hits, runs, upper))


def _told(target: str, model: str, hits: int, runs: int, upper: float) -> str:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
    return (f"{model} decided {target} in {hits} of {runs} fresh reruns, so that its rate is at "
            f"most {upper:g} (exact one-sided 95% bound)"
            + (f'; again: pytest "{test}"' if test else ""))
