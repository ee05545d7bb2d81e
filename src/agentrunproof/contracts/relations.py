"""What the contracts about metamorphic relations share.

The worker runs a plan and its variants (`plan.variants`), and each relation is a contract of its
own over the plan's runs and those of its variants. Their comparison is that of the modes
(`contracts.parity`), but for what the relation itself changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.parity import COMPARED, differences
from agentrunproof.plan.model import Plan
from agentrunproof.plan.relations import RELATIONS
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns

#: A phase with the plan's own run and the variant's, which must be alike; None for one that is
#: not there.
Pair = tuple[str, PhaseRun | None, PhaseRun | None]
Pairs = Callable[[Plan, Observation, VariantRuns], Iterator[Pair]]


def same_phase(plan: Plan, seen: Observation, varied: VariantRuns) -> Iterator[Pair]:
    """The plan's own run of each phase, and the variant's."""
    for phase in plan.phases:
        run = varied.run(phase.id)
        yield phase.id, None if run is None else seen.likeness_base(run), run


def contract(relation: str, *, promise: str, source: str,
             leaving_out: frozenset[str] = frozenset(), pairs: Pairs = same_phase) -> Contract:
    """The contract of a relation.

    Args:
        relation: its name in `RELATIONS`.
        promise: in one sentence.
        source: where the SDK promises it.
        leaving_out: codes of the aspects that the relation itself changes.
        pairs: which runs are held against each other.
    """
    def applies(plan: Plan, seen: Observation) -> bool:
        return any(_of(relation, varied) for varied in seen.variants)

    def violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
        for varied in seen.variants:
            for phase, base, run in pairs(plan, seen, varied) if _of(relation, varied) else ():
                where = f"{varied.name}/{phase}"
                if base is None or run is None:
                    yield Unobserved("VARIANT_UNOBSERVED", f"{where} was not run")
                    continue
                for code in differences(plan, base, run, leaving_out):
                    yield Violation(code, where, f"not as in {base.where}: {COMPARED[code]}")

    codes = {code: f"{RELATIONS[relation]} differ in {what}"
             for code, what in COMPARED.items() if code not in leaving_out}
    return Contract(
        name=f"relation_{relation}", promise=promise, source=source, applies=applies,
        violations=violations,
        codes=codes | {"VARIANT_UNOBSERVED": "the variant was not run to its end"})


def _of(relation: str, varied: VariantRuns) -> bool:
    return varied.name.split("-")[0] == relation
