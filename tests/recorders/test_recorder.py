"""Recording plain loops: linked as it happened, and never in the agent's way."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import multiprocessing
import os
import random
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.record.run import Run
from agentrunproof.recorders import Recorder, record
from agentrunproof.runs import folder as runs_folder
from tests.recorders.reading import asks, ends_of, run_of, tools_of

AGENTS, STEPS = 50, 12


def ask(rec: Recorder, messages: list[Any], reply: Any) -> Any:
    with rec.model_call("openai.chat", {"model": "x", "messages": messages}) as call:
        return call.returned(reply)


def check_links(run: Run) -> None:
    """Every tool call is linked to the model call that asked for it, by what both say.

    In these tests the arguments name the agent and the step, or the model's request does.
    """
    asked = {call.id: (run.body(call)["messages"][-1]["content"], call.agent)
             for call in run.calls()}
    tools, ends = tools_of(run), ends_of(run)
    assert len(tools) == AGENTS * STEPS
    for tool in tools:
        content, agent = asked[tool["asked_by"]]
        assert ends[tool["call"]]["output"] == content
        assert tool.get("agent", "") == agent


def test_fifty_agents_in_threads_are_linked_though_they_ask_for_the_same() -> None:
    """All agents ask for the same tool with the same arguments and the same call id."""
    meet = threading.Barrier(AGENTS)

    with record() as rec:
        where: contextvars.ContextVar[str] = contextvars.ContextVar("where")

        @rec.tool
        def look(q: int) -> str:
            return where.get()

        def agent(number: int) -> None:
            meet.wait()
            with rec.agent(f"agent-{number % 7}"):
                for step in range(STEPS):
                    where.set(f"{number}/{step}")
                    ask(rec, [{"role": "user", "content": where.get()}], asks("look", {"q": 1}))
                    look(1)

        threads = [threading.Thread(target=agent, args=(number,)) for number in range(AGENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check_links(run_of(rec))


@pytest.mark.parametrize("named", [False, True])
def test_fifty_agents_in_tasks_are_linked_whatever_their_order(named: bool) -> None:
    order = random.Random(1)

    async def main() -> None:
        @rec.tool
        async def look(q: int, where: str = "") -> str:
            await pause()
            return where

        async def pause() -> None:
            for _ in range(order.randrange(4)):
                await asyncio.sleep(0)

        async def steps(number: int) -> None:
            for step in range(STEPS):
                where = f"{number}/{step}"
                with rec.model_call("openai.chat", {
                        "messages": [{"role": "user", "content": where}]}) as call:
                    await pause()
                    call.returned(asks("look", {"q": 1, "where": ""}))
                await pause()
                await asyncio.create_task(look(1, where=where))  # changed arguments, another task

        async def agent(number: int) -> None:
            if named:
                with rec.agent("same name"):
                    await steps(number)
            else:
                await steps(number)

        await asyncio.gather(*map(agent, range(AGENTS)))

    with record() as rec:
        asyncio.run(main())
    check_links(run_of(rec))


def test_tools_in_a_thread_pool_are_linked_by_what_was_asked() -> None:
    """The pool's threads know nothing of the agents that asked."""
    with record() as rec, ThreadPoolExecutor(8) as pool:
        def look(where: str) -> str:
            return where

        recorded = rec.tool(look)

        async def agent(number: int) -> None:
            loop = asyncio.get_running_loop()
            with rec.agent(f"agent-{number}"):
                for step in range(STEPS):
                    where = f"{number}/{step}"
                    ask(rec, [{"content": where}], asks("look", {"where": where}))
                    await loop.run_in_executor(pool, recorded, where)

        async def main() -> None:
            await asyncio.gather(*map(agent, range(AGENTS)))

        asyncio.run(main())
    check_links(run_of(rec))


def test_what_nothing_tells_apart_is_not_linked_rather_than_linked_wrongly() -> None:
    with record() as rec, ThreadPoolExecutor(1) as pool:
        look = rec.tool(lambda: 1)
        look.__name__ = "look"

        def agent(name: str) -> None:
            with rec.agent(name):
                ask(rec, [], asks("<lambda>"))

        for name in ("a", "b"):
            contextvars.copy_context().run(agent, name)
        pool.submit(look).result()
    (tool,) = tools_of(run_of(rec))
    assert "asked_by" not in tool


def test_a_bound_tool_runs_in_a_pool_as_if_it_was_called_here() -> None:
    with record() as rec, ThreadPoolExecutor(1) as pool:
        @rec.tool
        def look() -> None:
            pass

        for name in ("a", "b"):
            with rec.agent(name):
                ask(rec, [], asks("look"))
                bound = rec.bind(look)
        pool.submit(bound).result()
    (tool,) = tools_of(run_of(rec))
    assert (tool["agent"], tool["asked_by"]) == ("b", "m2")


def test_ids_of_the_model_decide_where_they_are_known() -> None:
    with record() as rec:
        ask(rec, [], {"tool_calls": [{"id": "one", "name": "look", "arguments": {}},
                                     {"id": "two", "name": "look", "arguments": {}}]})
        for id in ("two", "one", "three"):
            with rec.tool_call("look", {}, id=id):
                pass
    tools = tools_of(run_of(rec))
    assert [(tool.get("asked_by"), tool["tool_call_id"]) for tool in tools] == [
        ("m1", "two"), ("m1", "one"), (None, "three")]


def test_what_happens_inside_of_a_tool_names_it() -> None:
    with record() as rec:
        @rec.tool
        def delegate() -> str:
            with rec.agent("helper"):
                return str(ask(rec, [], {"text": "done"})["text"])

        with rec.agent("boss"):
            ask(rec, [], asks("delegate"))
            assert delegate() == "done"
    run = run_of(rec)
    (tool,) = tools_of(run)
    assert [(call.agent, call.parent) for call in run.calls()] == [
        ("boss", ""), ("helper", tool["call"])]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_gives_and_raises_what_it_would(is_async: bool) -> None:
    failure = KeyError("x")
    with record() as rec:
        if is_async:
            @rec.tool
            async def divide(a: int, b: int = 2) -> float:
                """Divides."""
                if b == 0:
                    raise failure
                return a / b

            def use(*args: int) -> float:
                return asyncio.run(divide(*args))
        else:
            @rec.tool
            def divide(a: int, b: int = 2) -> float:
                """Divides."""
                if b == 0:
                    raise failure
                return a / b

            use = divide
        assert use(3) == 1.5
        with pytest.raises(KeyError) as caught:
            use(3, 0)
        assert caught.value is failure
        with pytest.raises(TypeError):
            use(1, 2, 3)
    assert (divide.__name__, divide.__doc__) == ("divide", "Divides.")
    run = run_of(rec)
    assert [tool["arguments"] for tool in tools_of(run)] == [
        {"a": 3}, {"a": 3, "b": 0}, {"args": [1, 2, 3]}]
    ends = list(ends_of(run).values())
    assert ends[0]["output"] == 1.5
    assert [end["error"]["type"] for end in ends[1:]] == ["KeyError", "TypeError"]


def test_a_run_that_raised_says_so() -> None:
    with pytest.raises(ZeroDivisionError), record() as rec, \
            rec.model_call("openai.chat", {"messages": []}):
        raise ZeroDivisionError("oh")
    run = run_of(rec)
    assert run.state == "raised"
    assert run.error(run.call(1)) == {"type": "ZeroDivisionError", "message": "oh"}


class Evil:
    """Raises whatever one does with it."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparing")

    __hash__ = None  # type: ignore[assignment]

    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no dump")


class BrokenError(Exception):
    """Cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no str")


def test_nothing_that_cannot_be_recorded_is_in_the_agents_way(
        caplog: pytest.LogCaptureFixture) -> None:
    with record() as rec:
        look = rec.tool(lambda value: value)
        evil = Evil()
        assert look(evil) is evil
        assert ask(rec, [evil], evil) is evil
        assert ask(rec, [evil, evil], {"tool_calls": 7}) == {"tool_calls": 7}
        with rec.model_call("no such dialect", {}) as call:
            assert call.returned("x") == "x"
        with pytest.raises(BrokenError), rec.tool_call("x", {}):
            raise BrokenError
        ask(rec, [], "fine")
    assert len(caplog.records) == 1
    assert "the recording of run 'run' is incomplete" in caplog.text
    run = run_of(rec)
    assert run.state == "incomplete"
    assert run.decision(run.call("last")) == {"tool_calls": [], "text": "fine"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_once(caplog: pytest.LogCaptureFixture,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    with record() as rec:
        ask(rec, [], "before")
        with open("/dev/full", "wb") as full:
            os.dup2(full.fileno(), rec._file._handle)  # type: ignore[union-attr]
        assert ask(rec, [], "during") == "during"
        assert ask(rec, [], "after") == "after"
    assert [log.levelno for log in caplog.records] == [logging.WARNING]
    assert "No space left on device" in caplog.text
    run = run_of(rec)
    assert run.state == "open"
    assert [run.decision(call)["text"] for call in run.calls()] == ["before"]  # type: ignore[index]


def test_a_closed_file_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with record() as rec:
        rec._file.close()  # type: ignore[union-attr]
        assert ask(rec, [], "x") == "x"
        assert rec.tool(len)("abc") == 3
    assert len(caplog.records) == 1


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path: Path,
                                                   caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with record(folder=tmp_path / "file" / "runs") as rec:
        assert ask(rec, [], "x") == "x"
    assert rec.path is None
    assert len(caplog.records) == 1


def test_what_comes_after_the_end_is_not_recorded() -> None:
    with record() as rec:
        late = rec.model_call("openai.chat", {"messages": []})
    assert late.returned("x") == "x"
    rec.close()
    run = run_of(rec)
    assert [call.state for call in run.calls()] == ["open"]
    assert run.state == "completed"


def test_only_the_owner_may_read_a_run(folder: Path) -> None:
    with record() as rec:
        pass
    assert rec.path is not None
    assert stat.S_IMODE(rec.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_killed_process_loses_no_completed_event(folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", """if True:
        import sys
        from agentrunproof.recorders import record
        rec = record("killed")
        for number in range(100):
            with rec.model_call("openai.chat", {"messages": [str(number)] * 50}) as call:
                call.returned("reply")
        print(number, flush=True)
        sys.stdin.read()
        """], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"99\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    run = runs_folder.load(runs_folder.find("killed"))
    assert (run.state, run.notes) == ("open", ())
    assert [call.state for call in run.calls()] == ["answered"] * 100


def _in_child(rec: Recorder) -> None:
    ask(rec, [{"content": f"child {os.getpid()}"}], asks("_look"))
    rec.tool(_look)()
    rec.close()


def _look() -> None:
    pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_have_files_of_their_own(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    with record("forked") as rec:
        ask(rec, [{"content": "parent"}], "x")
        with rec._lock:  # as if another thread was writing
            children = [context.Process(target=_in_child, args=(rec,)) for _ in range(3)]
            for child in children:
                child.start()
            for child in children:
                child.join()
        idle = context.Process(target=_look)
        idle.start()
        idle.join()
        ask(rec, [{"content": "parent"}], "x")
    assert [child.exitcode for child in children] == [0, 0, 0]
    runs = [runs_folder.load(path) for path in runs_folder.files(folder)]
    assert len(runs) == 4
    assert [len(run.calls()) for run in runs] == [2, 1, 1, 1]
    assert all(run.state == "completed" for run in runs)
    assert all(tools_of(run)[0]["asked_by"] == run.call(1).id for run in runs[1:])


def test_processes_that_start_at_once_never_share_a_file(tmp_path: Path) -> None:
    code = f"""if True:
        from agentrunproof.recorders import record
        for number in range(10):
            with record("same", file={str(tmp_path / 'same.jsonl')!r}) as rec:
                with rec.model_call("openai.chat", {{"messages": []}}) as call:
                    call.returned("x")
        """
    children = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [child.wait() for child in children] == [0] * 4
    files = list(tmp_path.glob("*.jsonl"))
    assert len(files) == 40
    assert all(len(runs_folder.load(file).calls()) == 1 for file in files)


def test_secrets_are_nowhere_in_the_file() -> None:
    key = "sk-proj-" + "a1B2" * 8
    with record(redact=lambda text: text.replace("Smith", "[name]")) as rec:
        ask(rec, [{"role": "user", "content": f"Use {key}, Mr Smith."}],
            asks("fetch", {"url": f"https://a.b/?api_key={key[8:]}"}, id="call_1"))
        with rec.tool_call("fetch", {"headers": {"Authorization": "whatever this is"}}) as call:
            call.returned(f"Bearer {key[8:]} of Smith")
        with pytest.raises(ValueError, match="sk"), rec.tool_call("x", {}):
            raise ValueError(key)
    assert rec.path is not None
    text = rec.path.read_text("utf-8")
    assert not [word for word in (key[8:], "whatever", "Smith") if word in text]
    run = run_of(rec)
    assert run.body(run.call(1))["messages"][0]["content"] == "Use [secret: API key], Mr [name]."


def test_a_redact_hook_that_fails_leaves_no_text_behind(caplog: pytest.LogCaptureFixture) -> None:
    def fails(text: str) -> str:
        raise ValueError("no")

    with record(redact=fails) as rec:
        ask(rec, [{"content": "private"}], "private")
    assert rec.path is not None
    assert "private" not in rec.path.read_text("utf-8")
    assert len(caplog.records) == 1
    assert run_of(rec).state == "incomplete"


def test_what_is_recorded_amid_of_recording_comes_right_after() -> None:
    """As when a stream that was given up is collected while something else is written."""
    with record() as rec:
        class Interrupts:
            def model_dump(self, **_: Any) -> Any:
                ask(rec, [{"content": "inner"}], "inner")
                return {"outer": True}

        ask(rec, [{"content": "outer"}, Interrupts()], "outer")
    run = run_of(rec)
    assert (run.state, run.notes) == ("completed", ())
    assert [run.body(call)["messages"] for call in run.calls()] == [
        [{"content": "outer"}, {"outer": True}], [{"content": "inner"}]]
    assert {run.decision(call)["text"] for call in run.calls()} == {  # type: ignore[index]
        "inner", "outer"}
