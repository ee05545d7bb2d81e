"""Commands about plans: list them, explain one, print the schemas."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from agentrunproof.cli import exits, plans
from agentrunproof.cli.output import lines, table
from agentrunproof.errors import PlanError


class SchemaName(str, Enum):
    """What there is a schema of."""

    plan = "plan"
    certificate = "certificate"
    matrix = "matrix"
    history = "history"
    bundle = "bundle"
    event = "event"


def list_scenarios(
    area: Annotated[str | None, typer.Option(help="Only scenarios of this area.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """List the packaged scenarios."""
    from agentrunproof.plan import catalog
    from agentrunproof.report import text
    from agentrunproof.shape import nearest

    entries = catalog.summaries()
    areas = sorted({entry.area for entry in entries.values()})
    if area is not None and area not in areas:
        raise PlanError("AREA_UNKNOWN", f"no scenario has the area {area!r}",
                        nearest(area, areas) or "areas: " + ", ".join(areas))
    rows = [(entry.area, id, entry.title, entry.revision) for id, entry in entries.items()
            if area in (None, entry.area)]
    if as_json:
        table([{"id": id, "area": group, "title": title, "revision": revision}
               for group, id, title, revision in rows])
    else:
        lines(text.scenario_lines((group, id, title) for group, id, title, _ in rows))
    return exits.OK


def explain(
    name: Annotated[str, typer.Argument(
        metavar="SCENARIO_OR_FILE", autocompletion=plans.complete,
        help="A scenario id, a plan file, a certificate, or a check or its code.")],
) -> int:
    """Explain a scenario: its contract, why it matters, its phases; or the checks that judge it."""
    from agentrunproof.report import explain as pages

    if not plans.is_file(name) and (found := pages.contract_lines(name)):
        lines(found)
    elif name.endswith(".json") and plans.is_file(name):
        from agentrunproof.cli.certificates import load

        certificate = load(name)
        lines(pages.plan_lines(certificate.scenario, certificate.plan))
        lines(["", *pages.verdict_lines(certificate)])
    else:
        named = plans.resolve(name)
        lines(pages.plan_lines(named.id, named.plan))
    return exits.OK


def schema(
    name: Annotated[SchemaName, typer.Argument(help="What to describe.")],
) -> int:
    """Print a JSON Schema (2020-12)."""
    from agentrunproof.report import schemas

    table(schemas.of(name.value))
    return exits.OK
