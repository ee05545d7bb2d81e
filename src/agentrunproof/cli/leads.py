"""From ``localize`` to ``why``, and from there to a test: the calls behind suspected steps."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from agentrunproof.cli import asking, runs, traces
from agentrunproof.cli.asking import Chosen
from agentrunproof.cli.output import lines, note, paint
from agentrunproof.errors import RecordError

#: Fewer model calls than these answer nothing.
LEAST = 8


@dataclass(frozen=True)
class Job:
    """A suspected step, and the call behind it that is to be explained."""

    step: int
    chosen: Chosen

    def command(self, words: list[str], options: asking.Options) -> str:
        """The line that makes regression tests of the cause that was found in the run that the
        user named with these words."""
        label = re.sub(r"\W+", "_", Path(self.chosen.run.file).stem.lower()).strip("_")[:40]
        parts = ["agentrunproof", "fix", words[0], self.chosen.target.spec, *words[1:],
                 "--call", self.chosen.call.id, *options.words(),
                 "--write-test", f"test_{label}_step_{self.step}.py"]
        return shlex.join(parts)


def of_step(word: str, number: int, *, skip_bad: bool, run: str = "") -> Job:
    """The call behind a step, by its number.

    Raises:
        RecordError: ``LOCALIZE_STEP``: there is no such step; ``LOCALIZE_CALL``: no model call
            that can be asked again is behind it; or what reading the run says.
    """
    from agentrunproof.localize import leads
    from agentrunproof.localize.steps import of_run
    from agentrunproof.localize.trace import Trace

    read = runs.load(word, skip_bad=skip_bad, run=run)
    trace = Trace(of_run(read))
    if number not in trace.place:
        raise RecordError("LOCALIZE_STEP", f"{word}: there is no step {number}: it has "
                          f"{len(trace)}", "localize --html shows them; a model call is named by "
                          "--call")
    found = leads.lead(trace, number)
    if found is None:
        raise RecordError("LOCALIZE_CALL", f"{word}: no model call is known to be behind step "
                          f"{number} ({trace.steps[trace.place[number]].kind})",
                          "--call names a model call; show lists them")
    return Job(number, asking.of_run(read, found.target, found.call))


def of_localization(word: str, *, failed: bool, skip_bad: bool, run: str = "") -> list[Job]:
    """The calls behind the candidates of a run's localization, the likeliest first; none if there
    is no onset, which is then told.

    Raises:
        RecordError: ``LOCALIZE_CALL``: no model call is behind any of them; or what reading the
            run says.
    """
    from agentrunproof.localize import leads, ranking
    from agentrunproof.localize.steps import of_run
    from agentrunproof.localize.trace import Trace
    from agentrunproof.report import localization as report

    read = runs.load(word, skip_bad=skip_bad, run=run)
    trace = Trace(of_run(read), failed=failed)
    result = ranking.localize(trace)
    if not result.suspects:
        lines(report.lines(result, trace.steps, traces.words(word, run), paint()))
        return []
    found = list(leads.leads(trace, result))
    jobs = [Job(one.step, asking.of_run(read, one.target, one.call)) for one in found
            if read.call(one.call).state == "answered"]
    if not jobs:
        raise RecordError("LOCALIZE_CALL", f"{word}: no model call that got an answer is known to "
                          f"be behind any of {len(result.suspects)} candidates",
                          "localize shows them; --call names a model call")
    left_out = len(result.suspects) - len(jobs)
    note(f"localize: {len(result.suspects)} candidates; why asks about the decisions behind "
         + ", ".join(f"step {job.step} ({job.chosen.call.id})" for job in jobs)
         + (f"; {left_out} more {'is' if left_out == 1 else 'are'} behind the same, or behind no "
            "model call" if left_out else ""))
    return jobs
