"""``mcp``: the server over stdio, asked by the client of the `mcp` package."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.recorders import record

MODEL = '''
def model(body):
    print("a model of one's own may print")
    orders = "Pay it now." in str(body)
    return {"text": "" if orders else "Hm.", "tool_calls": [{"name": "pay"}] if orders else []}
model.deterministic = True
'''
BODY = {"model": "gpt", "messages": [{"role": "user", "content": "Hello. Pay it now. Bye."}]}
OWN = {"run": "last", "target": "tool:pay", "model": "python:payer.py:model"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run in which a model pays, and that model's file."""
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    (tmp_path / "payer.py").write_text(MODEL)
    with record("payer") as rec, rec.model_call("openai.chat", BODY) as call:
        call.returned({"tool_calls": [{"name": "pay"}], "text": ""})
    return tmp_path


def served(place: Path, use: Callable[[Any], Awaitable[Any]]) -> Any:
    """What `use` gives for a session with a server that was started in a folder."""
    mcp = pytest.importorskip("mcp")
    stdio = pytest.importorskip("mcp.client.stdio")

    async def run() -> Any:
        server = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "agentrunproof", "mcp"], cwd=str(place),
            env=dict(os.environ))
        async with AsyncExitStack() as stack:
            read, write = await stack.enter_async_context(stdio.stdio_client(server))
            session = await stack.enter_async_context(mcp.ClientSession(read, write))
            await session.initialize()
            return await use(session)

    return asyncio.run(run())


def plain(value: Any) -> Any:
    """The client's objects as JSON, whatever their version names the fields."""
    return json.loads(value.model_dump_json(by_alias=True))


def test_it_lists_its_tools_with_descriptions_and_the_types_of_their_arguments(place: Path) -> None:
    async def use(session: Any) -> Any:
        return plain(await session.list_tools())["tools"]

    tools = {tool["name"]: tool for tool in served(place, use)}
    assert list(tools) == ["runs", "show", "why", "odds", "rerun", "fix", "check"]
    assert all(tool["description"] for tool in tools.values())
    assert tools["why"]["inputSchema"]["required"] == ["run"]
    assert {"integer", "null"} == {one["type"] for one in
                                   tools["why"]["inputSchema"]["properties"]["budget"]["anyOf"]}


def test_a_run_is_listed_shown_explained_asked_again_mended_and_checked(place: Path) -> None:
    async def use(session: Any) -> Any:
        async def call(tool: str, **arguments: Any) -> Any:
            answer = plain(await session.call_tool(tool, arguments))
            assert not answer["isError"], answer
            return json.loads(answer["content"][0]["text"])

        listed, shown, whole = await call("runs"), await call("show"), await call("show", call="1")
        why, odds = await call("why", **OWN), await call("odds", **OWN)
        again = await call("rerun", **OWN, drop=["1 sentence 2"])
        fixed = await call("fix", **OWN, write_test="test_payer.py")
        kept = [str(path) for path in (place / "runs" / "ablations").iterdir()]
        return listed, shown, whole, why, odds, again, fixed, await call("check", files=kept)

    listed, shown, whole, why, odds, again, fixed, checked = served(place, use)
    assert [run["name"] for run in listed["result"]] == ["payer"]
    assert "events" not in shown["result"]
    assert whole["result"]["body"] == BODY
    assert why["exit_code"] == exits.OK
    assert [quote["text"] for quote in why["result"]["quotes"]] == ["Pay it now."]
    assert "arms" not in why["result"]
    assert any("written: " in note for note in why["notes"])
    assert [odds["result"]["samples"][0][key] for key in ("hits", "runs")] == [1, 1]
    assert [again["result"]["samples"][0][key] for key in ("hits", "runs")] == [0, 1]
    assert "PASS" in [one["verdict"] for one in fixed["result"]["candidates"]]
    assert (place / "test_payer.py").exists()
    assert [one["verdict"] for one in checked["result"]] == ["CAUSE"]


def test_an_error_is_one_line_with_its_code(place: Path) -> None:
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("show", {"run": "nothing"}, "[RUN_NOT_FOUND]"),
        ("why", {**OWN, "target": "tool:lend"}, "[RUN_TARGET]"),
        ("why", {**OWN, "model": "python:payer.py:missing"}, "[MODEL_IMPORT]"),
        ("why", {**OWN, "run": "--help"}, "[RUN_NOT_FOUND]"),
        ("fix", {**OWN, "tolerate": "much"}, "--tolerate")]

    async def use(session: Any) -> Any:
        return [plain(await session.call_tool(tool, arguments)) for tool, arguments, _ in asked]

    for answer, (_, _, said) in zip(served(place, use), asked, strict=True):
        assert answer["isError"]
        (line,) = answer["content"][0]["text"].splitlines()
        assert said in line


def test_without_the_package_it_is_one_line_with_what_to_install(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mcp", "mcp.server", "mcp.server.fastmcp"):
        monkeypatch.setitem(sys.modules, name, None)
    assert commands.run(["mcp"]) == exits.UNUSABLE
    assert capsys.readouterr().err == ("error: the package mcp is not installed (pip install "
                                       "'agentrunproof[mcp]') [MCP_MISSING]\n")
