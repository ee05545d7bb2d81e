"""What ``why`` would ask, without asking: the pieces of a request, and where the search begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agentrunproof.cli import exits
from agentrunproof.cli.asking import Chosen
from agentrunproof.cli.output import lines, table
from agentrunproof.report.text import fit, printable, wrap

if TYPE_CHECKING:
    from agentrunproof.ablation.dialects import Body, Slot
    from agentrunproof.ablation.pieces import Context

    #: How many pieces each text has, and the suspects.
    Plan = tuple[list[int], list[dict[str, Any]]]

#: Requests of more characters than these are not split as a whole.
_SPLIT = 4_000_000
#: No more texts of them than these are.
_MOST_SPLIT = 12
#: No more texts than these are listed one by one.
_LISTED = 20


def show(chosen: Chosen, *, budget: int, pieces: bool, as_json: bool) -> int:
    """Print it.

    Args:
        chosen: the call.
        budget: of model calls.
        pieces: list all pieces, instead of the plan.
        as_json: print JSON.

    Raises:
        AblationError: ``SUBJECT_EMPTY``.
    """
    from agentrunproof.ablation.pieces import Context

    body = chosen.run.body(chosen.call)
    if pieces:
        _list_pieces(Context(body, chosen.call.dialect), as_json)
        return exits.OK
    plan = _plan(chosen, body, budget)
    if as_json:
        table(plan)
    else:
        lines(_lines(plan))
    return exits.OK


def _list_pieces(context: Context, as_json: bool) -> None:
    rows = [{"id": piece.id, "kind": piece.kind, "place": piece.place, "text": piece.text}
            for root in context.pieces for piece in root.walk()]
    if as_json:
        table(rows)
    else:
        lines(line for row in rows for line in (
            fit(f"{row['id']}  ({row['kind']})"), fit(f"    {row['text']}")))


def _plan(chosen: Chosen, body: Body, budget: int) -> dict[str, Any]:
    from agentrunproof.ablation.dialects import dialect
    from agentrunproof.ablation.uncut import uncut

    slots = list(dialect(chosen.call.dialect).slots(body))
    large = sum(len(slot.text) for slot in slots) > _SPLIT
    counts, first = (_of_texts if large else _of_pieces)(chosen, body, slots)
    return {
        "call": str(chosen), "target": chosen.target.spec,
        "decision": str(chosen.target.recorded), "dialect": chosen.call.dialect,
        "model": chosen.call.model, "pieces": None if large else sum(counts),
        "texts": [{"id": slot.id, "kind": slot.kind, "place": slot.place,
                   "characters": len(slot.text)} | ({} if large else {"pieces": count})
                  for slot, count in zip(slots, counts, strict=True)],
        "suspects": first, "uncut": list(uncut(body)), "calls_at_most": budget}


def _of_pieces(chosen: Chosen, body: Body, slots: list[Slot]) -> Plan:
    """The pieces in each text, and the suspects, just as the search has them."""
    from agentrunproof.ablation.explain import Explanation
    from agentrunproof.ablation.pieces import Context, runs
    from agentrunproof.ablation.recorded_call import RecordedCall
    from agentrunproof.ablation.subject import Decision

    context = Context(body, chosen.call.dialect)
    subject = RecordedCall(context, lambda body: Decision())  # which is never asked
    suspects = Explanation(subject, chosen.target).search.suspects
    sizes = {context.group_id(n): high - low for n, (low, high) in enumerate(context.groups)}
    leaves = [context.leaf(n) for low, high in runs(suspects) for n in range(low, high)]
    return ([sizes.get(slot.id, 0) for slot in slots],
            [_suspect(chosen, leaf.id, leaf.kind, leaf.place, leaf.text) for leaf in leaves])


def _of_texts(chosen: Chosen, body: Body, slots: list[Slot]) -> Plan:
    """The same of a large request, of which only the texts are split that share words with the
    decision: its pieces aren't counted, and the search may begin with others of theirs."""
    from agentrunproof.ablation import suspects
    from agentrunproof.ablation.leaves import Leaves

    words = sorted(suspects.words_of(chosen.target.recorded))
    shared = [sum(word in low for word in words) for low in (slot.text.lower() for slot in slots)]
    split = sorted((n for n in range(len(slots)) if shared[n]), key=lambda n: -shared[n])
    kept = [slots[n] for n in sorted(split[:_MOST_SPLIT])]
    leaves = Leaves([slot.text for slot in kept])
    of_leaf = [slot for slot, (low, high) in zip(kept, leaves.groups, strict=True)
               for _ in range(low, high)]
    score = suspects.scores(leaves, chosen.target.recorded, {})
    return [0] * len(slots), [
        _suspect(chosen, of_leaf[n].id, of_leaf[n].kind, of_leaf[n].place, leaves[n])
        for n in suspects.suspects(score)]


def _suspect(chosen: Chosen, id: str, kind: str, place: str, text: str) -> dict[str, Any]:
    from agentrunproof.ablation.suspects import words_of

    words = sorted(word for word in words_of(chosen.target.recorded) if word in text.lower())
    return {"id": id, "kind": kind, "place": place, "text": text, "words": words}


def _lines(plan: dict[str, Any]) -> Iterator[str]:
    yield from wrap(f"would ask why {plan['call']} decided {printable(plan['target'])}")
    yield fit(f"decision {plan['decision']}")
    yield fit(f"model {plan['model']}, {plan['dialect']}")
    yield ""
    texts = plan["texts"]
    characters = sum(text["characters"] for text in texts)
    split = plan["pieces"] is not None
    count = f"{plan['pieces']:,} pieces in " if split else ""
    yield f"{count}{len(texts):,} texts of {characters:,} characters" + (
        "" if split else "; too many to count the pieces of now")
    for kind in dict.fromkeys(text["kind"] for text in texts):
        of_kind = [text for text in texts if text["kind"] == kind]
        number = sum(text["pieces" if split else "characters"] for text in of_kind)
        yield (f"  {number:>11,}  {kind} ({len(of_kind):,} text"
               f"{'s' if len(of_kind) > 1 else ''})")
    if len(texts) <= _LISTED:
        yield "by id"
        for text in texts:
            size = text["pieces" if split else "characters"]
            yield fit(f"  {size:>11,}  {text['id']}  ({text['place']})")
    yield ""
    yield "first: the request as it was; then without these, all at once:"
    for one in plan["suspects"]:
        yield fit(f"  {one['id']}  (shares {', '.join(one['words'])})")
        yield fit(f"    | {one['text']}")
    if not plan["suspects"]:
        yield "  (no piece shares a word with the decision)"
    yield "then without all pieces at once, then halves of what made a difference"
    for one in plan["uncut"]:
        yield f"cannot be cut out: {one}"
    yield f"model calls at most: {plan['calls_at_most']:,}"
