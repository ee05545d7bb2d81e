"""What responses mean, and how a request is sent again."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.replies import reply_of
from agentrunproof.rerun.retrying import Later, Retrying
from agentrunproof.rerun.sending import notes, sendable
from agentrunproof.rerun.servers import Server
from tests.rerun.servers import OurTime

SERVER = Server("http://localhost/v1/chat/completions", "localhost", True, "")


def response(status: int, json: Any = None, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=json, headers={
        name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(("headers", "seconds"), [
    ({"retry_after": "7"}, 7), ({"retry_after": "0.5"}, 0.5), ({"retry_after": "-3"}, 0),
    ({"retry_after_ms": "250"}, 0.25), ({"retry_after": "soon"}, None), ({}, None),
    ({"retry_after": "Wed, 21 Oct 2015 07:28:30 GMT",
      "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30),
    ({"retry_after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0)])
def test_the_wait_that_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    with pytest.raises(Later) as caught:
        reply_of(response(429, {}, **headers), SERVER)
    assert caught.value.wait == seconds


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for() -> None:
    time = OurTime()

    def attempt() -> None:
        raise Later("429 Too Many Requests", 3600)

    with pytest.raises(ModelError, match="asks to wait 3,600 s"):
        Retrying("host", 5, 60, lambda line: None, time).until(attempt)
    assert time.waits == []


def test_a_wait_that_is_ended_gives_up() -> None:
    time = OurTime()
    time.set()

    def attempt() -> None:
        raise Later("503 Service Unavailable")

    with pytest.raises(ModelError) as caught:
        Retrying("host", 5, 60, lambda line: None, time).until(attempt)
    assert caught.value.code == "MODEL_STOPPED"


def test_a_refused_parameter_is_named() -> None:
    error = {"message": "Unsupported value:\n'temperature' does not support 0.",
             "param": "temperature", "code": "unsupported_value"}
    with pytest.raises(ModelError) as caught:
        reply_of(response(400, {"error": error}), SERVER)
    assert caught.value.message == ("localhost: 400 Bad Request: Unsupported value: 'temperature' "
                                    "does not support 0. (parameter temperature)")


def test_an_exhausted_account_is_not_waited_for() -> None:
    error = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with pytest.raises(ModelError, match="You exceeded your quota"):
        reply_of(response(429, error), SERVER)


@pytest.mark.parametrize("json", [
    {"error": {"message": "provider is down", "code": 502}}, {"error": "down"},
    {"status": "failed", "error": {"code": "server_error", "message": "oops"}},
    {"status": "failed", "error": None}])
def test_an_error_in_place_of_a_reply_is_tried_again(json: Any) -> None:
    with pytest.raises(Later, match="the server reports"):
        reply_of(response(200, json), SERVER)


@pytest.mark.parametrize("got", [
    httpx.Response(200, html="<p>Welcome"), httpx.Response(200), httpx.Response(200, json=[]),
    httpx.Response(302, headers={"location": "/login"}),
    httpx.Response(200, content=b"[" * 100_000)])
def test_what_is_no_reply_of_an_api_is_said(got: httpx.Response) -> None:
    with pytest.raises(ModelError, match="is the base URL right") as caught:
        reply_of(got, SERVER)
    assert caught.value.code == "MODEL_REPLY"


def test_a_reply_whose_error_is_null_is_a_reply() -> None:
    assert reply_of(response(200, {"error": None, "output": []}), SERVER)["output"] == []


def test_what_streams_stores_and_files_is_not_sent_again() -> None:
    chat = {"model": "m", "messages": [], "stream": True, "stream_options": {}, "store": True,
            "metadata": {"user": "u"}, "n": 3, "temperature": 0.5}
    kept = dict(chat)
    assert sendable("openai.chat", chat) == {"model": "m", "messages": [], "temperature": 0.5}
    assert chat == kept
    claude = {"model": "m", "messages": [], "stream": True, "metadata": {"user_id": "u"}}
    assert sendable("anthropic.messages", claude, "n") == {
        "model": "n", "messages": [], "metadata": {"user_id": "u"}}


@pytest.mark.parametrize(("request_", "store"), [
    ({"input": "Hi", "store": True}, False), ({"input": [], "background": True}, False),
    ({"input": [], "previous_response_id": "r1"}, None),
    ({"input": [{"type": "item_reference", "id": "x"}], "store": True}, True),
    ({"input": [{"type": "reasoning", "id": "x"}]}, None),
    ({"input": [{"type": "reasoning", "id": "x", "encrypted_content": "e"}]}, False)])
def test_replies_are_not_kept_by_the_provider_unless_it_must_look_something_up(
        request_: dict[str, Any], store: bool | None) -> None:
    sent = sendable("openai.responses", request_)
    assert sent.get("store") is store
    assert sent.get("previous_response_id") == request_.get("previous_response_id")
    assert "background" not in sent


def test_a_request_that_does_not_stand_by_itself_is_noted() -> None:
    assert notes({"messages": []}) == notes({"input": "Hi"}) == ()
    (note,) = notes({"input": [], "previous_response_id": "r1"})
    assert "not recorded" in note
    (note,) = notes({"input": [], "conversation": {"id": "c"}})
    assert "without what stands there" in note
    assert "conversation" not in sendable("openai.responses", {"conversation": "c"})
