"""How surely a fix is to hold: the rate that is tolerated, and the reruns it takes to say so."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli.output import note

if TYPE_CHECKING:
    from agentrunproof.ablation.statistics import Guess

TOLERATED = "0.15"
_FEWEST = 20
#: So many reruns are made at most unless the user says more.
_MOST = 100
#: Bounds have four decimals.
_SMALLEST = Fraction(1, 1000)

RunsOption = Annotated[int | None, typer.Option(
    "--runs", min=1, metavar="N", help="Fresh reruns of each request; else as many as --tolerate "
    "takes, 20 at least.")]
TolerateOption = Annotated[str, typer.Option(
    "--tolerate", metavar="RATE", help="How often the model may still decide so.")]


@dataclass(frozen=True)
class Strength:
    """What a user asks for."""

    runs: int | None
    tolerance: Fraction

    def runs_for(self, guess: Guess | None = None, wanted: Fraction = Fraction(1)) -> int:
        """The reruns to make: those asked for, else what the bound and the test take.

        Args:
            guess: of the test, with the rate of the unchanged request.
            wanted: the e-value that shows a fix to be better.
        """
        from agentrunproof.ablation import fixing

        if self.runs is not None:
            return self.runs
        test = fixing.runs_for_test(guess, wanted, _MOST) if guess else 0
        return max(_FEWEST, fixing.runs_for_bound(self.tolerance), test)


def of(runs: int | None, tolerate: str) -> Strength:
    """What the options say."""
    try:
        tolerance = Fraction(tolerate)
    except (ValueError, ZeroDivisionError):
        tolerance = Fraction(0)
    if not _SMALLEST <= tolerance < 1 or (tolerance * 10000).denominator != 1:
        raise typer.BadParameter(f"--tolerate {tolerate}: a rate from 0.001 to below 1, such as "
                                 "0.15, with at most four decimals")
    return Strength(runs, tolerance)


def warn(strength: Strength, runs: int) -> None:
    """Say beforehand if not even a fix that leaves nothing could pass."""
    from agentrunproof.ablation import fixing, statistics

    needed = fixing.runs_for_bound(strength.tolerance)
    if runs < needed:
        note(f"note: 0 of {runs} only says: at most {statistics.upper_bound(0, runs)}; "
             f"to tolerate {statistics.decimal(strength.tolerance)} takes --runs {needed}")
