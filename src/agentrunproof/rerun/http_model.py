"""A model behind one of the APIs, asked over plain HTTP with the literal body."""

from __future__ import annotations

import json
import socket
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agentrunproof import __version__
from agentrunproof.errors import said
from agentrunproof.rerun.model import Body, ModelError, Tell, silent
from agentrunproof.rerun.replies import reply_of
from agentrunproof.rerun.retrying import Later, Retrying, Stop
from agentrunproof.rerun.sending import sendable
from agentrunproof.rerun.servers import Server

if TYPE_CHECKING:
    import httpx

#: Seconds for one try to reach a server.
_CONNECT = 4.0
#: What a proxy of the environment may be set for; none leads to this machine.
_ALL = ("http://", "https://", "all://")
#: The version of Anthropic's API, https://docs.anthropic.com/en/api/versioning
_ANTHROPIC = "2023-06-01"


@dataclass(eq=False)
class HttpModel:
    """A model behind one of the APIs.

    On another machine (it can be pickled) the key is read from that one's environment, and nobody
    is told of retries.

    Args:
        dialect: the API.
        model: its name there.
        server: where.
        deterministic: whether one rerun tells everything.
        retries: tries after the first, where the server can be reached.
        timeout: seconds to wait for one reply.
        patience: seconds for which a server that cannot be reached is tried.
        tell: takes the reasons for waiting.
        stop: ends waiting.
    """

    dialect: str
    model: str
    server: Server
    deterministic: bool
    retries: int
    timeout: int
    patience: int
    tell: Tell = silent
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    @property
    def name(self) -> str:
        return f"{self.model or 'the model there'} ({self.dialect})"

    @property
    def identity(self) -> str:
        return json.dumps([self.dialect, self.server.url, self.model])

    @property
    def local(self) -> bool:
        return self.server.local

    def ask(self, body: Body, /) -> Any:
        """The literal reply; see `Model`."""
        content = json.dumps(sendable(self.dialect, body, self.model or None)).encode()
        return Retrying(self.server.host, self.retries, self.patience, self.tell,
                        self.stop).until(lambda: self._attempt(content))

    def _attempt(self, content: bytes) -> dict[str, Any]:
        import httpx

        try:
            response = self._connected().post(self.server.url, content=content,
                                              headers=self._headers(),
                                              extensions={"trace": self._trace})
        except httpx.RequestError as error:
            raise self._failed(error) from error
        except RuntimeError as error:  # the client was closed from another thread
            raise ModelError("MODEL_STOPPED", f"{self.server.host}: given up") from error
        return reply_of(response, self.server)

    def _failed(self, error: httpx.RequestError) -> Exception:
        import httpx

        if isinstance(error, httpx.ConnectTimeout):
            return Later(f"no answer within {_CONNECT:.0f} s", unreachable=True)
        told = said(error) or type(error).__name__
        if "CERTIFICATE_VERIFY_FAILED" in told:
            return ModelError("MODEL_UNREACHABLE", f"{self.server.host}: {told}",
                              "its certificate is not trusted here (SSL_CERT_FILE)")
        if isinstance(error, httpx.ConnectError | httpx.ProxyError):
            return Later(told, unreachable=True)
        if isinstance(error, httpx.TimeoutException):
            return Later(f"no reply within {self.timeout} s")
        return Later(f"the connection broke off ({told})")

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json",
                   "user-agent": f"agentrunproof/{__version__}"}
        key = self.server.key()
        if self.dialect == "anthropic.messages":
            headers["anthropic-version"] = _ANTHROPIC
            return {**headers, "x-api-key": key} if key else headers
        return {**headers, "authorization": f"Bearer {key}"} if key else headers

    def _connected(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                try:
                    self._client = httpx.Client(
                        timeout=httpx.Timeout(self.timeout, connect=_CONNECT, pool=None),
                        limits=httpx.Limits(max_connections=None),
                        mounts=dict.fromkeys(_ALL) if self.server.local else None)
                except (ImportError, OSError, ValueError) as error:
                    raise ModelError("MODEL_CLIENT", f"the environment's proxy or certificates "
                                     f"cannot be used: {error}",
                                     "look at the variables *_PROXY and SSL_CERT_FILE") from error
            return self._client

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        """Remember the sockets, so that a wait for a reply can be ended."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._lock:
                self._sockets.add(info["return_value"].get_extra_info("socket"))
            if self.stop.ended:
                self._hang_up()

    def _hang_up(self) -> None:
        with self._lock:
            for one in self._sockets:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give up what is under way: threads that wait for a reply get a `ModelError`."""
        self.stop.set()
        self._hang_up()
        with self._lock:
            if self._client is not None:
                self._client.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _on_a_cluster, (self.dialect, self.model, self.server, self.deterministic,
                               self.retries, self.timeout, self.patience)


@lru_cache(maxsize=8)
def _on_a_cluster(*arguments: Any) -> HttpModel:
    """A pickled model again; tasks of one worker share it, and its connections."""
    return HttpModel(*arguments)
