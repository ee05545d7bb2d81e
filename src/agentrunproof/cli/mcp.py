"""``mcp``: the commands about recorded runs as tools for coding assistants, over MCP stdio.

Each tool runs the command of its name with ``--json`` in a process of its own. So tools do and say
what the command line does, a model of one's own is loaded afresh each time, what is given up by the
client ends, and nothing else can write to the standard output that the protocol uses.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from agentrunproof.cli import exits
from agentrunproof.errors import AgentRunProofError

Json = dict[str, Any]

_INSTRUCTIONS = (
    "Recorded runs of agents: list them (runs), read one (show), find which part of a request made "
    "the model decide so (why), measure how often it decides so (odds), ask it again with parts "
    "taken away (rerun), measure which change keeps it from deciding so (fix), judge a record "
    "again (check). RUN is a file, 'last', or a run's name. TARGET is what the model decided: "
    "tool:NAME, tool:NAME:ARGUMENT=VALUE, text:REGEX or any. Tools but runs, show and check ask "
    "the model again, which costs calls: `budget` and `runs` limit them.")

#: Parts of records that are there for the checker; the files have them.
_FOR_CHECKERS = ("arms", "groups")


class McpError(AgentRunProofError):
    """The server cannot be started."""


def mcp() -> int:
    """Serve runs, show, why, odds, rerun, fix and check to coding assistants (MCP, stdio)."""
    _server().run("stdio")
    return exits.OK


def _server() -> Any:
    """The server with its tools.

    Raises:
        McpError: ``MCP_MISSING``.
    """
    try:
        try:
            from mcp.server import MCPServer as Server  # from mcp 2 on
        except ImportError:
            from mcp.server.fastmcp import FastMCP as Server  # type: ignore
    except ImportError:
        raise McpError("MCP_MISSING", "the package mcp is not installed",
                       "pip install 'agentrunproof[mcp]'") from None
    server = Server("agentrunproof", instructions=_INSTRUCTIONS)
    for tool in TOOLS:
        server.tool()(tool)
    return server


async def runs() -> Json:
    """List the recorded runs, the latest last."""
    return await _command("runs")


async def show(run: str = "last", call: str | None = None, events: bool = False,
               skip_bad_lines: bool = False) -> Json:
    """Show a recorded run: what each model call decided; or one call with its whole request.

    Args:
        run: a file, last, or a run's name.
        call: a model call: its id, its number, or last.
        events: of a whole run also every event, with what tools gave.
        skip_bad_lines: leave lines that cannot be read out.
    """
    answer = await _command("show", run, *filter(None, [call]), skip_bad_lines=skip_bad_lines)
    if not events:
        answer["result"].pop("events", None)
    return answer


async def why(run: str, target: str = "any", call: str | None = None, budget: int | None = None,
              model: str | None = None, base_url: str | None = None,
              key_variable: str | None = None, workers: int | None = None,
              dry: bool = False) -> Json:
    """Find which passages of its request made a recorded model call decide so.

    Args:
        run: a file, last, or a run's name.
        target: what the model decided: tool:NAME, text:REGEX, any.
        call: the model call, if not the last that decided so.
        budget: model calls at most.
        model: another model than the recorded one; python:FILE.py:FUNCTION for a rule.
        base_url: where the model's API is.
        key_variable: the environment variable that holds its key.
        workers: model calls at once.
        dry: only tell what would be tested; no model is called.
    """
    return await _command("why", run, target, call=call, budget=budget, model=model,
                          base_url=base_url, key_variable=key_variable, workers=workers, dry=dry)


async def odds(run: str, target: str = "any", call: str | None = None, runs: int | None = None,
               model: str | None = None, base_url: str | None = None,
               key_variable: str | None = None, workers: int | None = None) -> Json:
    """Measure how often the model decides so, on fresh samples of the same request.

    Args:
        run: a file, last, or a run's name.
        target: what the model decided: tool:NAME, text:REGEX, any.
        call: the model call, if not the last that decided so.
        runs: how many samples.
        model: another model than the recorded one; python:FILE.py:FUNCTION for a rule.
        base_url: where the model's API is.
        key_variable: the environment variable that holds its key.
        workers: model calls at once.
    """
    return await _command("odds", run, target, call=call, runs=runs, model=model,
                          base_url=base_url, key_variable=key_variable, workers=workers)


async def rerun(run: str, target: str = "any", drop: list[str] | None = None,
                replace: list[str] | None = None, beside: bool = False, call: str | None = None,
                runs: int | None = None, model: str | None = None, base_url: str | None = None,
                key_variable: str | None = None, workers: int | None = None) -> Json:
    """Ask the model again with parts of the request taken away or changed.

    Args:
        run: a file, last, or a run's name.
        target: what the model decided: tool:NAME, text:REGEX, any.
        drop: pieces to take away, such as "8.html sentence 7", system or tools.look.
        replace: pieces with new texts: "PIECE=TEXT".
        beside: rerun the unchanged request as often.
        call: the model call, if not the last that decided so.
        runs: how many samples.
        model: another model than the recorded one; python:FILE.py:FUNCTION for a rule.
        base_url: where the model's API is.
        key_variable: the environment variable that holds its key.
        workers: model calls at once.
    """
    return await _command("rerun", run, target, drop=drop, replace=replace, beside=beside,
                          call=call, runs=runs, model=model, base_url=base_url,
                          key_variable=key_variable, workers=workers)


async def fix(run: str, target: str, add_system: list[str] | None = None,
              replace: list[str] | None = None, drop: list[str] | None = None,
              only_own: bool = False, call: str | None = None, runs: int | None = None,
              tolerate: str | None = None, budget: int | None = None,
              write_test: str | None = None, model: str | None = None,
              base_url: str | None = None, key_variable: str | None = None,
              workers: int | None = None) -> Json:
    """Measure on fresh reruns which change of the request keeps the model from deciding so.

    Args:
        run: a file, last, or a run's name.
        target: what the model decided: tool:NAME, text:REGEX, any.
        add_system: texts of your own to add to the system prompt, each tried by itself.
        replace: pieces with new texts, each tried by itself: "PIECE=TEXT".
        drop: pieces to take away, each tried by itself.
        only_own: try nothing but your own changes.
        call: the model call, if not the last that decided so.
        runs: reruns of each change.
        tolerate: the rate that may remain, such as 0.15.
        budget: model calls at most.
        write_test: a file to write tests to that keep it fixed: test_SOMETHING.py.
        model: another model than the recorded one; python:FILE.py:FUNCTION for a rule.
        base_url: where the model's API is.
        key_variable: the environment variable that holds its key.
        workers: model calls at once.
    """
    return await _command("fix", run, target, add_system=add_system, replace=replace, drop=drop,
                          only_own=only_own, call=call, runs=runs, tolerate=tolerate,
                          budget=budget, write_test=write_test, model=model, base_url=base_url,
                          key_variable=key_variable, workers=workers)


async def check(files: list[str]) -> Json:
    """Judge records again from their bytes alone: certificates, findings of why, fixes.

    Args:
        files: the records' files.
    """
    return await _command("check-certificate", *files)


TOOLS: tuple[Callable[..., Any], ...] = (runs, show, why, odds, rerun, fix, check)


async def _command(command: str, /, *words: str, **options: Any) -> Json:
    """What a command prints as JSON, its exit code and its notes.

    Args:
        command: its name.
        words: its arguments.
        options: its options by name, with ``_`` for ``-``; None and False leave one away, a list
            gives it several times.

    Raises:
        ToolError: it printed no result; with the error's line, its hint and its code.
    """
    code, out, said = await _run(
        sys.executable, "-m", "agentrunproof", command, *_options(options), "--json", "--", *words)
    notes = said.decode("utf-8", "replace").splitlines()
    try:
        result = _document(out.decode("utf-8", "replace"))
    except ValueError:
        raise _tool_error(notes, code) from None
    if isinstance(result, dict):
        result = {key: value for key, value in result.items() if key not in _FOR_CHECKERS}
    return {"exit_code": code, "result": result, "notes": notes}


def _document(text: str) -> Any:
    """The JSON document that a command printed last; a model of one's own may print before it.

    Raises:
        ValueError: there is none.
    """
    for start in re.finditer(r"^[\[{]", text, re.MULTILINE):
        try:
            return json.loads(text[start.start():])
        except ValueError:  # noqa: PERF203 (it began with something else)
            continue
    raise ValueError("no JSON")


async def _run(*line: str) -> tuple[int, bytes, bytes]:
    """A process's exit code and what it wrote; it ends if nobody waits for it any more."""
    import asyncio
    from subprocess import DEVNULL, PIPE

    process = await asyncio.create_subprocess_exec(*line, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    try:
        out, said = await process.communicate()
    except BaseException:
        process.terminate()
        raise
    return process.returncode or 0, out, said


def _options(options: Mapping[str, Any]) -> list[str]:
    given: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            given.append(flag)
        elif value is not None and value is not False:
            given += [f"{flag}={one}" for one in (value if isinstance(value, list) else [value])]
    return given


def _tool_error(notes: list[str], code: int) -> Exception:
    try:
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        from mcp.server.fastmcp.exceptions import ToolError  # type: ignore
    said = [note for note in notes if re.match(r"error: |Error: |agentrunproof crashed: ", note)]
    return ToolError(said[-1] if said else " ".join(notes) or f"exit code {code}")
