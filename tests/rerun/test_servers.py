"""Which server is asked, and which key goes there."""

from __future__ import annotations

import pytest

from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.servers import is_local, server_of

VARIABLES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-o")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-a")


@pytest.mark.parametrize(("dialect", "url", "key"), [
    ("openai.chat", "https://api.openai.com/v1/chat/completions", "sk-o"),
    ("openai.responses", "https://api.openai.com/v1/responses", "sk-o"),
    ("anthropic.messages", "https://api.anthropic.com/v1/messages", "sk-a")])
@pytest.mark.usefixtures("keys")
def test_without_a_word_the_provider_is_asked(dialect: str, url: str, key: str) -> None:
    server = server_of(dialect)
    assert (server.url, server.key(), server.local) == (url, key, False)


@pytest.mark.parametrize(("dialect", "base", "url"), [
    ("openai.chat", "http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
    ("openai.chat", "http://localhost:1/v1/chat/completions",
     "http://localhost:1/v1/chat/completions"),
    ("openai.responses", "http://[::1]:80/v1/", "http://[::1]:80/v1/responses"),
    ("anthropic.messages", "http://box:1", "http://box:1/v1/messages"),
    ("anthropic.messages", "http://box:1/v1", "http://box:1/v1/messages")])
def test_a_base_url_is_completed_and_a_local_server_needs_no_key(dialect: str, base: str,
                                                                 url: str) -> None:
    server = server_of(dialect, base_url=base)
    assert (server.url, server.local, server.key()) == (url, True, "")


def test_the_base_url_goes_before_the_recorded_one_and_that_before_the_variable(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:3/v1")
    recorded = "http://localhost:2/v1/chat/completions"
    hosts = [server_of("openai.chat", endpoint=recorded, base_url="http://localhost:1").host,
             server_of("openai.chat", endpoint=recorded).host, server_of("openai.chat").host]
    assert hosts == ["localhost:1", "localhost:2", "localhost:3"]


@pytest.mark.usefixtures("keys")
def test_a_key_is_not_sent_to_a_server_that_only_the_record_names() -> None:
    endpoint = "https://collects.example.com/v1/chat/completions"
    with pytest.raises(ModelError, match="no key is sent there unless you say so") as caught:
        server_of("openai.chat", endpoint=endpoint)
    assert caught.value.code == "MODEL_KEY"
    assert server_of("openai.chat", endpoint=endpoint, key_variable="OPENAI_API_KEY").key()
    assert server_of("openai.chat", endpoint="http://127.0.0.1:1/chat/completions").key() == ""


@pytest.mark.usefixtures("keys")
def test_a_key_goes_to_the_servers_that_the_user_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_of("openai.chat", base_url="https://llm.example.com/v1").key() == "sk-o"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:4000/v1")
    assert server_of("openai.chat").key() == "sk-o"
    assert server_of("openai.chat", endpoint="http://localhost:4000/v1/chat/completions"
                     ).key() == "sk-o"


@pytest.mark.parametrize(("value", "variable", "message"), [
    (None, None, "no key in OPENAI_API_KEY"), ("  ", None, "no key in OPENAI_API_KEY"),
    (None, "MINE", "no key in MINE"), ("sk-\u00e9", None, "is no key"),
    ("a\nb", None, "is no key")])
def test_a_missing_key_is_said_before_anything_is_asked(
        monkeypatch: pytest.MonkeyPatch, value: str | None, variable: str | None,
        message: str) -> None:
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(ModelError, match=message) as caught:
        server_of("openai.chat", key_variable=variable)
    assert caught.value.code == "MODEL_KEY"
    assert value is None or not value.strip() or value not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x/v1", "localhost:1/v1", "http://", "http://x:port/v1",
                                 "https://me:secret@x/v1", "https://x/v1?key=secret", "http://[x"])
def test_a_bad_base_url_names_the_option_and_shows_no_secret(url: str) -> None:
    with pytest.raises(ModelError, match=r"^--base-url") as caught:
        server_of("openai.chat", base_url=url)
    assert caught.value.code == "MODEL_URL"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("host", "local"), [
    ("localhost", True), ("127.0.0.2", True), ("::1", True), ("10.1.2.3", True),
    ("192.168.0.9", True), ("gpu-box", True), ("box.local", True), ("host.docker.internal", True),
    ("api.openai.com", False), ("8.8.8.8", False), ("2001:4860:4860::8888", False),
    ("local.example.com", False)])
def test_what_is_local(host: str, local: bool) -> None:
    assert is_local(host) is local
