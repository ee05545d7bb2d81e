"""API clients are recorded at the wire: the bytes that they send and receive.

OpenAI's and Anthropic's clients, sync and async, hold an httpx client and do everything through
its ``send``: create, parse, streams, raw responses, retries. That one method is tapped, on the
instance. So the recorded body is the literal one, whatever helper made it, and a server that
speaks one of these APIs under another ``base_url`` is recorded as well. Streams are handed on chunk
by chunk, as they come, and looked at when they end. Headers are never looked at.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from agentrunproof.errors import RecordError
from agentrunproof.record import dialects
from agentrunproof.recorders.calls import ModelCall

if TYPE_CHECKING:
    from agentrunproof.recorders.tape import Tape

_EVENT_STREAM = "text/event-stream"
#: So much of an error's body is kept.
_ERROR_TEXT = 2000


def tap(tape: Tape, client: Any) -> None:
    """Record what a client sends and receives until the run ends.

    Raises:
        RecordError: ``RECORDER_CLIENT``: it holds no httpx client.
    """
    http = http_client(client)
    if http is None:
        raise RecordError("RECORDER_CLIENT", f"wrap: {type(client).__name__} is no client of "
                          "OpenAI, Anthropic or httpx", "record other models with rec.model_call")
    if isinstance(vars(http).get("send"), _Tap):
        found = vars(http)["send"]
    else:
        found = http.send = (_AsyncTap if hasattr(http, "aclose") else _Tap)(http.send)
    if tape not in found.tapes:
        found.tapes.append(tape)
        tape.on_close(lambda: _untap(http, found, tape))


def http_client(client: Any) -> Any:
    """The httpx client that an API client sends with, or None."""
    for candidate in (client, getattr(client, "_client", None)):
        if candidate is not None and _is_httpx(type(candidate)):
            return candidate
    return None


def _is_httpx(kind: type) -> bool:
    return any(base.__module__.split(".")[0] in ("httpx", "httpx2")
               and base.__name__ in ("Client", "AsyncClient") for base in kind.__mro__)


def _untap(http: Any, found: _Tap, tape: Tape) -> None:
    found.tapes.remove(tape)
    if not found.tapes and vars(http).get("send") is found:
        del http.send


def _endpoint(url: Any) -> str:
    """An httpx URL without user, password and query."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}{url.path}"


class _Tap:
    """Stands in for an httpx client's ``send``."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self.send = send
        self.tapes: list[Tape] = []

    def __call__(self, request: Any, **options: Any) -> Any:
        exchange = _Exchange(self.tapes, request)
        try:
            response = self.send(request, **options)
        except BaseException as error:
            exchange.failed(error)
            raise
        exchange.answered(response, bool(options.get("stream")))
        return response


class _AsyncTap(_Tap):
    """The same for an asynchronous one."""

    async def __call__(self, request: Any, **options: Any) -> Any:
        exchange = _Exchange(self.tapes, request)
        try:
            response = await cast("Awaitable[Any]", self.send(request, **options))
        except BaseException as error:
            exchange.failed(error)
            raise
        exchange.answered(response, bool(options.get("stream")))
        return response


class _Exchange:
    """One request and what came of it, for each tape. Nothing in here raises."""

    def __init__(self, tapes: list[Tape], request: Any) -> None:
        self.tapes = list(tapes)
        self.calls: list[ModelCall] = []
        self.dialect = ""
        self._safely(lambda: self._begin(request))

    def _begin(self, request: Any) -> None:
        dialect = dialects.of_path(request.url.path)
        if request.method == "POST" and dialect is not None:
            self.dialect = dialect
            endpoint = _endpoint(request.url)
            self.calls = [ModelCall(tape, dialect, request.content, endpoint=endpoint)
                          for tape in self.tapes if not tape.scope().asking]

    def failed(self, error: BaseException) -> None:
        """The request came to nothing."""
        for call in self.calls:
            call.failed(error)

    def answered(self, response: Any, streamed: bool) -> None:
        """A response is there; if it is streamed, its body is still to come."""
        if self.calls and streamed:
            self._safely(lambda: self._listen(response))
        elif self.calls:
            self._read(response, response.content)

    def _listen(self, response: Any) -> None:
        copy = _Copy(response, self._read)
        copy.iter_bytes, copy.aiter_bytes = response.iter_bytes, response.aiter_bytes
        copy.close, copy.aclose = response.close, response.aclose
        response.iter_bytes, response.aiter_bytes = copy.copied, copy.acopied
        response.close, response.aclose = copy.closed, copy.aclosed

    def _read(self, response: Any, body: bytes) -> None:
        """The body is complete, or nobody will read the rest of it."""
        if not self.calls[0].ended:
            self._safely(lambda: self._decode(response, body))

    def _decode(self, response: Any, body: bytes) -> None:
        if response.status_code >= 400:
            text = body[:_ERROR_TEXT].decode("utf-8", "replace")
            for call in self.calls:
                call.failed({"type": f"HTTP {response.status_code}", "message": text})
            return
        partial = False
        if _EVENT_STREAM in response.headers.get("content-type", ""):
            reply, whole = dialects.replied(self.dialect, dialects.events_of(body))
            partial = not whole
        elif body:
            reply = json.loads(body)
        else:
            reply, partial = {}, True
        for call in self.calls:
            call.returned(reply, partial=partial)

    def _safely(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            for tape in self.tapes:
                tape.trouble(error)


class _Copy:
    """Copies a streamed body while it is handed on, and gives the copy away at the end.

    Args:
        response: the response.
        read: takes it and its body.
    """

    iter_bytes: Callable[..., Any]
    aiter_bytes: Callable[..., Any]
    close: Callable[[], None]
    aclose: Callable[[], Awaitable[None]]

    def __init__(self, response: Any, read: Callable[[Any, bytes], None]) -> None:
        self._response = response
        self._read = read
        self._chunks: list[bytes] = []
        self._fetching = False  # httpx closes a response while the last chunk is on its way

    def copied(self, *args: Any, **kwargs: Any) -> Iterator[bytes]:
        chunks = self.iter_bytes(*args, **kwargs)
        self._fetching = True
        try:
            for chunk in chunks:
                self._chunks.append(chunk)
                self._fetching = False
                yield chunk
                self._fetching = True
        finally:
            self._end()
            chunks.close()

    async def acopied(self, *args: Any, **kwargs: Any) -> AsyncIterator[bytes]:
        chunks = self.aiter_bytes(*args, **kwargs)
        self._fetching = True
        try:
            async for chunk in chunks:
                self._chunks.append(chunk)
                self._fetching = False
                yield chunk
                self._fetching = True
        finally:
            self._end()
            await chunks.aclose()

    def closed(self) -> None:
        if not self._fetching:
            self._end()
        self.close()

    async def aclosed(self) -> None:
        if not self._fetching:
            self._end()
        await self.aclose()

    def _end(self) -> None:
        self._read(self._response, b"".join(self._chunks))
