"""``odds`` and ``rerun``: a recorded call asked again, as it was or with edits made."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import asking, changes, exits
from agentrunproof.cli.asking import Chosen
from agentrunproof.cli.output import Progress, lines, note, table
from agentrunproof.report.text import fit, printable, wrap

if TYPE_CHECKING:
    from agentrunproof.ablation.subject import Decision
    from agentrunproof.record.ablation import Rate
    from agentrunproof.rerun.model import Body
    from agentrunproof.rerun.reruns import Reruns

#: No more different decisions than these are listed.
_LISTED = 10

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=asking.RUN_HELP)]
TargetArgument = Annotated[str | None, typer.Argument(
    metavar="[TARGET]", help=asking.TARGET_HELP)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def odds(
    run: RunArgument,
    target: TargetArgument = None,
    runs: Annotated[int | None, typer.Option(
        metavar="N", help="Fresh samples; 20 unless given, 1 of a model that always answers the "
        "same.")] = None,
    call: asking.CallOption = None,
    model: asking.ModelOption = None,
    base_url: asking.BaseUrlOption = None,
    key_variable: asking.KeyVariableOption = None,
    deterministic: asking.DeterministicOption = None,
    workers: asking.WorkersOption = None,
    executor: asking.ExecutorOption = None,
    skip_bad_lines: asking.SkipBadLinesOption = False,
    as_json: JsonOption = False,
) -> int:
    """Measure how often a model decides so, on fresh samples of the same request."""
    _check_runs(runs)
    chosen = asking.chosen(run, target, call, skip_bad=skip_bad_lines)
    progress = Progress()
    options = asking.Options(model, base_url, key_variable, deterministic, workers, executor)
    with asking.asker(options, progress) as reruns_of:
        reruns = reruns_of(chosen)
        wanted = runs or (1 if reruns.model.deterministic else 20)
        samples = _Samples("unchanged", chosen, wanted)
        samples.take(reruns, reruns.subject.context.body, progress)
    progress.clear()
    return _tell(chosen, reruns, [samples], as_json)


def rerun(
    run: RunArgument,
    target: TargetArgument = None,
    drop: changes.DropOption = None,
    replace: changes.ReplaceOption = None,
    runs: Annotated[int | None, typer.Option(
        metavar="N", help="Fresh samples; 10 unless given, 1 of a model that always answers the "
        "same.")] = None,
    beside: Annotated[bool, typer.Option(
        "--beside", help="Rerun the unchanged request as often, and show both.")] = False,
    call: asking.CallOption = None,
    model: asking.ModelOption = None,
    base_url: asking.BaseUrlOption = None,
    key_variable: asking.KeyVariableOption = None,
    deterministic: asking.DeterministicOption = None,
    workers: asking.WorkersOption = None,
    executor: asking.ExecutorOption = None,
    skip_bad_lines: asking.SkipBadLinesOption = False,
    as_json: JsonOption = False,
) -> int:
    """Ask a model again with pieces of its request left out or replaced."""
    _check_runs(runs)
    texts = _replacements(replace or [])
    chosen = asking.chosen(run, target, call, skip_bad=skip_bad_lines)
    progress = Progress()
    options = asking.Options(model, base_url, key_variable, deterministic, workers, executor)
    with asking.asker(options, progress) as reruns_of:
        reruns = reruns_of(chosen)
        context = reruns.subject.context
        edited = context.without(drop or [], texts)  # refused before anything is asked
        wanted = runs or (1 if reruns.model.deterministic else 10)
        taken = []
        for name, body in [("unchanged", context.body)] * beside + [("edited", edited)]:
            taken.append(_Samples(name, chosen, wanted))
            if not taken[-1].take(reruns, body, progress):
                break
    progress.clear()
    return _tell(chosen, reruns, taken, as_json)


class _Samples:
    """Fresh samples of one request.

    Args:
        name: of the request, for people.
        chosen: the call, and what is asked about it.
        wanted: how many.
    """

    def __init__(self, name: str, chosen: Chosen, wanted: int) -> None:
        self.name, self.wanted = name, wanted
        self.decisions: list[Decision] = []
        self._target = chosen.target

    def take(self, reruns: Reruns, body: Body, progress: Progress) -> bool:
        """Ask for them; whether all were had, rather than an interrupt came."""
        try:
            for decision in reruns.fresh(body, self.wanted):
                self.decisions.append(decision)
                progress.step(f"{self.name}:", f"{len(self.decisions)} of {self.wanted}")
        except KeyboardInterrupt:
            return False
        return True

    @property
    def cut_short(self) -> bool:
        return len(self.decisions) < self.wanted

    @property
    def rate(self) -> Rate:
        from agentrunproof.ablation.derivation import rate

        return rate("".join("h" if self._target.met(one) else "o" for one in self.decisions))

    def counted(self) -> list[tuple[str, int, bool]]:
        """Decisions in words, the most frequent first, with how often and whether it is the one
        asked about."""
        met = {str(one): self._target.met(one) for one in self.decisions}
        counts = Counter(map(str, self.decisions))
        return [(words, counts[words], met[words])
                for words in sorted(counts, key=lambda words: (-counts[words], words))]


def _tell(chosen: Chosen, reruns: Reruns, taken: list[_Samples], as_json: bool) -> int:
    from agentrunproof.shape import encode

    for told in chosen.run.notes:
        note(f"note: {told}")
    if as_json:
        table({"call": str(chosen), "target": chosen.target.spec,
               "recorded": str(chosen.target.recorded), "model": reruns.model.name,
               "samples": [{"request": one.name, "wanted": one.wanted, **encode(one.rate),
                            "decisions": [{"decision": words, "runs": count, "met": met}
                                          for words, count, met in one.counted()]}
                           for one in taken]})
    else:
        lines(_lines(chosen, reruns, taken))
    if any(one.cut_short for one in taken):
        return exits.INTERRUPTED
    return exits.OK if any(one.rate.hits for one in taken) else exits.NOTHING


def _lines(chosen: Chosen, reruns: Reruns, taken: list[_Samples]) -> list[str]:
    from agentrunproof.report.ablation import rate_words

    told = [*wrap(printable(f"{chosen.target.spec}, by {chosen}, asked of {reruns.model.name}")),
            ""]
    for one in taken:
        ended = f"; interrupted before all {one.wanted}" if one.cut_short else ""
        told.append(f"{one.name:<11}{rate_words(one.rate)} decided so{ended}")
        counted = one.counted()
        told += [fit(f"  {count:>4}  {'* ' if met else '  '}{words or '(said nothing)'}")
                 for words, count, met in counted[:_LISTED]]
        if len(counted) > _LISTED:
            told.append(f"        and {len(counted) - _LISTED} other decisions")
        told.append("")
    told.append("* decided so; fresh samples only, exact intervals of 95%")
    if reruns.model.deterministic:
        told.append("the model is taken to always answer the same")
    return told


def _check_runs(runs: int | None) -> None:
    if runs is not None and runs < 1:
        raise typer.BadParameter(f"--runs {runs}: give at least 1")


def _replacements(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        id, equals, text = word.partition("=")
        if not equals or not id:
            raise typer.BadParameter(f"--replace {word!r}: is written PIECE=TEXT")
        if id in found:
            raise typer.BadParameter(f"--replace: {id!r} is replaced twice")
        found[id] = text
    return found
