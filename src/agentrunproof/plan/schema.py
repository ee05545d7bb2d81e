"""JSON Schema (2020-12) of the TOML form of a plan, short forms included.

It is written from the shapes of `plan.model` and the short forms of `plan.sugar`, so it cannot
say something else than the loader does. It is for editors and generators; what a schema cannot
say (names that must exist, contradictions) is in `plan.rules`.
"""

from __future__ import annotations

from typing import Any

from agentrunproof.plan.model import ITEM_KINDS, Item, Phase, Plan, ToolOutcome
from agentrunproof.plan.sugar import SHORTHANDS, Shorthand
from agentrunproof.shape import Decimal, json_schema

Schema = dict[str, Any]


def plan_schema() -> Schema:
    """The schema of a plan file, as ``agentrunproof schema plan`` prints it."""
    definitions: Schema = {}
    json_schema(Plan, definitions)
    for cls, shorthand in SHORTHANDS.items():
        definitions[cls.__name__] = _with_short_forms(
            definitions[cls.__name__], shorthand, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agentrunproof plan",
        **definitions.pop("Plan"),
        "$defs": {name: _numbers_for_decimals(definition | _EXCLUSIVE.get(name, {}))
                  for name, definition in sorted(definitions.items())},
    }


def _with_short_forms(table: Schema, shorthand: Shorthand, definitions: Schema) -> Schema:
    """A class's definition, widened by what TOML may say beyond its fields."""
    properties = dict(table["properties"])
    for key, annotation in shorthand.keys.items():
        properties.setdefault(key, json_schema(annotation, definitions))
    for key, kinds in shorthand.replaced.items():
        properties[key] = _any_of([json_schema(kind, definitions) for kind in kinds])
    table = table | {
        "properties": properties,
        "required": [name for name in table["required"] if name not in shorthand.optional]}
    if not shorthand.instead:
        return table
    return {"anyOf": [table, *(json_schema(kind, definitions) for kind in shorthand.instead)]}


def _any_of(schemas: list[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _numbers_for_decimals(schema: Any) -> Any:
    """The schema with each decimal text allowed as a number too."""
    if schema == _DECIMAL:
        return {"anyOf": [_DECIMAL, {"type": "number"}]}
    if isinstance(schema, dict):
        return {key: _numbers_for_decimals(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_numbers_for_decimals(value) for value in schema]
    return schema


_DECIMAL = json_schema(Decimal, {})

#: rules of `plan.rules` that a schema can say: exactly one of several keys
_EXCLUSIVE: dict[str, Schema] = {
    Item.__name__: {"oneOf": [{"required": [kind]} for kind in ITEM_KINDS]},
    Phase.__name__: {"oneOf": [{"anyOf": [{"required": ["input"]}, {"required": ["follow"]}]},
                               {"required": ["resume"]}, {"required": ["call"]}]},
    ToolOutcome.__name__: {"minProperties": 1, "maxProperties": 1},
}
