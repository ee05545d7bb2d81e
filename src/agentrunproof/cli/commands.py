"""The command line: its commands, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from agentrunproof import __version__
from agentrunproof.cli import (
    bench,
    bisecting,
    certificates,
    checking,
    evidence,
    exits,
    fixing,
    importing,
    localizing,
    matrices,
    matrix,
    mcp,
    odds,
    probing,
    releases,
    runs,
    scenarios,
    viewing,
    why,
    written_tests,
)
from agentrunproof.cli.output import lines, note
from agentrunproof.errors import AgentRunProofError

# Rich would take longer to import than most commands take to run.
app = typer.Typer(name="agentrunproof", rich_markup_mode=None, pretty_exceptions_enable=False,
                  context_settings={"help_option_names": ["-h", "--help"]})

app.command("list-scenarios")(scenarios.list_scenarios)
app.command("explain")(scenarios.explain)
app.command("probe")(probing.probe)
app.command("check-certificate")(certificates.check_certificate)
app.command("diff")(certificates.diff)
app.command("matrix", cls=matrix.WithCommand)(matrix.matrix)
app.command("merge")(matrices.merge)
app.command("check-matrix")(matrices.check_matrix)
app.command("check-history-matrix")(evidence.check_history_matrix)
app.command("check-bundle")(evidence.check_bundle)
app.command("check-sums")(evidence.check_sums)
app.command("bisect", cls=matrix.WithCommand)(bisecting.bisect)
app.command("why")(why.why)
app.command("odds")(odds.odds)
app.command("rerun")(odds.rerun)
app.command("fix")(fixing.fix)
app.command("test")(written_tests.write)
app.command("localize")(localizing.localize)
app.command("check-localization")(localizing.check_localization)
app.command("releases")(releases.releases)
app.command("runs")(runs.runs)
app.command("show")(runs.show)
app.command("view")(viewing.view)
app.command("import")(importing.import_trace)
app.command("mcp")(mcp.mcp)
app.command("schema")(scenarios.schema)
bench.app.command("localize")(localizing.bench_localize)
app.add_typer(bench.app, name="bench")
app.add_typer(checking.app, name="check")

#: What typer raises for wrong usage (its public names are subclasses).
_UsageError: Any = typer.BadParameter.__base__


def _print_version(wanted: bool) -> None:
    if wanted:
        lines([f"agentrunproof {__version__}"])
        raise typer.Exit


@app.callback()
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
        command = typer.main.get_command(app)
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
