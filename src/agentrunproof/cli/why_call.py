"""``why`` of a recorded model call: which parts of its request made the model decide so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentrunproof.cli import ablations, asking, exits, leads, runs, traces
from agentrunproof.cli.asking import Chosen
from agentrunproof.cli.output import Progress, flush, lines, note
from agentrunproof.errors import AgentRunProofError, RecordError
from agentrunproof.report import text

if TYPE_CHECKING:
    from agentrunproof.ablation.explain import Explanation
    from agentrunproof.ablation.subject import Decision
    from agentrunproof.ablation.trials import Ask
    from agentrunproof.record.ablation import Ablation
    from agentrunproof.rerun.reruns import Reruns

_PHASES = {"base": "rerunning the request as it was", "search": "searching",
           "confirm": "confirming"}


@dataclass(frozen=True)
class Asked:
    """The options of ``why`` that are about recorded runs; `cli.why` says what they mean."""

    target: str | None
    call: str | None
    from_localization: bool
    failed: bool
    budget: int | None
    alpha: str
    ask_model: bool
    cached: bool
    dry: bool
    pieces: bool
    run: str
    skip_bad: bool
    out: Path | None
    as_json: bool
    rerun: asking.Options


def why_call(word: str, asked: Asked) -> int:
    """Find what in the request of a recorded call made the model decide so.

    Args:
        word: the run.
        asked: the options.
    """
    alpha, budget = _alpha(asked.alpha), _budget(asked.budget)
    if Path(word).is_dir():
        return _of_folder(Path(word), asked, budget, alpha)
    jobs = _chosen(word, asked)
    if not jobs:
        return exits.NOTHING
    for told in jobs[0].chosen.run.notes:
        note(f"note: {told}")
    if asked.dry or asked.pieces:
        from agentrunproof.cli import dry

        return exits.worst(dry.show(job.chosen, budget=budget, pieces=asked.pieces,
                                    as_json=asked.as_json) for job in jobs)
    target = ablations.prepared(asked.out)
    progress = Progress()
    with asking.asker(asked.rerun, progress, cached=asked.cached) as reruns_of:
        for number, job in enumerate(jobs):
            if job.step and not asked.as_json:
                lines([*[""] * bool(number), f"Step {job.step}: {job.chosen}, "
                       f"{job.chosen.target.spec}"])
            made = Job(job.chosen, reruns_of(job.chosen), progress)
            status = _explained(made, asked, budget, alpha, target)
            budget -= made.spent
            if status == "CAUSE" and job.step and not asked.as_json:
                lines(["", "make it a regression test:",
                       f"  {job.command(traces.words(word, asked.run), asked.rerun)}"])
            if status not in ("NONE", "UNSTABLE") or number + 1 == len(jobs):
                return exits.of_verdict(status)
            if budget < leads.LEAST:
                note(f"{len(jobs) - number - 1} candidates were not asked about: the budget is "
                     "spent; --budget allows more")
                return exits.BUDGET
    raise AssertionError("the last of the jobs returns")


def _chosen(word: str, asked: Asked) -> list[leads.Job]:
    """The calls to be explained: the one that is named, or those that are suspected."""
    if asked.from_localization:
        return leads.of_localization(word, failed=asked.failed, skip_bad=asked.skip_bad,
                                     run=asked.run)
    if asked.target is not None and asked.target.isdecimal() and asked.call is None:
        return [leads.of_step(word, int(asked.target), skip_bad=asked.skip_bad, run=asked.run)]
    return [leads.Job(0, asking.chosen(word, asked.target, asked.call, skip_bad=asked.skip_bad,
                                       run=asked.run))]


def _explained(job: Job, asked: Asked, budget: int, alpha: Fraction, target: Path) -> str:
    """Explain a call and tell it, also as far as it came; the answer's status."""
    job.begin(budget, alpha, ask_model=asked.ask_model)
    try:
        job.explanation.run(job.answer)
    except (KeyboardInterrupt, AgentRunProofError) as problem:
        job.progress.clear()
        if job.spent > job.hint_calls or isinstance(problem, KeyboardInterrupt):
            _tell(job, target, asked.as_json)
        if isinstance(problem, AgentRunProofError):
            raise
        return "STOPPED"
    job.progress.clear()
    return _tell(job, target, asked.as_json)


class Job:
    """One explanation being made.

    Args:
        chosen: the call.
        reruns: of it.
        progress: says how far it is.
    """

    def __init__(self, chosen: Chosen, reruns: Reruns, progress: Progress) -> None:
        self.chosen, self.reruns = chosen, reruns
        self.hint_calls = 0
        self.explanation: Explanation
        self.progress = progress
        self._calls = 0

    @property
    def spent(self) -> int:
        """How many model calls it took up to now."""
        return self.hint_calls + self.explanation.screen.trials.calls

    def begin(self, budget: int, alpha: Fraction, *, ask_model: bool) -> Explanation:
        """Make ready, perhaps by asking the model itself once where to look first.

        Raises:
            AblationError: ``SUBJECT_EMPTY``.
            ModelError: the model gave no reply.
        """
        from agentrunproof.ablation.explain import Explanation
        from agentrunproof.rerun.python_model import PREFIX

        hints = {}
        if ask_model and budget > 1 and not self.reruns.model.name.startswith(PREFIX):
            hints = self._hints()
        self.explanation = Explanation(self.reruns.subject, self.chosen.target, alpha=alpha,
                                       budget=budget - self.hint_calls, hints=hints)
        return self.explanation

    def _hints(self) -> dict[int, float]:
        from agentrunproof.ablation import hints
        from agentrunproof.rerun.model import ModelError

        subject = self.reruns.subject
        if not subject.texts:
            return {}
        self.progress.step("asking the model", "where to look first")
        request = hints.request(subject, self.chosen.target.recorded, subject.context.body,
                                self.chosen.call.dialect)
        self.hint_calls = 1
        try:
            (decision,) = self.reruns.fresh(request, 1)
        except ModelError as error:
            if error.code not in ("MODEL_REFUSED", "MODEL_REPLY"):  # too long a question, say
                raise
            note(f"note: the model was not asked where to look first: {error.message}")
            return {}
        return hints.weights(decision.text, len(subject.texts))

    def answer(self, ask: Ask) -> Iterator[Decision]:
        """What the reruns answer, and how far that is."""
        for decision in self.reruns.answer(ask):
            self._calls += 1
            gone = ask.edit.leaves.bit_count()
            pieces = f", {gone} piece{'s' if gone != 1 else ''} taken away" if gone else ""
            self.progress.step(f"{_PHASES[ask.phase]}:", f"{self._calls} calls{pieces}")
            yield decision

    def record(self) -> Ablation:
        """Of what was tried up to now."""
        from agentrunproof.ablation import recording
        from agentrunproof.record.ablation import SubjectLine

        return recording.record(self.explanation, SubjectLine(
            kind="call", digest=self.reruns.digest, dialect=self.chosen.call.dialect))


def _tell(job: Job, target: Path, as_json: bool) -> str:
    """Print the record and keep it; its status."""
    from agentrunproof.ablation import uncut
    from agentrunproof.record.ablation import FORM
    from agentrunproof.report import ablation as report

    record, reruns = job.record(), job.reruns
    data = FORM.to_bytes(record)
    if as_json:
        lines([data.decode().rstrip("\n")])
    else:
        lines(report.lines(record, report.Besides(
            call=str(job.chosen), model=reruns.model.name, cached=reruns.cached,
            hints=job.hint_calls, uncut=uncut.uncut(reruns.subject.context.body))))
    flush()  # before anything can go wrong with the file
    written = f"written: {ablations.write(target, data, job.chosen)}"
    if as_json:
        note(written)
    else:
        lines(["", written])
    return record.status


def _of_folder(folder: Path, asked: Asked, budget: int, alpha: Fraction) -> int:
    """Explain each run of a folder in which the model decided so, a line for each."""
    if asked.dry or asked.pieces or asked.call or asked.out or asked.from_localization \
            or asked.run:
        raise typer.BadParameter(f"{folder} is a folder of runs: --dry, --pieces, --call, --run, "
                                 "--from-localization and --out are about one of them")
    asking.check_target(asked.target)
    target = ablations.prepared(None)
    progress, jobs, codes = Progress(), dict[str, Job](), list[int]()

    def begin(chosen: Chosen) -> tuple[Explanation, Reruns]:
        job = jobs[chosen.run.file] = Job(chosen, reruns_of(chosen), progress)
        return job.begin(budget, alpha, ask_model=asked.ask_model), job.reruns

    with asking.asker(asked.rerun, progress, cached=asked.cached) as reruns_of:
        from agentrunproof.rerun.many import explain_all

        try:
            for chosen, result in explain_all(_choose(folder, asked, codes), begin):
                progress.clear()
                codes.append(_tell_shortly(chosen, jobs.pop(chosen.run.file, None), result,
                                           target, asked.as_json))
                progress.step("explained", f"{len(codes)} runs")
        except KeyboardInterrupt:
            note("the replies had for runs that were not finished are kept for the next time")
            codes.append(exits.INTERRUPTED)
    progress.clear()
    if not codes:
        raise RecordError("RUN_TARGET", f"{folder}: there is no run in it in which a model call "
                          f"decided {asked.target or 'anything'}", "runs lists recorded runs")
    return exits.worst(codes)


def _choose(folder: Path, asked: Asked, codes: list[int]) -> Iterator[Chosen]:
    """The calls to be explained, one of each run, read when it is their turn. Of files that can't
    be read the exit code is added to `codes`."""
    from agentrunproof.runs import folder as runs_folder

    for path in runs_folder.files(folder):
        try:
            yield asking.of_run(runs.read(path, skip_bad=asked.skip_bad), asked.target or "any",
                                None)
        except RecordError as error:  # noqa: PERF203 (each file by itself)
            if error.code != "RUN_TARGET":
                note(f"error: {error} [{error.code}]")
                codes.append(exits.UNUSABLE)


def _tell_shortly(chosen: Chosen, job: Job | None, result: Explanation | AgentRunProofError,
                  target: Path, as_json: bool) -> int:
    """Print the answer of one of many runs, and keep its record; its exit code."""
    from agentrunproof.record.ablation import FORM
    from agentrunproof.report import ablation as report

    if isinstance(result, AgentRunProofError):
        note(f"error: {chosen}: {result} [{result.code}]")
    if job is None or not hasattr(job, "explanation"):
        return exits.UNUSABLE
    record = job.record()
    data = FORM.to_bytes(record)
    lines([data.decode().rstrip("\n")] if as_json else
          [str(chosen), *text.wrap(report.headline(record), "  ")])
    written = ablations.write(target, data, chosen)
    if not as_json:
        lines([f"  written: {written}"])
    return exits.UNUSABLE if isinstance(result, AgentRunProofError) else \
        exits.of_verdict(record.status)


def _alpha(text: str) -> Fraction:
    from agentrunproof.ablation.explain import ALPHA

    try:
        alpha = Fraction(text) if text else ALPHA
    except (ValueError, ZeroDivisionError):
        alpha = Fraction(0)
    if not 0 < alpha < 1:
        raise typer.BadParameter(f"--alpha {text}: a chance between 0 and 1, such as 0.05")
    return alpha


def _budget(budget: int | None) -> int:
    from agentrunproof.ablation.explain import BUDGET

    if budget is not None and budget < 1:
        raise typer.BadParameter(f"--budget {budget}: allows no call; give at least 1")
    return BUDGET if budget is None else budget
