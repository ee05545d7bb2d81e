"""The variants of a record's plan, derived anew: what their runs are held against.

A record says only which variants were run. What each of them is follows from the plan, so steps 7
to 9 apply to their runs as to the plan's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from agentrunproof import canonical
from agentrunproof.checker import course
from agentrunproof.checker.judgement import reject
from agentrunproof.plan.model import Plan
from agentrunproof.plan.variants import Variant, variants
from agentrunproof.record.observation import Observation


def parts(plan: Plan, seen: Observation) -> Iterator[tuple[Plan, Observation]]:
    """The plan with its own runs, then each variant with its runs.

    Each is to be checked as it comes. Every variant must be there, in order, unless a run before
    it passed its deadline.
    """
    at = plan, Observation(seen.runs, seen.missing)
    yield at
    due = () if seen.missing else _derived(canonical.dumps(plan.to_json()))
    found = tuple(varied.name for varied in seen.variants)
    if found != tuple(variant.name for variant in due)[:len(found)]:
        reject("VARIANTS_DIFFER", "the variants that were run are not those of the plan")
    for variant, varied in zip(due, seen.variants, strict=False):
        if not course.is_whole(*at):
            reject("VARIANTS_DIFFER", f"{varied.name} was run, though a run before did not end")
        at = variant.plan, Observation(varied.runs)
        yield at
    if len(found) < len(due) and not course.is_cut_short(at[1]):
        reject("VARIANTS_DIFFER", f"the variant {due[len(found)].name} was not run")


@lru_cache(maxsize=512)
def _derived(data: bytes) -> tuple[Variant, ...]:
    return variants(Plan.from_json(canonical.parse(data)))
