"""The command line: its commands, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from agentrunproof import __version__
from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, note
from agentrunproof.errors import AgentRunProofError

#: Each command with its function; the modules are those of `agentrunproof.cli`. A command line
#: imports the module of its own command: all of them take longer than most commands run.
COMMANDS = {
    "list-scenarios": "scenarios:list_scenarios",
    "explain": "scenarios:explain",
    "probe": "probing:probe",
    "check-certificate": "certificates:check_certificate",
    "diff": "certificates:diff",
    "matrix": "matrix:matrix",
    "merge": "matrices:merge",
    "check-matrix": "matrices:check_matrix",
    "check-history-matrix": "evidence:check_history_matrix",
    "check-bundle": "evidence:check_bundle",
    "check-sums": "evidence:check_sums",
    "bisect": "bisecting:bisect",
    "why": "why:why",
    "odds": "odds:odds",
    "rerun": "odds:rerun",
    "fix": "fixing:fix",
    "test": "written_tests:write",
    "localize": "localizing:localize",
    "check-localization": "localizing:check_localization",
    "releases": "releases:releases",
    "runs": "runs:runs",
    "show": "runs:show",
    "view": "viewing:view",
    "import": "importing:import_trace",
    "mcp": "mcp:mcp",
    "schema": "scenarios:schema",
}
#: Groups of commands, each an application of its own.
GROUPS = {"bench": "bench:app", "check": "checking:app"}
#: Those whose words after ``--`` are somebody else's command line.
_WITH_COMMAND = ("matrix", "bisect")

#: What typer raises for wrong usage (its public names are subclasses).
_UsageError: Any = typer.BadParameter.__base__


def _print_version(wanted: bool) -> None:
    if wanted:
        lines([f"agentrunproof {__version__}"])
        raise typer.Exit


def application(command: str | None = None) -> typer.Typer:
    """The command line: all of it, or as much as one command or group needs."""
    # Rich would take longer to import than most commands take to run.
    made = typer.Typer(name="agentrunproof", rich_markup_mode=None, pretty_exceptions_enable=False,
                       context_settings={"help_option_names": ["-h", "--help"]})
    made.callback()(_options)
    for name, place in COMMANDS.items():
        if command in (None, name):
            cls = _named("matrix:WithCommand") if name in _WITH_COMMAND else None
            made.command(name, cls=cls)(_named(place))
    for name, place in GROUPS.items():
        if command in (None, name):
            made.add_typer(_named(place), name=name)
    return made


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"agentrunproof.cli.{module}"), name)


def _options(
    version: Annotated[bool, typer.Option(
        "--version", help="Print the version.", is_eager=True, callback=_print_version)] = False,
) -> None:
    """Behaviour contracts for the OpenAI Agents SDK.

    Scripted plans drive the real Runner; what it does is judged and recorded in certificates
    that anyone can judge again.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code (see `agentrunproof.cli.exits`)."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # no title may fail in an ASCII terminal
            stream.reconfigure(errors="backslashreplace")
    try:
        first = next(iter(arguments), "")
        known = first in COMMANDS or first in GROUPS
        command = typer.main.get_command(application(first if known else None))
        code = command.main(list(arguments), prog_name="agentrunproof", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = exits.INTERRUPTED
    except BrokenPipeError:
        code = _reader_gone()
    except SystemExit as end:  # typer itself leaves with 1 when a pipe breaks
        code = _reader_gone() if end.code == 1 else end.code
    except _UsageError as error:
        error.show()
        code = exits.UNUSABLE
    except AgentRunProofError as error:
        code = _report(error, f"error: {error} [{error.code}]", exits.UNUSABLE)
    except OSError as error:
        code = _report(error, f"error: {error}", exits.UNUSABLE)
    except Exception as error:
        code = _report(error, f"agentrunproof crashed: {type(error).__name__}: {error} "
                       "(please report it, with what AGENTRUNPROOF_DEBUG=1 shows)", exits.CRASH)
    if code == exits.INTERRUPTED:
        note("interrupted")
    return int(code or exits.OK)


def _report(error: Exception, message: str, code: int) -> int:
    if os.environ.get("AGENTRUNPROOF_DEBUG"):
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__)
    note(" ".join(message.splitlines()))
    return code


def _reader_gone() -> int:
    """Give the interpreter somewhere to flush what nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.READER_GONE
