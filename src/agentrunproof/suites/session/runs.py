"""Cases in which the real Runner uses the session, with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import agents
from agents import Agent, FunctionTool, ModelSettings, RunConfig, Runner

from agentrunproof.plan.items import label
from agentrunproof.plan.model import Item as ScriptItem
from agentrunproof.sdk import compat, features
from agentrunproof.sdk.scripted import DeterministicModel, Step
from agentrunproof.suites.session import promises
from agentrunproof.suites.session.case import Broken, Untestable, World, case
from agentrunproof.suites.session.items import (
    Item,
    messages,
    said,
    told,
    tool_call,
    tool_output,
)
from agentrunproof.suites.session.limits import need_settings, of_five, set_limit

#: A history with two calls, each with its output, and limits that cut a pair.
_WITH_CALLS = [said("q1"), tool_call("c1"), tool_output("c1"), said("a1", "assistant"),
               said("q2"), tool_call("c2"), tool_output("c2"), said("a2", "assistant")]
_CUTS = (2, 6)


async def _run(session: Any, text: str, *steps: Step, limit: int | None = None,
               streamed: bool = False, retries: int = 0) -> list[Any]:
    """One run with a scripted model and one tool, without tracing; what the model was given first.
    """
    model = DeterministicModel(list(steps))
    settings = ModelSettings()
    if retries:
        settings = ModelSettings(retry=agents.ModelRetrySettings(
            max_retries=retries, policy=lambda _: True,
            backoff={"initial_delay": 0, "jitter": False}))
    agent = Agent(name="clerk", model=model, model_settings=settings, tools=[_tool()])
    options: dict[str, Any] = {"tracing_disabled": True}
    if limit is not None:
        options["session_settings"] = compat.session_settings(limit)
    config = RunConfig(**options)
    if streamed:
        result = Runner.run_streamed(agent, text, session=session, run_config=config)
        async for _ in result.stream_events():
            pass
    else:
        await Runner.run(agent, text, session=session, run_config=config)
    given = model.calls[0].input
    return [said(given)] if isinstance(given, str) else list(given)


def _tool() -> FunctionTool:
    async def look(*_: Any) -> str:
        return "seen"

    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return FunctionTool(name="look", description="", params_json_schema=schema,
                        on_invoke_tool=look)


def _answer(text: str) -> ScriptItem:
    return ScriptItem(say=text, id=text)


def _call(call_id: str) -> ScriptItem:
    return ScriptItem(call="look", id=call_id)


def _labels(items: Sequence[Any]) -> list[str]:
    return [label(item) for item in items]


def _expect(code: str, what: str, items: Sequence[Any], labels: Sequence[str]) -> None:
    if _labels(items) != list(labels):
        wanted = ", ".join(labels)
        raise Broken(code, f"{what}: {told(items)}, not [{wanted}]")


@case(promises.RUN_STORES)
async def run_stores(world: World) -> None:
    """A run stores its input, calls, outputs and answer, in this order."""
    session = await world.open()
    await _run(session, "hello", [_call("c1")], _answer("done"))
    _expect("NOT_STORED", "after a run the session holds", await session.get_items(),
            ["user:hello", "call:c1", "output:c1", "assistant:done"])


@case(promises.RUN_READS)
async def run_reads(world: World) -> None:
    """A run gives the model the history, then the new input."""
    session = await world.open()
    await session.add_items(messages(3))
    given = await _run(session, "next", _answer("done"))
    _expect("NOT_READ", "the model was given", given,
            [*_labels(messages(3)), "user:next"])


@case(promises.RUN_LIMIT)
async def run_limit(world: World) -> None:
    """A run reads no more than the limit of its own settings."""
    need_settings()
    session = await world.open()
    items = messages(5)
    for limit in (2, 0):
        await session.clear_session()
        await session.add_items(items)
        given = await _run(session, "next", _answer("done"), limit=limit)
        _expect("LIMIT_IGNORED", f"under RunConfig limit {limit} the model was given", given,
                [*_labels(items[5 - limit:]), "user:next"])


@case(promises.RUN_LIMIT)
async def run_settings_limit(world: World) -> None:
    """A run reads no more than the limit of the session's settings."""
    session, items = await of_five(world)
    set_limit(session, 2)
    given = await _run(session, "next", _answer("done"))
    _expect("LIMIT_IGNORED", "under the session's limit 2 the model was given", given,
            [*_labels(items[-2:]), "user:next"])


@case(promises.RUN_OVERRIDES)
async def run_limit_first(world: World) -> None:
    """The limit of a run's settings counts more than that of the session's."""
    session, items = await of_five(world)
    set_limit(session, 2)
    given = await _run(session, "next", _answer("done"), limit=4)
    _expect("LIMIT_IGNORED", "under RunConfig limit 4 and the session's 2 the model was given",
            given, [*_labels(items[-4:]), "user:next"])


@case(promises.PAIRED, "4324")
async def run_pairs(world: World) -> None:
    """No limit shows the model an output without its call, or a call without its output."""
    need_settings()
    session = await world.open()
    for limit in _CUTS:
        await session.clear_session()
        await session.add_items(_WITH_CALLS)
        given = await _run(session, "next", _answer("done"), limit=limit)
        _paired(f"under limit {limit} the model was given", given)


def _paired(what: str, items: Sequence[Item]) -> None:
    calls: list[str] = []
    for item in items:
        kind, id = item.get("type"), str(item.get("call_id"))
        if kind == "function_call":
            calls.append(id)
        elif kind == "function_call_output":
            if id not in calls:
                raise Broken("OUTPUT_ALONE", f"{what} {told(items)}: output {id} has no call "
                             "before it")
            calls.remove(id)
    if calls:
        raise Broken("CALL_ALONE", f"{what} {told(items)}: call {calls[0]} has no output after it")


@case(promises.RUN_STORES, "3931")
async def run_retry(world: World) -> None:
    """A model call that is tried again leaves history, input and answer, each once."""
    await _retried(world, streamed=False)


@case(promises.RUN_STORES, "3857")
async def streamed_retry(world: World) -> None:
    """So does one of a streamed run."""
    await _retried(world, streamed=True)


async def _retried(world: World, *, streamed: bool) -> None:
    if features.missing(["model-retry"]):
        raise Untestable("RELEASE", f"openai-agents {compat.sdk_version()} has no model retry")
    session = await world.open()
    await session.add_items(messages(2))
    await _run(session, "hello", ConnectionError("lost"), _answer("done"), retries=1,
               streamed=streamed)
    _expect("NOT_STORED", "after a retried run the session holds", await session.get_items(),
            [*_labels(messages(2)), "user:hello", "assistant:done"])


@case(promises.RUN_STORES, "3352")
async def run_reasoning(world: World) -> None:
    """A run stores a reasoning item under the id by which the API knows it."""
    session = await world.open()
    await _run(session, "hello", [ScriptItem(reasoning="hm", id="r1"), _answer("done")])
    found = await session.get_items()
    _expect("NOT_STORED", "after a run the session holds", found,
            ["user:hello", "reasoning:hm", "assistant:done"])
    if found[1].get("id") != "rs-r1":
        raise Broken("LOST_ID", f"the reasoning item rs-r1 is stored under {found[1].get('id')!r}")


@case(promises.RUN_STORES)
async def runs_at_once(world: World) -> None:
    """Two runs at once on one session lose and double nothing."""
    session = await world.open()
    await asyncio.gather(*(_run(session, name, [_call(f"c-{name}")], _answer(f"re {name}"))
                           for name in ("first", "second")))
    found = _labels(await session.get_items())
    for name in ("first", "second"):
        mine = [text for text in found if name in text]
        wanted = [f"user:{name}", f"call:c-{name}", f"output:c-{name}", f"assistant:re {name}"]
        if mine != wanted:
            raise Broken("MIXED", f"of run {name} of two at once the session holds "
                         f"[{', '.join(mine)}], not [{', '.join(wanted)}]")


@case(promises.SAME_IN_BOTH_MODES)
async def run_modes(world: World) -> None:
    """run and run_streamed read and store the same."""
    seen = []
    for streamed in (False, True):
        session = await world.open("streamed" if streamed else "run")
        await session.add_items(messages(2))
        given = await _run(session, "hello", [_call("c1")], _answer("done"), streamed=streamed)
        seen.append((_labels(given), _labels(await session.get_items())))
    for what, one, other in zip(("the model was given", "the session holds"), *seen, strict=True):
        if one != other:
            raise Broken("MODES_DIFFER", f"{what} [{', '.join(one)}] by run, "
                         f"[{', '.join(other)}] by run_streamed")
