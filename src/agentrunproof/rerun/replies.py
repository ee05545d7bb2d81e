"""What an HTTP response to a request means: a reply, try again, or never so."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Protocol

from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.retrying import Later
from agentrunproof.rerun.servers import Server

#: So much of what a server says is shown.
_SHOWN = 300
#: Responses that ask for another try, besides all 5xx: timeout, conflict, too many requests.
_LATER = {408, 409, 425, 429}
#: Of those, the ones that waiting does not mend.
_NEVER = ("insufficient_quota", "billing_not_active")


class Response(Protocol):
    """What is needed of httpx's."""

    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Any: ...
    @property
    def content(self) -> bytes: ...


def reply_of(response: Response, server: Server) -> dict[str, Any]:
    """The literal reply.

    Raises:
        Later: another try may succeed.
        ModelError: ``MODEL_REFUSED``: none can; ``MODEL_REPLY``: it is no reply of such an API.
    """
    body = _table(response.content)
    error = (body or {}).get("error")
    status = response.status_code
    if status >= 400 or error or (body or {}).get("status") == "failed":
        _raise(response, error, server)
    if body is None or status >= 300:
        kind = response.headers.get("content-type") or "nothing"
        raise ModelError("MODEL_REPLY", f"{server.host} sent {_status(status)} with {kind:.60}, "
                         "not a reply of the API", "is the base URL right?")
    return body


def _raise(response: Response, error: Any, server: Server) -> None:
    status = response.status_code
    details = error if isinstance(error, dict) else {"message": error}
    code = str(details.get("code") or details.get("type") or "")
    said = _said(details.get("message"), server) if status != 401 else ""  # it quotes the key
    reason = _status(status) if status >= 400 else f"the server reports {code or 'an error'}"
    if (status in _LATER or status >= 500 or status < 400) and code not in _NEVER:
        raise Later(reason, _wait(response.headers))
    if details.get("param"):
        said = f"{said} (parameter {details['param']!s:.60})".lstrip()
    raise ModelError("MODEL_REFUSED", f"{server.host}: {reason}" + (f": {said}" if said else ""),
                     _hint(status, code, server))


def _hint(status: int, code: str, server: Server) -> str:
    if code in _NEVER:
        return "the account has no credit left"
    if status in (401, 403):
        return (f"is the key in {server.key_variable} right?" if server.key_variable
                else "name the variable of its key with --key-variable")
    if status == 404:
        return "is the name of the model right, and the base URL? (--model, --base-url)"
    if status == 413:
        return "the request is too large for this server"
    return "the request was recorded so; ask another model with --model"


def _said(message: Any, server: Server) -> str:
    text = " ".join(str(message or "").split())[:_SHOWN]
    key = server.key()
    return text.replace(key, "***") if key else text


def _status(status: int) -> str:
    with suppress(ValueError):
        return f"{status} {HTTPStatus(status).phrase}"
    return f"{status} Overloaded" if status == 529 else f"status {status}"


def _wait(headers: Any) -> float | None:
    """The seconds that a server asks for: as such, in milliseconds, or as a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) / unit)
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, TypeError, ValueError):
        return None
    try:
        now = parsedate_to_datetime(headers["date"])
    except (KeyError, TypeError, ValueError):
        now = datetime.now(timezone.utc)
    try:
        return max(0.0, (until - now).total_seconds())
    except TypeError:  # one of them names no time zone
        return None


def _table(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
