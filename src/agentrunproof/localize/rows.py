"""The rows of a data set's file: JSON, JSON lines, Parquet, or a page of Hugging Face's viewer."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from agentrunproof.errors import RecordError

_PARQUET = b"PAR1"


def of_file(data: bytes, name: str) -> Iterator[tuple[str, Any]]:
    """Each value, with where it stands.

    Args:
        data: the file's content.
        name: its name, for messages.

    Raises:
        RecordError: ``DATASET_SYNTAX``, ``DATASET_PARQUET``.
    """
    if data.startswith(_PARQUET):
        values = _parquet(data, name)
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise RecordError("DATASET_SYNTAX", f"{name}: not UTF-8 text") from None
        try:
            whole = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            yield from _lines(text, name)
            return
        if isinstance(whole, dict) and isinstance(whole.get("rows"), list):  # of the viewer
            whole = [one.get("row", one) if isinstance(one, dict) else one
                     for one in whole["rows"]]
        if not isinstance(whole, list):
            yield name, whole
            return
        values = whole
    for number, value in enumerate(values, 1):
        yield f"{name}: case {number}", value


def _lines(text: str, name: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError):
                raise RecordError("DATASET_SYNTAX", f"{name}:{number}: not JSON") from None
            yield f"{name}:{number}", value


def _parquet(data: bytes, name: str) -> list[Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise RecordError("DATASET_PARQUET", f"{name}: a Parquet file, and pyarrow is not "
                          "installed", "pip install 'agentrunproof[parquet]', or save the set as "
                          "JSON lines: Dataset.to_json") from None
    try:
        # with threads, some releases (18, 19, 21) abort at the end of the program
        return list(parquet.ParquetFile(io.BytesIO(data)).read(use_threads=False).to_pylist())
    except (ArrowException, OSError) as problem:
        raise RecordError("DATASET_SYNTAX", f"{name}: no Parquet file that can be read: "
                          f"{problem!s:.100}") from None
