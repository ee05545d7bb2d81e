"""Models behind the APIs, asked over the wire of a server on loopback."""

from __future__ import annotations

import pickle
import socket
import threading
from dataclasses import replace
from typing import Any

import pytest

from agentrunproof.record import dialects
from agentrunproof.rerun.http_model import HttpModel
from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.models import ModelOptions, model_for
from tests.rerun.servers import DIALECTS, OurTime, body, rule
from tests.wire import Wire, serving


def http_model(wire: Wire, dialect: str = "openai.chat", request: dict[str, Any] | None = None,
               tell: Any = None, **options: Any) -> HttpModel:
    model = model_for(dialect, request or body(dialect), ModelOptions(
        base_url=wire.url, **options), tell or (lambda line: None))
    assert isinstance(model, HttpModel)
    return model


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_api_is_asked_with_the_literal_body_and_its_reply_is_read(dialect: str) -> None:
    request = body(dialect, tools=[{"name": "x"}], seed=7)
    with serving(rule) as wire:
        model = http_model(wire, dialect)
        reply = model.ask(request)
        model.close()
    (path, sent), = wire.requests
    assert dialects.of_path(path) == dialect
    assert {key: sent[key] for key in request} == request
    assert set(sent) - set(request) <= {"store"}
    assert reply == wire.sent[0]
    assert dialects.decision(dialect, reply)["tool_calls"][0]["name"] == "pay"


def test_no_proxy_stands_before_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(rule) as wire:
        model = replace(http_model(wire, patience=0), stop=OurTime())
        assert model.ask(body("openai.chat")) == wire.sent[0]
        model.close()


def test_a_proxy_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:9")
    with serving(rule) as wire:
        with pytest.raises(ModelError, match="proxy or certificates cannot be used") as caught:
            http_model(wire).ask(body("openai.chat"))
        assert wire.requests == []
    assert caught.value.code == "MODEL_CLIENT"


def test_another_model_can_be_named() -> None:
    with serving(rule) as wire:
        model = http_model(wire, model="m-2")
        model.ask(body("openai.chat"))
        model.close()
    assert wire.requests[0][1]["model"] == "m-2"
    assert model.name == "m-2 (openai.chat)"


def test_what_passes_is_tried_again_and_each_reason_is_told() -> None:
    answers = iter([503, 429, 500])
    told: list[str] = []
    with serving(lambda request: next(answers, rule(request))) as wire:
        model = replace(http_model(wire, tell=told.append), stop=OurTime())
        model.ask(body("openai.chat"))
        model.close()
    assert len(wire.requests) == 4
    assert told == ["503 Service Unavailable, again in 1 s (1 of 5)",
                    "429 Too Many Requests, again in 2 s (2 of 5)",
                    "500 Internal Server Error, again in 4 s (3 of 5)"]


def test_retries_end() -> None:
    with serving(lambda request: 500) as wire:
        model = replace(http_model(wire, retries=2), stop=OurTime())
        with pytest.raises(ModelError, match="500 Internal Server Error, 3 times") as caught:
            model.ask(body("openai.chat"))
        model.close()
    assert caught.value.code == "MODEL_SPENT"
    assert len(wire.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_cannot_be_mended_is_asked_once(status: int) -> None:
    with serving(lambda request: status) as wire:
        model = http_model(wire)
        with pytest.raises(ModelError, match=f"{status} ") as caught:
            model.ask(body("openai.chat"))
        model.close()
    assert caught.value.code == "MODEL_REFUSED"
    assert "\n" not in str(caught.value)
    assert len(wire.requests) == 1


def test_an_unreachable_server_is_said_and_said_again_until_patience_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    told: list[str] = []
    model = replace(model_for("openai.chat", body("openai.chat"), ModelOptions(
        base_url=f"http://127.0.0.1:{port}"), told.append), stop=OurTime())  # type: ignore[type-var]
    with pytest.raises(ModelError, match=f"127.0.0.1:{port} cannot be reached") as caught:
        model.ask(body("openai.chat"))
    assert caught.value.code == "MODEL_UNREACHABLE"
    assert "cannot be reached" in told[0]
    assert told[1:4] == [f"127.0.0.1:{port}: still unreachable after {n} s" for n in (1, 3, 7)]
    assert all(wait <= 8 for wait in model.stop.waits)
    assert 60 <= model.stop.time < 70


def test_a_server_that_comes_up_is_asked() -> None:
    with serving(rule) as wire:
        port = int(wire.url.rpartition(":")[2])
        gone = replace(http_model(wire), stop=OurTime())
    lines: list[str] = []

    class ComesUp(OurTime):
        def wait(self, seconds: float) -> bool:
            if not servers:
                servers.append(socket.create_server(("127.0.0.1", port)))
                threading.Thread(target=_reply_once, args=(servers[0],)).start()
            return super().wait(seconds)

    servers: list[socket.socket] = []
    model = replace(gone, stop=ComesUp(), tell=lines.append)
    assert model.ask(body("openai.chat")) == {"text": "up"}
    model.close()
    servers[0].close()
    assert len(lines) == 1


def _reply_once(server: socket.socket) -> None:
    with server.accept()[0] as connection:
        connection.recv(65536)
        content = b'{"text": "up"}'
        connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
                           % (len(content), content))


def test_closing_a_model_ends_a_wait_for_a_reply() -> None:
    asked, ended = threading.Event(), threading.Event()
    errors: list[Exception] = []

    def stuck(request: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        ended.wait(30)
        return rule(request)

    def ask() -> None:
        try:
            model.ask(body("openai.chat"))
        except ModelError as error:
            errors.append(error)

    with serving(stuck) as wire:
        model = http_model(wire)
        thread = threading.Thread(target=ask)
        thread.start()
        assert asked.wait(30)
        model.close()
        thread.join(30)
        ended.set()
    assert not thread.is_alive()
    assert [error.code for error in errors] == ["MODEL_STOPPED"]  # type: ignore[attr-defined]


def test_a_broken_connection_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve() -> None:
            server.accept()[0].close()
            _reply_once(server)

        thread = threading.Thread(target=serve)
        thread.start()
        told: list[str] = []
        model = HttpModel("openai.chat", "m", model_for("openai.chat", body("openai.chat"),
                          ModelOptions(base_url=f"http://127.0.0.1:{server.getsockname()[1]}")
                          ).server, False, 5, 30, 60, told.append,  # type: ignore[attr-defined]
                          OurTime())
        assert model.ask(body("openai.chat")) == {"text": "up"}
        model.close()
        thread.join()
    assert len(told) == 1
    assert told[0].startswith("the connection broke off")


def test_the_key_goes_to_the_server_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "sk-very-secret")
    told: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        heads: list[bytes] = []

        def serve() -> None:
            with server.accept()[0] as connection:
                heads.append(connection.recv(65536))
                content = b'{"error": {"message": "sk-very-secret is no key", "code": "bad"}}'
                connection.sendall(b"HTTP/1.1 403 No\r\ncontent-length: %d\r\n\r\n%s"
                                   % (len(content), content))

        thread = threading.Thread(target=serve)
        thread.start()
        model = model_for("anthropic.messages", body("anthropic.messages"), ModelOptions(
            base_url=f"http://127.0.0.1:{server.getsockname()[1]}", key_variable="OURS"),
            told.append)
        with pytest.raises(ModelError) as caught:
            model.ask(body("anthropic.messages"))
        model.close()
        thread.join()
    assert b"x-api-key: sk-very-secret" in heads[0].lower()
    assert "secret" not in f"{caught.value}{told}{model.identity}{model.name}{model!r}"
    assert b"secret" not in pickle.dumps(model)


def test_a_pickled_model_asks_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(rule) as wire:
        first = http_model(wire)
        again = pickle.loads(pickle.dumps(first))
        reply = again.ask(body("openai.chat"))
        again.close()
        first.close()
    assert dialects.decision("openai.chat", reply)["tool_calls"]
    assert (again.name, again.identity, again.deterministic) == (
        first.name, first.identity, first.deterministic)


@pytest.mark.parametrize(("said", "temperature", "is_so"), [
    (None, 0, True), (None, 0.0, True), (None, 0.7, False), (False, 0, False), (True, 1, True)])
def test_temperature_0_is_deterministic_unless_the_user_says_otherwise(
        said: bool | None, temperature: float, is_so: bool) -> None:
    with serving(rule) as wire:
        request = body("openai.chat", temperature=temperature)
        assert http_model(wire, request=request, deterministic=said).deterministic is is_so
        assert not http_model(wire).deterministic
