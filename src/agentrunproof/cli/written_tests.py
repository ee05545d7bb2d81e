"""Written tests on disk, and the command that writes them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import asking, changes, exits, strength
from agentrunproof.cli.output import lines, note
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.ablation.subject import Target
    from agentrunproof.cli.asking import Chosen
    from agentrunproof.fix.agent_name import Named
    from agentrunproof.fix.context_file import Context
    from agentrunproof.record.fix import Change

AgentOption = Annotated[str | None, typer.Option(
    "--agent", metavar="MODULE:ATTRIBUTE", help="Your agents.Agent, or a function that makes it, "
    "for the test that needs no model.")]
EffectOption = Annotated[str | None, typer.Option(
    "--effect", metavar="NAME", help="In that test, what must not be called (package.mail.send); "
    "else the tool itself.")]
RedactOption = Annotated[str | None, typer.Option(
    "--redact", metavar="REGEX", help="Leave out of the test's context what this finds.")]
OverwriteOption = Annotated[bool, typer.Option(
    "--overwrite", help="Replace tests that are there.")]


@dataclass(frozen=True)
class Wanted:
    """The tests that a user wants.

    Args:
        path: of the live test; the others are named after it.
        agent: the user's agent.
        effect: what must not be called.
        redact: what is to be left out.
        overwrite: whether files may be replaced.
    """

    path: Path
    agent: str | None = None
    effect: str | None = None
    redact: str | None = None
    overwrite: bool = False

    @property
    def context(self) -> Path:
        return self.path.with_suffix(".json")

    @property
    def guard(self) -> Path:
        return self.path.with_name(f"{self.path.stem}_guard.py")

    def check(self) -> None:
        """Refuse what could not be written, before anything is asked.

        Raises:
            RecordError: ``TEST_NAME``, ``TEST_EXISTS``, or what `store.check_target` says.
        """
        from agentrunproof.record import store

        if self.path.suffix != ".py" or not self.path.stem.startswith("test_"):
            raise RecordError("TEST_NAME", f"{self.path}: pytest would not find it",
                              "call it test_SOMETHING.py")
        for path in (self.path, self.context, self.guard):
            store.check_target(path)
            if path.exists() and not self.overwrite:
                raise RecordError("TEST_EXISTS", f"{path}: there is such a file",
                                  "name another, or say --overwrite")


@dataclass(frozen=True)
class Tests:
    """The tests of one recorded decision.

    Args:
        wanted: which.
        context: what they are about, without secrets.
        target: as it was recorded, without secrets.
        agent: the user's agent, if one is named.
    """

    wanted: Wanted
    context: Context
    target: Target
    agent: Named | None

    def live(self, change: Change, *, runs: int, tolerance: Fraction, measured: str = "",
             deterministic: bool = False) -> Path:
        """Write the test that asks the live model.

        Raises:
            AgentRunProofError: the change cannot be made any more without what was left out; the
                file cannot be written.
        """
        from agentrunproof.fix import edits, live_test

        edits.changed(self.context.request, self.context.dialect, change)
        return self._write(self.wanted.path, live_test.script(
            self.target, change, self.wanted.context.name, runs=runs, tolerance=tolerance,
            measured=measured, deterministic=deterministic))

    def guard(self) -> Path | None:
        """Write the test that needs no model; None where the decision calls no tool."""
        from agentrunproof.fix import guard_test

        if not guard_test.asked_about(self.target):
            return None
        return self._write(self.wanted.guard, guard_test.script(
            self.target, self.wanted.context.name, agent=self.agent,
            effect=self.wanted.effect or ""))

    def file(self) -> Path:
        """Write the context that both read."""
        return self._write(self.wanted.context, self.context.to_text())

    def _write(self, path: Path, text: str) -> Path:
        from agentrunproof.record import store

        store.write(path, text.encode())
        return path


def prepared(wanted: Wanted, chosen: Chosen, options: asking.Options) -> Tests:
    """All that is needed to write tests, seen to before anything is asked.

    Raises:
        AgentRunProofError: they could not be written.
    """
    from agentrunproof.fix import agent_name, guard_test
    from agentrunproof.fix.context_file import Context

    wanted.check()
    model = {key: value for key, value in (
        ("model", options.model), ("base_url", options.base_url),
        ("key_variable", options.key_variable), ("deterministic", options.deterministic))
        if value is not None}
    whole = Context(chosen.call.dialect, chosen.run.body(chosen.call), chosen.target.spec,
                    chosen.run.decision(chosen.call) or {}, model, chosen.call.endpoint)
    context = whole.without_secrets(wanted.redact)
    if context.request != whole.request:
        note("note: secrets were left out of the test's context, so that its request is not "
             "quite the recorded one")
    calls = guard_test.asked_about(chosen.target)
    if wanted.agent and not calls:
        raise typer.BadParameter(f"--agent: {chosen.target.spec} was recorded with no tool call "
                                 "that could be played back to it")
    agent = agent_name.named(wanted.agent, calls[0].name) if wanted.agent else None
    return Tests(wanted, context, context.asked, agent)


def write(
    run: Annotated[str, typer.Argument(metavar="RUN", help=asking.RUN_HELP)],
    target: Annotated[str, typer.Argument(metavar="TARGET", help=asking.TARGET_HELP)],
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="FILE", help="The test to write: test_SOMETHING.py.")],
    call: asking.CallOption = None,
    add_system: changes.AddSystemOption = None,
    system_file: changes.SystemFileOption = None,
    replace: changes.ReplaceOption = None,
    drop: changes.DropOption = None,
    runs: strength.RunsOption = None,
    tolerate: strength.TolerateOption = strength.TOLERATED,
    agent: AgentOption = None,
    effect: EffectOption = None,
    redact: RedactOption = None,
    overwrite: OverwriteOption = False,
    model: asking.ModelOption = None,
    base_url: asking.BaseUrlOption = None,
    key_variable: asking.KeyVariableOption = None,
    deterministic: asking.DeterministicOption = None,
    skip_bad_lines: asking.SkipBadLinesOption = False,
) -> int:
    """Write pytest files that keep a recorded decision from being made again. No model is asked."""
    asked = strength.of(runs, tolerate)
    change = changes.together(add_system, system_file, replace, drop)
    chosen = asking.chosen(run, target, call, skip_bad=skip_bad_lines)
    tests = prepared(Wanted(out, agent, effect, redact, overwrite), chosen, asking.Options(
        model=model, base_url=base_url, key_variable=key_variable, deterministic=deterministic))
    number = asked.runs_for()
    strength.warn(asked, number)
    written = [tests.live(change, runs=number, tolerance=asked.tolerance,
                          deterministic=bool(deterministic)), tests.file()]
    guard = tests.guard()
    tell([*written, *([guard] if guard else [])])
    return exits.OK


def tell(written: list[Path]) -> None:
    """Say what was written."""
    lines(f"written: {path}" for path in written)

