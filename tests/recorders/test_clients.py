"""The real clients of OpenAI and Anthropic against a server on loopback, recorded literally."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentrunproof.errors import RecordError
from agentrunproof.record.run import Run
from agentrunproof.recorders import record
from tests.recorders.reading import run_of
from tests.wire import Wire, serving

openai = pytest.importorskip("openai")

MESSAGES: Any = [{"role": "user", "content": "Find x."}]
TOOLS: Any = [{"type": "function", "function": {
    "name": "look", "strict": True, "parameters": {
        "type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"],
        "additionalProperties": False}}}]
SAID = {"text": "Looking for it.", "tool_calls": [{"name": "look", "arguments": {"q": "x"}}]}
DECIDED = {"text": "Looking for it.",
           "tool_calls": [{"id": "call_1", "name": "look", "arguments": {"q": "x"}}]}


@pytest.fixture
def wire() -> Iterator[Wire]:
    with serving(lambda body: SAID) as wire:
        yield wire


def chat(client: Any) -> Any:
    return client.chat.completions


#: What users do with a client, and what they get out of it that tells whether it works.
OPENAI: dict[str, Callable[[Any], Any]] = {
    "chat create": lambda client: chat(client).create(
        model="x", messages=MESSAGES, temperature=0.5).choices[0].message.content,
    "chat parse": lambda client: chat(client).parse(
        model="x", messages=MESSAGES, tools=TOOLS).choices[0].message.content,
    "chat create streamed": lambda client: "".join(
        chunk.choices[0].delta.content or "" for chunk in chat(client).create(
            model="x", messages=MESSAGES, stream=True) if chunk.choices),
    "chat stream": lambda client: _chat_stream(client),
    "responses create": lambda client: client.responses.create(
        model="x", input="Find x.", instructions="Be good.").output_text,
    "responses parse": lambda client: client.responses.parse(
        model="x", input=MESSAGES).output_text,
    "responses create streamed": lambda client: "".join(
        event.delta for event in client.responses.create(
            model="x", input="Find x.", stream=True)
        if event.type == "response.output_text.delta"),
    "responses stream": lambda client: _responses_stream(client),
    "chat raw": lambda client: chat(client).with_raw_response.create(
        model="x", messages=MESSAGES).parse().choices[0].message.content,
}


def _chat_stream(client: Any) -> str:
    with chat(client).stream(model="x", messages=MESSAGES, tools=TOOLS) as stream:
        for _ in stream:
            pass
        return str(stream.get_final_completion().choices[0].message.content)


def _responses_stream(client: Any) -> str:
    with client.responses.stream(model="x", input=MESSAGES) as stream:
        for _ in stream:
            pass
        return str(stream.get_final_response().output_text)


async def _async_chat(client: Any) -> str:
    return str((await chat(client).create(model="x", messages=MESSAGES)).choices[0].message.content)


async def _async_chat_streamed(client: Any) -> str:
    return "".join([chunk.choices[0].delta.content or ""
                    async for chunk in await chat(client).create(
                        model="x", messages=MESSAGES, stream=True) if chunk.choices])


async def _async_responses(client: Any) -> str:
    return str((await client.responses.create(model="x", input=MESSAGES)).output_text)


async def _async_responses_streamed(client: Any) -> str:
    async with client.responses.stream(model="x", input=MESSAGES) as stream:
        return "".join([event.delta async for event in stream
                        if event.type == "response.output_text.delta"])


ASYNC_OPENAI = (_async_chat, _async_chat_streamed, _async_responses, _async_responses_streamed)


def check(run: Run, wire: Wire) -> None:
    """What was recorded is what the server was sent, and what it sent."""
    assert [run.body(call) for call in run.calls()] == [body for _, body in wire.requests]
    assert [run.decision(call) for call in run.calls()] == [DECIDED] * len(wire.requests)
    assert run.state == "completed"
    for call, (_, body), sent in zip(run.calls(), wire.requests, wire.sent, strict=True):
        reply = run.reply(call)
        if body.get("stream") and call.dialect == "openai.chat":  # chunks don't say what is null
            assert reply["usage"] == sent["usage"]
        else:
            assert reply == sent


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("way", OPENAI)
def test_openai_is_recorded_and_not_changed(way: str, compress: bool, wire: Wire) -> None:
    wire.compress = compress
    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="x") as client, record() as rec:
        assert rec.wrap(client) is client
        assert OPENAI[way](client) == "Looking for it."
    check(run_of(rec), wire)


@pytest.mark.parametrize("way", ASYNC_OPENAI)
def test_asynchronous_openai_is_recorded_and_not_changed(way: Any, wire: Wire) -> None:
    async def use() -> str:
        async with openai.AsyncOpenAI(base_url=f"{wire.url}/v1", api_key="x") as client:
            return str(await way(rec.wrap(client)))

    with record() as rec:
        assert asyncio.run(use()) == "Looking for it."
    check(run_of(rec), wire)


def test_anthropic_is_recorded_and_not_changed(wire: Wire) -> None:
    anthropic = pytest.importorskip("anthropic")
    asked: Any = {"model": "x", "max_tokens": 9, "messages": MESSAGES, "system": "Be good."}

    async def use() -> str:
        async with anthropic.AsyncAnthropic(base_url=wire.url, api_key="x") as client:
            rec.wrap(client)
            texts = [(await client.messages.create(**asked)).content[0].text]
            async with client.messages.stream(**asked) as stream:
                texts.append("".join([text async for text in stream.text_stream]))
            return "".join(texts)

    with record() as rec:
        with anthropic.Anthropic(base_url=wire.url, api_key="x") as client:
            rec.wrap(client)
            texts = [client.messages.create(**asked).content[0].text, "".join(
                event.delta.text for event in client.messages.create(**asked, stream=True)
                if event.type == "content_block_delta" and event.delta.type == "text_delta")]
            with client.messages.stream(**asked) as stream:
                texts.append("".join(stream.text_stream))
        assert "".join(texts) + asyncio.run(use()) == "Looking for it." * 5
    run = run_of(rec)
    check(run, wire)
    assert {call.dialect for call in run.calls()} == {"anthropic.messages"}


def test_events_of_a_stream_are_handed_on_as_they_come(wire: Wire) -> None:
    def kinds(client: Any) -> list[str]:
        return [event.type for event in client.responses.create(
            model="x", input="Hi", stream=True)]

    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="x") as client:
        before = kinds(client)
        with record() as rec:
            assert kinds(rec.wrap(client)) == before
        assert "send" not in vars(client._client)  # and it is as it was
        assert kinds(client) == before
    assert len(run_of(rec).calls()) == 1


def test_a_stream_that_is_given_up_is_recorded_as_far_as_it_came(wire: Wire) -> None:
    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="x") as client, record() as rec:
        rec.wrap(client)
        stream = chat(client).create(model="x", messages=MESSAGES, stream=True)
        next(iter(stream))
        stream.close()
    run = run_of(rec)
    (ended,) = (event for event in run.events() if event["kind"] == "model_responded")
    assert run.state == "completed"
    assert ended["reply"]["id"] == "chatcmpl-1"


def test_failures_are_recorded_and_raised_as_before(wire: Wire) -> None:
    wire.decide = lambda body: 500
    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="x", max_retries=0) as client, \
            record() as rec:
        rec.wrap(client)
        with pytest.raises(openai.InternalServerError, match="status 500"):
            OPENAI["chat create"](client)
        with pytest.raises(openai.InternalServerError):
            OPENAI["chat stream"](client)
    with openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="x", max_retries=0) as client, \
            record() as other, pytest.raises(openai.APIConnectionError):
        OPENAI["chat create"](other.wrap(client))
    run = run_of(rec)
    assert [call.state for call in run.calls()] == ["failed", "failed"]
    error = run.error(run.call(1))
    assert error is not None
    assert error["type"] == "HTTP 500"
    assert "status 500" in error["message"]
    (call,) = run_of(other).calls()
    assert (run_of(other).error(call) or {})["type"] == "ConnectError"


def test_headers_are_never_stored(wire: Wire) -> None:
    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="key-of-an-unknown-shape") as client, \
            record() as rec:
        OPENAI["chat create"](rec.wrap(client))
    assert rec.path is not None
    assert b"unknown-shape" not in rec.path.read_bytes()


def test_the_endpoint_is_recorded_without_user_password_and_query(wire: Wire) -> None:
    base = wire.url.replace("http://", "http://me:secret-word@") + "/v1"
    client = openai.OpenAI(api_key="sk-no", base_url=base, default_query={"sig": "secret-sig"})
    with record("run") as rec:
        chat(rec.wrap(client)).create(model="x", messages=MESSAGES)
    (call,) = run_of(rec).calls()
    assert call.endpoint == f"{wire.url}/v1/chat/completions"
    assert b"secret" not in rec.path.read_bytes()


def test_two_recorders_both_see_a_client(wire: Wire) -> None:
    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="x") as client, \
            record("outer") as outer:
        outer.wrap(client)
        with record("inner") as inner:
            inner.wrap(inner.wrap(client))
            OPENAI["chat create"](client)
        OPENAI["chat create"](client)
    assert [len(run_of(one).calls()) for one in (outer, inner)] == [2, 1]


def test_a_client_inside_of_an_explicit_call_is_not_recorded_twice(wire: Wire) -> None:
    with openai.OpenAI(base_url=f"{wire.url}/v1", api_key="x") as client, record() as rec:
        rec.wrap(client)
        with rec.model_call("openai.chat", {"messages": MESSAGES}) as call:
            call.returned({"text": OPENAI["chat create"](client)})
    assert len(run_of(rec).calls()) == 1


def test_what_is_no_client_is_named() -> None:
    with record() as rec, pytest.raises(RecordError, match="wrap: object is no client"):
        rec.wrap(object())
