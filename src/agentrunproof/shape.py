"""Declared shapes: frozen dataclasses <-> strict JSON, and their JSON Schema.

One declaration serves three readers: `decode` turns JSON into the dataclass or says exactly what
was expected where, `encode` writes the one canonical JSON form of it (a field that equals its
default is left out), and `json_schema` publishes the same rule as JSON Schema 2020-12. A record
that says the same thing in another way (an explicit default, say) therefore has no valid form.

Standard library only: the SDK worker reads plans with this module inside any release's
environment.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from agentrunproof.errors import ShapeError

T = TypeVar("T")

MAX_INT = 2**53 - 1  # RFC 8785, 3.2.2.3: beyond it, numbers are not exact everywhere


@dataclass(frozen=True)
class Text:
    """A constraint on a string: the whole of it must match `pattern`."""

    pattern: str
    meaning: str


@dataclass(frozen=True)
class Range:
    """A constraint on an integer: `low` to `high`, both included."""

    low: int
    high: int = MAX_INT


@dataclass(frozen=True)
class Field:
    """One declared field: its name in JSON, its type, and its default if it has one."""

    name: str
    annotation: Any
    required: bool
    default: Any = None


Name = Annotated[str, Text(r"[A-Za-z][A-Za-z0-9_.\-]*", "a name (letters, digits, . _ -)")]
Decimal = Annotated[str, Text(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", 'a decimal such as "0.5"')]
Count = Annotated[int, Range(0)]
Positive = Annotated[int, Range(1)]
Digest = Annotated[str, Text(r"sha256:[0-9a-f]{64}", "sha256: and 64 hex digits")]


@cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """The declared fields of a dataclass; a trailing underscore is not part of the JSON name."""
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for item in dataclasses.fields(cls):
        default: Any = item.default
        if item.default_factory is not dataclasses.MISSING:
            default = item.default_factory()
        required = default is dataclasses.MISSING
        name = item.name.rstrip("_")
        found.append(Field(name, hints[item.name], required, None if required else default))
    return tuple(found)


def decode(annotation: Any, value: Any, path: str = "") -> Any:
    """Check `value` (parsed JSON) against `annotation` and build what it declares.

    Args:
        annotation: a dataclass, ``str``, ``int``, ``bool``, ``Literal[...]``, ``tuple[T, ...]``,
            ``dict[str, T]``, ``T | None``, ``Any``, or one of them ``Annotated``.
        value: what `agentrunproof.canonical.parse` or a TOML parser returned.
        path: where the value stands, for the message.

    Raises:
        ShapeError: with the path, what was expected and what was found.
    """
    return _decoder(annotation)(value, path)


_Decoder = Callable[[Any, str], Any]


@cache
def _decoder(annotation: Any) -> _Decoder:
    """The function that decodes `annotation`; looking at the annotation is the slow part."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _constrained(*get_args(annotation))
    if origin in (Union, types.UnionType):
        return _optional(annotation)
    if origin is Literal:
        return _one_of(get_args(annotation))
    if origin is tuple:
        return _list_of(_decoder(get_args(annotation)[0]))
    if origin is dict:
        return _table_of(*(_decoder(arg) for arg in get_args(annotation)))
    if annotation is Any:
        return lambda value, path: value
    if dataclasses.is_dataclass(annotation):
        assert isinstance(annotation, type)
        return _instance_of(annotation)
    return _integer if annotation is int else _plain(annotation)


def _constrained(inner: Any, *constraints: object) -> _Decoder:
    decode_inner = _decoder(inner)

    def decoder(value: Any, path: str) -> Any:
        result = decode_inner(value, path)
        for constraint in constraints:
            _constrain(constraint, result, path)
        return result

    return decoder


def _optional(annotation: Any) -> _Decoder:
    inner = [arg for arg in get_args(annotation) if arg is not type(None)]
    assert len(inner) == 1, annotation
    decode_inner = _decoder(inner[0])

    def decoder(value: Any, path: str) -> Any:
        if value is None:
            # The canonical form leaves an absent field out, so null says nothing that may be said.
            raise ShapeError("SHAPE_NULL", path, "null stands for nothing here",
                             "leave the key out")
        return decode_inner(value, path)

    return decoder


def _one_of(words: tuple[str, ...]) -> _Decoder:
    def decoder(value: Any, path: str) -> Any:
        if not isinstance(value, str) or value not in words:
            raise _expected("one of " + ", ".join(words), value, path, nearest(value, words))
        return value

    return decoder


def _list_of(decode_inner: _Decoder) -> _Decoder:
    def decoder(value: Any, path: str) -> Any:
        if not isinstance(value, list | tuple):
            raise _expected("a list", value, path)
        return tuple(decode_inner(item, f"{path}[{n}]") for n, item in enumerate(value))

    return decoder


def _table_of(decode_key: _Decoder, decode_inner: _Decoder) -> _Decoder:
    def decoder(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _expected("a table", value, path)
        return {decode_key(key, path): decode_inner(item, join(path, key))
                for key, item in value.items()}

    return decoder


def _instance_of(cls: type) -> _Decoder:
    what = getattr(cls, "SHAPE_NAME", cls.__name__.lower())
    decode_table = table_decoder(fields_of(cls), what)
    names = [raw.name for raw in dataclasses.fields(cls)]

    def decoder(value: Any, path: str) -> Any:
        return cls(**dict(zip(names, decode_table(value, path).values(), strict=True)))

    return decoder


def _plain(kind: Any) -> _Decoder:
    def decoder(value: Any, path: str) -> Any:
        if not isinstance(value, kind):
            raise _expected(_WORDS[kind], value, path)
        return value

    return decoder


def _integer(value: Any, path: str) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _expected("an integer", value, path)
    if abs(value) > MAX_INT:
        raise ShapeError("SHAPE_RANGE", path, "an integer beyond 2^53 - 1")
    return value


def table_decoder(fields: Iterable[Field], what: str) -> Callable[[Any, str], dict[str, Any]]:
    """A function that decodes a table with a fixed set of fields, in their order.

    Absent optional fields get their default; `what` says in messages whose keys they are.
    """
    known = {field.name: (field, _decoder(field.annotation)) for field in fields}

    def decode_table(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _expected("a table", value, path)
        for key in value:
            if key not in known:
                raise ShapeError("SHAPE_UNKNOWN_KEY", join(path, key), f"unknown key in {what}",
                                 nearest(key, known) or "known keys: " + ", ".join(sorted(known)))
        result = {}
        for name, (field, decode_field) in known.items():
            if name in value:
                result[name] = decode_field(value[name], join(path, name))
            elif field.required:
                raise ShapeError("SHAPE_MISSING_KEY", join(path, name),
                                 f"required key of {what} is missing")
            else:
                result[name] = field.default
        return result

    return decode_table


def encode(value: Any) -> Any:
    """The canonical JSON form: dataclasses become tables without the fields left at default."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        table = {}
        for field, raw in zip(fields_of(type(value)), dataclasses.fields(value), strict=True):
            item = getattr(value, raw.name)
            if field.required or item != field.default:
                table[field.name] = encode(item)
        return table
    return value


def join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def nearest(word: object, known: Iterable[str]) -> str:
    """``did you mean 'x'?`` for the known word nearest to `word`, or the empty string."""
    close = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""


def _constrain(constraint: object, value: Any, path: str) -> None:
    if isinstance(constraint, Text) and not re.fullmatch(constraint.pattern, value):
        raise _expected(constraint.meaning, value, path)
    if isinstance(constraint, Range) and not constraint.low <= value <= constraint.high:
        upper = "" if constraint.high == MAX_INT else f" to {constraint.high}"
        raise _expected(f"an integer from {constraint.low}{upper}", value, path)


_WORDS: dict[Any, str] = {str: "a string", bool: "true or false"}


def _expected(what: str, value: object, path: str, hint: str = "") -> ShapeError:
    if isinstance(value, dict):
        found = "a table"
    elif isinstance(value, list | tuple):
        found = "a list"
    elif value is None:
        found = "null"
    else:
        text = repr(value)
        found = text if len(text) <= 60 else text[:57] + "..."
    return ShapeError("SHAPE_TYPE", path, f"expected {what}, found {found}", hint)


def json_schema(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of `annotation`; dataclasses are collected in `definitions`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *constraints = get_args(annotation)
        schema = json_schema(inner, definitions)
        for constraint in constraints:
            schema = schema | _constraint_schema(constraint)
        return schema
    if origin in (Union, types.UnionType):
        inner = next(arg for arg in get_args(annotation) if arg is not type(None))
        return json_schema(inner, definitions)
    if origin is Literal:
        return {"enum": list(get_args(annotation))}
    if origin is tuple:
        return {"type": "array", "items": json_schema(get_args(annotation)[0], definitions)}
    if origin is dict:
        key_type, inner = get_args(annotation)
        schema = {"type": "object", "additionalProperties": json_schema(inner, definitions)}
        if get_origin(key_type) is Annotated:
            schema["propertyNames"] = json_schema(key_type, definitions)
        return schema
    if annotation is Any:
        return {}
    if dataclasses.is_dataclass(annotation):
        assert isinstance(annotation, type)
        return _class_schema(annotation, definitions)
    if annotation is int:
        return {"type": "integer", "minimum": -MAX_INT, "maximum": MAX_INT}
    return {"type": {str: "string", bool: "boolean"}[annotation]}


def fields_schema(fields: Iterable[Field], definitions: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a table with exactly these fields."""
    fields = tuple(fields)
    return {
        "type": "object",
        "properties": {f.name: json_schema(f.annotation, definitions) for f in fields},
        "required": [f.name for f in fields if f.required],
        "additionalProperties": False,
    }


def _class_schema(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    name = cls.__name__
    if name not in definitions:
        definitions[name] = {}  # holds the place while a recursive shape is written
        schema = fields_schema(fields_of(cls), definitions)
        definitions[name] = {"description": (cls.__doc__ or "").split("\n")[0], **schema}
    return {"$ref": f"#/$defs/{name}"}


def _constraint_schema(constraint: object) -> dict[str, Any]:
    if isinstance(constraint, Text):
        # $ would let a final newline through; a look-ahead for "no character left" does not.
        return {"pattern": f"^(?:{constraint.pattern})(?![\\s\\S])"}
    assert isinstance(constraint, Range)
    return {"minimum": constraint.low, "maximum": constraint.high}
