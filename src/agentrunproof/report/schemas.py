"""The published JSON Schemas (2020-12), written from the shapes that the code itself reads by."""

from __future__ import annotations

from typing import Any


def of(name: str) -> dict[str, Any]:
    """A schema by name: ``plan``, ``event`` (one stored event), or a kind of record."""
    if name == "plan":
        from agentrunproof.plan.schema import plan_schema

        return plan_schema()
    from agentrunproof.record import bundle, certificate, history, matrix, table

    if name == "certificate":
        return certificate.schema()
    for form in (matrix.FORM, history.FORM, bundle.FORM):
        if name == form.kind:
            return form.schema()
    definitions: dict[str, Any] = {}
    runs = table.schema(definitions)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "event",
            **runs["items"]["properties"]["events"]["items"], "$defs": definitions}
