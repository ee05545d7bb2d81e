"""What enters an event: plain JSON without clocks, addresses, paths and absent fields."""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from typing import Any

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_PYDANTIC_LINK = re.compile(r"\s*For further information visit \S+")
_LIMIT = 400  # characters of an error message


def plain(value: Any) -> Any:
    """JSON without nulls in tables and without floats (a float becomes its decimal text)."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return decimal(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(exclude_unset=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain({field.name: getattr(value, field.name)
                      for field in dataclasses.fields(value)})
    return type(value).__name__


def decimal(value: float) -> str:
    """The shortest decimal text of a float, without an exponent and without a final zero."""
    text = format(value, "f") if abs(value) >= 1e-6 or value == 0 else format(value, ".17f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def text(value: Any) -> str:
    """An output as text: strings as they are, structured values as compact JSON."""
    if isinstance(value, str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    elif hasattr(value, "model_dump"):
        value = value.model_dump()
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return type(value).__name__


def error(exc: BaseException) -> dict[str, str]:
    """An exception as {type, message}."""
    message = _PYDANTIC_LINK.sub("", str(exc))
    message = _ADDRESS.sub("0x", message).replace(tempfile.gettempdir(), "<tmp>")
    table = {"type": type(exc).__name__}
    if message:
        table["message"] = message[:_LIMIT]
    return table
