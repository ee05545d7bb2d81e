"""What commands that ask a model again share: their options, the call they mean, its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from threading import Lock
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import runs, traces
from agentrunproof.cli.output import Progress, note, results_only
from agentrunproof.errors import RecordError
from agentrunproof.shape import nearest

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from agentrunproof.ablation.subject import Target
    from agentrunproof.record.run import Call, Run
    from agentrunproof.rerun.models import ModelOptions
    from agentrunproof.rerun.reruns import Reruns

RUN_HELP = ("A recorded run: last, its name or how that begins, a file; or another tool's trace.")
TARGET_HELP = ("What the model decided: tool:NAME, tool:NAME:ARGUMENT=VALUE, text:REGEX, or any "
               "(what was recorded).")

CallOption = Annotated[str | None, typer.Option(
    "--call", metavar="CALL", help="The model call: its id, its number, or last; else the last one "
    "that decided so.")]
ModelOption = Annotated[str | None, typer.Option(
    "--model", metavar="MODEL", help="Another model than the recorded one; python:MODULE:FUNCTION "
    "or python:FILE.py:FUNCTION for one of your own.")]
BaseUrlOption = Annotated[str | None, typer.Option(
    "--base-url", metavar="URL", help="Where the model's API is: a server on this machine, say.")]
KeyVariableOption = Annotated[str | None, typer.Option(
    "--key-variable", metavar="NAME", help="The environment variable that holds the API key.")]
DeterministicOption = Annotated[bool | None, typer.Option(
    "--deterministic/--not-deterministic", help="Whether the model always answers the same; known "
    "of temperature 0.")]
WorkersOption = Annotated[int | None, typer.Option(
    "--workers", metavar="N", help="Model calls at once; 8 unless the model is on this machine.")]
ExecutorOption = Annotated[str | None, typer.Option(
    "--executor", metavar="URI", help="Where model calls are made: dask://HOST:PORT, a scheduler.")]
RunOption = Annotated[str, typer.Option("--run", metavar="ID", help=traces.RUN_HELP)]
SkipBadLinesOption = Annotated[bool, typer.Option(
    "--skip-bad-lines", help="Leave lines that cannot be read out.")]

#: Decisions that are listed where none is the one asked about.
_LISTED = 6


@dataclass(frozen=True)
class Options:
    """How a model is asked; the help of the options says what they mean."""

    model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    deterministic: bool | None = None
    workers: int | None = None
    executor: str | None = None

    def of_model(self) -> ModelOptions:
        """What of them is about the model."""
        from agentrunproof.rerun.models import ModelOptions

        return ModelOptions(model=self.model, base_url=self.base_url,
                            key_variable=self.key_variable, deterministic=self.deterministic)

    def words(self) -> list[str]:
        """As they are typed, for commands to go on with; without how many calls at once."""
        told = {"--model": self.model, "--base-url": self.base_url,
                "--key-variable": self.key_variable}
        words = [word for name, value in told.items() if value is not None
                 for word in (name, value)]
        if self.deterministic is not None:
            words.append("--deterministic" if self.deterministic else "--not-deterministic")
        return words


@dataclass(frozen=True)
class Chosen:
    """A recorded call, and what is asked about it."""

    run: Run
    call: Call
    target: Target

    def __str__(self) -> str:
        return f"{self.call.id} of {PurePath(self.run.file).stem}"


def chosen(word: str, target: str | None, call: str | None, *, skip_bad: bool = False,
           run: str = "") -> Chosen:
    """The recorded call that a user means.

    Args:
        word: the run.
        target: what the model decided; `any` unless given.
        call: which call; unless given, the last one whose recorded decision is the target.
        skip_bad: leave lines of the run that cannot be read out.
        run: which run to take, of several in the file.

    Raises:
        AblationError: the target has no known form.
        RecordError: there is no such run or call, or none that decided so.
    """
    check_target(target)
    return of_run(runs.load(word, skip_bad=skip_bad, run=run), target or "any", call)


def check_target(target: str | None) -> None:
    """Refuse a target of no form before anything is read.

    Raises:
        AblationError: ``TARGET_FORM``, ``TARGET_REGEX``.
    """
    from agentrunproof.ablation.subject import Decision, Target

    if target is not None:
        Target(target, Decision())


def of_run(run: Run, spec: str, call: str | None) -> Chosen:
    """The same of a run that was read."""
    from agentrunproof.ablation.subject import Decision, Target

    def asked(one: Call) -> Target:
        recorded = run.decision(one)
        return Target(spec, Decision() if recorded is None else Decision.of(recorded))

    if call is not None:
        found = run.call(call)
        if found.state != "answered":
            raise RecordError("RUN_UNANSWERED", f"{run.file}: model call {found.id} got no answer, "
                              "so that there is no decision", "show lists the calls")
        made = Chosen(run, found, asked(found))
        if not made.target.met(made.target.recorded):
            note(f"note: {found.id} was recorded to decide otherwise: "
                 f"{str(made.target.recorded)[:200]}")
        return made
    answered = [one for one in run.calls() if one.state == "answered"]
    for one in reversed(answered):
        made = Chosen(run, one, asked(one))
        if made.target.met(made.target.recorded):
            return made
    raise RecordError("RUN_TARGET", f"{run.file}: no model call decided {spec}; decided were "
                      + (_decisions(run, answered) or "none, since no call got an answer"),
                      _near(run, answered, spec) or "--call names a call that might have")


def _decisions(run: Run, calls: list[Call]) -> str:
    """What was decided, the last first."""
    from agentrunproof.ablation.subject import Decision

    listed = [f"{one.id} {str(Decision.of(run.decision(one) or {}))[:60]!r}"
              for one in calls[:-_LISTED - 1:-1]]
    more = len(calls) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more else "")


def _near(run: Run, calls: list[Call], spec: str) -> str:
    kind, _, rest = spec.partition(":")
    if kind != "tool":
        return ""
    names = {f"tool:{made['name']}" for one in calls
             for made in (run.decision(one) or {}).get("tool_calls", ())}
    return nearest(f"tool:{rest.partition(':')[0]}", names)


@contextmanager
def asker(options: Options, progress: Progress, *, cached: bool = False
          ) -> Iterator[Callable[[Chosen], Reruns]]:
    """Gives the reruns of recorded calls, all of them over one executor; in the end whatever is
    under way is given up.

    Args:
        options: how models are asked.
        progress: cleared before anything is said.
        cached: whether earlier replies may be used where no fresh one is claimed.
    """
    from agentrunproof.rerun.cache import Cache
    from agentrunproof.rerun.executors import of_uri, workers_for
    from agentrunproof.rerun.models import Models
    from agentrunproof.rerun.reruns import Reruns

    def tell(message: str) -> None:
        progress.clear()
        note(message)

    cache = Cache(tell=tell) if cached else None
    models = Models(options.of_model(), tell)
    lock = Lock()  # explanations of many runs begin in several threads
    executors: list[Executor] = []
    with ExitStack() as stack:
        stack.enter_context(results_only())  # a function of the user's may print

        def reruns(chosen: Chosen) -> Reruns:
            """
            Raises:
                ModelError: the model or the executor cannot be had.
            """
            model = models.of(chosen.run, chosen.call)
            workers = workers_for(model, options.workers)
            with lock:
                if not executors:
                    executors.append(stack.enter_context(of_uri(options.executor, workers)))
                    stack.callback(models.close)
            made = Reruns(chosen.run.body(chosen.call), chosen.call.dialect, model,
                          executor=executors[0], workers=workers, cache=cache, tell=tell)
            for told in made.notes:
                tell(f"note: {told}")
            return made

        yield reruns
