"""Which server is asked, and which key goes there.

A key goes only where the user means it to: to the provider's own server, to the one in
``OPENAI_BASE_URL`` or ``ANTHROPIC_BASE_URL``, to a ``--base-url``; elsewhere (a server that a
recorded run names) only if its variable is named.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from agentrunproof.record import dialects
from agentrunproof.rerun.model import ModelError

_LOCAL_ENDINGS = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


@dataclass(frozen=True)
class _Provider:
    url: str
    base_variable: str
    key_variable: str
    prefix: str  # what a base URL lacks before the dialect's own path


_OPENAI = _Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", "")
_PROVIDERS = {
    "openai.chat": _OPENAI, "openai.responses": _OPENAI,
    "anthropic.messages": _Provider("https://api.anthropic.com", "ANTHROPIC_BASE_URL",
                                    "ANTHROPIC_API_KEY", "/v1")}


@dataclass(frozen=True)
class Server:
    """Where requests go.

    Args:
        url: that they are posted to.
        host: with the port, if one is given: for people.
        local: whether it is this machine or a neighbour.
        key_variable: the environment variable with the key; empty if none is sent.
    """

    url: str
    host: str
    local: bool
    key_variable: str

    def key(self) -> str:
        """The key, read anew from the environment; empty if none is sent.

        Raises:
            ModelError: ``MODEL_KEY``: there is none, or none that could be sent.
        """
        if not self.key_variable:
            return ""
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise ModelError("MODEL_KEY", f"{self.host}: there is no key in {self.key_variable}",
                             f"set {self.key_variable}, or name another with --key-variable; "
                             "--model python:FILE.py:FUNCTION needs none")
        if not key.isascii() or not key.isprintable():
            raise ModelError("MODEL_KEY", f"what is in {self.key_variable} is no key",
                             "a key is printable ASCII")
        return key


def server_of(dialect: str, *, endpoint: str = "", base_url: str | None = None,
              key_variable: str | None = None) -> Server:
    """The server for requests of a dialect.

    Args:
        dialect: one of `record.dialects.NAMES`.
        endpoint: the URL that was recorded, if it was.
        base_url: what the user names instead.
        key_variable: the variable with the key that the user names.

    Raises:
        ModelError: ``MODEL_URL``, ``MODEL_KEY``.
    """
    provider = _PROVIDERS[dialect]
    own = os.environ.get(provider.base_variable)
    chosen = base_url or endpoint or own or provider.url
    source = "--base-url" if base_url else "the recorded endpoint" if endpoint else (
        provider.base_variable)
    parts = _split(chosen, source)
    local = is_local(parts.hostname or "")
    meant = {_origin(_split(url, name)) for url, name in
             ((provider.url, ""), (own, provider.base_variable)) if url}
    if key_variable is None:
        if _origin(parts) in meant or (base_url and not local):
            needed = not local or os.environ.get(provider.key_variable)
            key_variable = provider.key_variable if needed else ""
        elif local:
            key_variable = ""
        else:
            raise ModelError(
                "MODEL_KEY", f"{parts.netloc}: no key is sent there unless you say so",
                "name its variable with --key-variable, or another server with --base-url")
    server = Server(_posted_to(chosen, dialect, provider), parts.netloc, local, key_variable)
    server.key()
    return server


def is_local(host: str) -> bool:
    """Whether a host is this machine, or one of a private network, by its name or address."""
    name = host.lower().rstrip(".")
    try:
        address = ip_address(name.split("%")[0])
    except ValueError:
        return "." not in name or name.endswith(_LOCAL_ENDINGS)
    return address.is_private or address.is_loopback or address.is_link_local


def _split(url: str, source: str) -> SplitResult:
    problem = ""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        problem = str(error)
    else:
        if parts.scheme not in ("http", "https") or not parts.hostname:
            problem = "it is no http or https address"
        elif "@" in parts.netloc:
            problem = "it holds a name or password"
        elif parts.query or parts.fragment:
            problem = "it has a query"
    if problem:  # the address is not shown where it may hold a secret
        shown = "" if "@" in url or "?" in url else f" {url!r:.80}"
        raise ModelError("MODEL_URL", f"{source}{shown}: {problem}",
                         "write it as in http://localhost:11434/v1; keys are in variables")
    return parts


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or {"https": 443}.get(parts.scheme, 80)


def _posted_to(url: str, dialect: str, provider: _Provider) -> str:
    base = url.rstrip("/")
    if dialects.of_path(base) == dialect:
        return base
    if provider.prefix and base.endswith(provider.prefix):
        base = base.removesuffix(provider.prefix)
    return base + provider.prefix + dialects.path_of(dialect)
