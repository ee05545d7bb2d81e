"""A record as a document: its schema's name, its id, and the fields of one declared shape.

Matrices, histories and bundles are such documents. A certificate is one too, but has an envelope
of its own, because its items are interned (`record.certificate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar, cast

from agentrunproof import canonical, shape
from agentrunproof.errors import RecordError, ShapeError
from agentrunproof.shape import Digest, Text

T = TypeVar("T")

Version = Annotated[str, Text(r"[0-9]+(\.[0-9]+)*([a-z0-9.+\-]*[a-z0-9])?", "a version number")]


@dataclass(frozen=True, kw_only=True)
class Program:
    """Who made a record: this program, in that version."""

    version: Version



@dataclass(frozen=True)
class Document(Generic[T]):
    """One kind of document.

    Args:
        kind: what it is called, such as ``matrix``; its errors begin with that.
        shape: the dataclass of its fields.
        version: of the format.
    """

    kind: str
    shape: type[T]
    version: int = 1

    @property
    def name(self) -> str:
        """The schema's name, which stands in each document."""
        return f"agentrunproof/{self.kind}/{self.version}"

    def to_json(self, record: T) -> dict[str, Any]:
        """The JSON table of a record, its id included."""
        value: dict[str, Any] = {"schema": self.name, **shape.encode(record)}
        return value | {"id": id_of(value)}

    def to_bytes(self, record: T) -> bytes:
        """The content of a record's file: its canonical bytes and one line feed."""
        return canonical.dumps(self.to_json(record)) + b"\n"

    def from_json(self, value: Any) -> T:
        """Read a record's JSON table; its form is checked, its truth is not (see `checker`).

        Raises:
            RecordError: ``<KIND>_FORMAT``, ``<KIND>_ID``, or what `decode_exactly` says.
        """
        code = self.kind.upper()
        if not isinstance(value, dict) or value.get("schema") != self.name:
            found = value.get("schema") if isinstance(value, dict) else None
            raise RecordError(f"{code}_FORMAT", f"not a {self.kind}: its schema is {found!r:.80}, "
                              f"expected {self.name!r}")
        body = {key: item for key, item in value.items() if key not in ("schema", "id")}
        record: T = decode_exactly(self.shape, body, "")
        if value.get("id") != id_of(value):
            raise RecordError(f"{code}_ID", f"the id is not the digest of the {self.kind}'s "
                              "content", "the record was changed after it was made")
        return record

    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of such a document."""
        definitions: dict[str, Any] = {}
        table = shape.fields_schema(shape.fields_of(cast("Any", self.shape)), definitions)
        table["properties"] |= {"schema": {"const": self.name},
                                "id": shape.json_schema(Digest, definitions)}
        table["required"] += ["schema", "id"]
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": self.kind,
                **table, "$defs": definitions}


def id_of(value: dict[str, Any]) -> str:
    """The id that a document must carry: the digest of everything else in it."""
    return canonical.digest({key: item for key, item in value.items() if key != "id"})


def decode_exactly(annotation: type, value: Any, path: str) -> Any:
    """Decode a shape from its canonical form; any other form of the same meaning is refused.

    Raises:
        RecordError: ``RECORD_SHAPE`` or ``RECORD_EXPLICIT_DEFAULT``.
    """
    try:
        decoded = shape.decode(annotation, value, path)
    except ShapeError as problem:
        raise RecordError("RECORD_SHAPE", problem.message, problem.hint) from None
    if shape.encode(decoded) != value:
        raise RecordError("RECORD_EXPLICIT_DEFAULT", f"{path or 'top level'}: a field stands at "
                          "its default, which is left out")
    return decoded
