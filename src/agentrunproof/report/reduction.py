"""What the ablation record of a failing plan says, in plain text of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from agentrunproof.ablation import reduction as derivation
from agentrunproof.ablation.derivation import leaves_set
from agentrunproof.record.ablation import Ablation, Needed, Quote, Reduction
from agentrunproof.report.text import wrap

_ENDED = {"done": "", "budget": "; the budget ran out, a smaller plan may be left",
          "stopped": "; interrupted, a smaller plan may be left"}


def lines(record: Ablation) -> list[str]:
    """The report of a record.

    Args:
        record: of a plan, that the checker finds valid.
    """
    subject = record.subject
    _, check, code = record.target.split(":")
    told = [*wrap(f"{subject.scenario}: {check} {code.removeprefix('code=')} on openai-agents "
                  f"{subject.sdk}"), *wrap(record.decision, "  "), ""]
    if record.reduction is None:
        return [*told, *wrap(_unstable(record))]
    return [*told, *_needed(record, record.reduction), *_others(record, record.reduction),
            *wrap(_spent(record, record.reduction))]


def _unstable(record: Ablation) -> str:
    letter = record.arms[0].outcomes if record.arms else ""
    seen = derivation.WORDS.get(letter, "ends otherwise")
    return f"run again, the plan {seen}: there is nothing stable to explain"


def _needed(record: Ablation, reduction: Reduction) -> list[str]:
    chosen = {one.leaf: one for one in reduction.needed}
    told = ["needed, each of them:" if chosen else "needed: not known yet"]
    for quote in _innermost(record, chosen):
        told += wrap(f"{quote.id} ({quote.kind}): {quote.text}", "  ")
        told += wrap(f"without it: {_without(record, chosen[quote.leaf])}", "      ")
    return told


def _without(record: Ablation, one: Needed) -> str:
    letters = {arm.leaves: arm.outcomes for arm in record.arms}
    return one.instead or derivation.WORDS[letters[one.leaves]]


def _others(record: Ablation, reduction: Reduction) -> list[str]:
    told: list[str] = []
    for title, leaves in (("no plan without", reduction.fixed),
                          ("not taken away alone", reduction.untried)):
        if names := [record.quotes[leaf].id for leaf in sorted(leaves_set(leaves))]:
            told += ["", *wrap(f"{title}: {', '.join(names)}")]
    counts = Counter(quote.kind for quote in _outermost(record, leaves_set(reduction.gone)))
    gone = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}"
                     for kind, count in sorted(counts.items()))
    told += ["", *wrap(f"did not matter: {gone or 'nothing'}")]
    names = [quote.id for quote in _outermost(record, leaves_set(reduction.gone))]
    return [*told, *wrap(", ".join(names), "  ")]


def _spent(record: Ablation, reduction: Reduction) -> str:
    count = len(record.quotes)
    good = record.subject.good
    return (f"{count - len(leaves_set(reduction.gone))} of {count} elements left after "
            f"{record.calls} plans{_ENDED[record.ended]}; "
            + (f"each smaller plan passes on {good}" if good else
               "no release is known that passes the plan, so none was held against it"))


def _outermost(record: Ablation, leaves: Collection[int]) -> list[Quote]:
    """Of these leaves those that lie within no other of them."""
    chosen = [record.quotes[leaf] for leaf in sorted(leaves)]
    return [one for one in chosen if not any(_holds(other, one) for other in chosen)]


def _innermost(record: Ablation, leaves: Iterable[int]) -> list[Quote]:
    """Of these leaves those that hold no other of them."""
    chosen = [record.quotes[leaf] for leaf in sorted(leaves)]
    return [one for one in chosen if not any(_holds(one, other) for other in chosen)]


def _holds(one: Quote, other: Quote) -> bool:
    return other.id.startswith((f"{one.id}.", f"{one.id}["))
