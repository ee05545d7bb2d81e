"""What an ablation record says, in plain text of 80 columns, the headline cause first.

The words keep apart what was confirmed on fresh reruns, what the search alone saw, and what was
not tried. What the texts of a request say is quoted so that no terminal is moved by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from agentrunproof.ablation import derivation, sufficiency
from agentrunproof.record.ablation import Ablation, Claim, Rate, Requirement, leaves_runs
from agentrunproof.report import passages
from agentrunproof.report.text import fit, printable, wrap

#: No more sets than these are listed.
_MOST_SETS = 8
_TITLE = 15  # columns of a line's title
#: No more characters of a decision are shown.
_LONGEST = 180


@dataclass(frozen=True, kw_only=True)
class Besides:
    """What a report tells that stands in no record.

    Args:
        call: which call was explained, for people.
        model: who was asked.
        cached: how many trials earlier replies answered.
        hints: calls made to ask the model which parts to look at first.
        uncut: what of the request the search has no means to take away.
    """

    call: str = ""
    model: str = ""
    cached: int = 0
    hints: int = 0
    uncut: tuple[str, ...] = ()


def lines(record: Ablation, besides: Besides | None = None) -> list[str]:
    """The report of a record.

    Args:
        record: of a model call, that the checker finds valid.
        besides: what else is known of how it came about.
    """
    return _Report(record, besides or Besides()).lines()


def headline(record: Ablation) -> str:
    """The answer in one line."""
    return _Report(record, Besides()).headline()


class _Report:
    def __init__(self, record: Ablation, besides: Besides) -> None:
        self.record, self.besides = record, besides
        self.arms = derivation.outcomes_by_arm(record.arms)
        self.quotes = {quote.leaf: quote for quote in record.quotes}
        self.confirmed = [claim for claim in record.claims if claim.verdict == "CONFIRMED"]
        named = [leaf for claim in record.claims
                 for leaf in sorted(derivation.leaves_set(claim.leaves))]
        #: Passages are numbered in the order in which they are shown, if there are several.
        self.number = {leaf: n for n, leaf in enumerate(dict.fromkeys(named), 1)}
        self.shown: set[int] = set()

    def lines(self) -> list[str]:
        parts = [self._answer(), *(self._claim(claim, "NEEDED AS WELL: ")
                                     for claim in self.confirmed[1:]),
                 self._together(), *(self._claim(claim, "NOT CONFIRMED: ")
                                     for claim in self.record.claims if claim.verdict == "OPEN"),
                 self._required(), self._rest(), self._untested(), self._about(), self._meaning()]
        return [line for part in parts if part for line in (*part, "")][:-1]

    # What was found.

    def headline(self) -> str:
        """The answer in a sentence."""
        record, asked = self.record, printable(self.record.target)
        if self.confirmed:
            return self._title(self.confirmed[0], f"CAUSE of {asked}: ")
        rate = self._base()
        match record.status:
            case "UNSTABLE":
                return ("NOTHING STABLE to attribute: unchanged, the request decided so in "
                        f"{rate} reruns, too rarely for {asked} to be explained")
            case "BUDGET":
                return (f"NO ANSWER: the budget of {record.budget} calls ran out before a cause "
                        f"of {asked} was found and confirmed; unchanged, {rate} reruns decided so")
            case "STOPPED":
                return (f"STOPPED before an answer: this is what is known of {asked} so far; "
                        f"unchanged, {rate} reruns decided so")
        return (f"NO CAUSE of {asked} found in the texts of the request: unchanged, {rate} reruns "
                "decided so")

    def _answer(self) -> list[str]:
        if self.confirmed:
            return self._claim(self.confirmed[0], f"CAUSE of {printable(self.record.target)}: ")
        told = wrap(self.headline())
        return told + self._with_all_gone() if self.record.status == "NONE" else told

    def _base(self) -> str:
        return (_counts if self.record.deterministic else rate_words)(self.record.base)

    def _with_all_gone(self) -> list[str]:
        """What came of the largest edit, where no part of it was found to be a cause."""
        gone = max((leaves for phase, _, leaves in self.arms if phase == "search"),
                   key=lambda leaves: len(derivation.leaves_set(leaves)), default="")
        if not gone:
            return []
        count, total = len(derivation.leaves_set(gone)), self._leaves()
        rate = derivation.rate(self.arms.get(("search", "filler", gone), ""))
        what = "all" if count == total else f"{count} of"
        told = f"with {what} {total} pieces overwritten at once, {_counts(rate)} decided so"
        if 2 * _part(rate) < _part(self.record.base):
            told += ("; so something among them matters, but no small part was found that does "
                     "it by itself")
        elif count == total:
            told += ("; so it seems to be the model's own judgement, whatever the texts say; an "
                     "effect too small for the search to see is not ruled out")
        return wrap(told, "  ")

    def _title(self, claim: Claim, title: str) -> str:
        leaves = sorted(derivation.leaves_set(claim.leaves))
        if len(leaves) == 1:
            return title + self._named(leaves[0])
        each = all(2 * _part(self._alone(claim, leaf)) > _part(self.record.base)
                   for leaf in leaves)
        return f"{title}{len(leaves)} passages, " + (
            "each of which is enough while all else stays" if each else
            "all of which were gone at once; which of them count is not settled")

    def _claim(self, claim: Claim, title: str) -> list[str]:
        leaves = sorted(derivation.leaves_set(claim.leaves))
        told = wrap(self._title(claim, title))
        if len(leaves) == 1:
            return [*told, *self._said(leaves[0], "  "), *self._evidence(claim, "it")]
        for leaf in leaves:
            told += [*wrap(self._named(leaf), "  "), *self._said(leaf, "    ")]
            left = self._alone(claim, leaf)
            if left.runs:
                told += wrap(f"with only this one of them left: {_counts(left)} decided so in the "
                             "search", "    ")
        return [*told, *self._evidence(claim, "them")]

    def _alone(self, claim: Claim, leaf: int) -> Rate:
        """What the search saw with all leaves of a claim gone but one."""
        return self._kept(frozenset((leaf,)), derivation.leaves_set(claim.leaves))

    def _evidence(self, claim: Claim, it: str) -> Iterator[str]:
        record = self.record
        if not claim.without.runs:
            yield from wrap("found by the search; not tested on fresh reruns: "
                            + ("the budget was spent" if record.ended == "budget" else
                               "it was stopped before"), "  ")
            return
        if record.deterministic:
            yield from _titled(f"with {it}", "decided so")
            yield from _titled(f"without {it}", "decided so" if claim.without.hits else
                               "not decided so")
            yield from _titled("evidence", "one rerun of each: the same request always gives the "
                               "same")
        else:
            yield from _titled(f"with {it}", f"{_counts(claim.with_)} decided so "
                          f"({_interval(claim.with_)})")
            yield from _titled(f"without {it}", rate_words(claim.without))
            needed = math.ceil(len(record.claims) / Fraction(record.alpha))
            yield from _titled("e-value", f"{_short(claim.e)}, and {needed} is needed: " + (
                "confirmed on fresh reruns" if claim.verdict == "CONFIRMED" else
                "fresh reruns did not confirm it"))
        if claim == record.claims[0] and record.instead:
            yield from _titled("instead", record.instead)
        if claim.verdict == "CONFIRMED" and claim.without.hits:
            yield from wrap(f"Without {it} it is rarer, and still happens: this is not all of the "
                            "cause.", "  ")

    def _together(self) -> list[str]:
        """Which passages are enough together, where several claims are confirmed."""
        if len(self.confirmed) < 2:
            return []
        cuts = [derivation.leaves_set(claim.leaves) for claim in self.confirmed]
        sets = sufficiency.enough(cuts)
        if len(sets) == 1:
            return wrap(f"NEEDED TOGETHER: {self._sum(sets[0])}; without any one of them it is "
                        "rarer")
        told = ["ENOUGH TOGETHER, by what was found, while all else stays:"]
        for one in sets[:_MOST_SETS]:
            kept = self._kept(one, frozenset().union(*cuts))
            told.append(f"  {self._sum(one)}  (" + (
                f"with only these of them left: {_counts(kept)} decided so in the search"
                if kept.runs else "not tried") + ")")
        more = len(sets) - _MOST_SETS
        return [*told, *([f"  and {more} more"] if more > 0 else [])]

    def _sum(self, leaves: frozenset[int]) -> str:
        return "+".join(f"[{n}]" for n in sorted(self.number[leaf] for leaf in leaves))

    def _kept(self, kept: frozenset[int], named: frozenset[int]) -> Rate:
        """What the search saw with, of the leaves that claims name, no others than these left."""
        return derivation.rate("".join(
            outcomes for (phase, _, gone), outcomes in self.arms.items()
            if phase == "search" and derivation.leaves_set(gone) & named == named - kept))

    def _required(self) -> list[str]:
        if not self.record.required:
            return []
        told = ["ALSO REQUIRED, without being a cause:"]
        for one in self.record.required:
            told += [*wrap(f"{passages.whole(self.record, one.leaves, self.quotes)}: "
                           + self._without(one), "  ")]
            low, high = leaves_runs(one.leaves)[0]
            told += (self._said(low, "    ") if one.leaves == str(low) else [
                fit(f"    pieces of {passages.group_of(self.record, low)!r}: {high - low}")])
        return told

    def _without(self, one: Requirement) -> str:
        did = {"repeat": "makes the call that gave it again", "asks": "only asks back"}[one.reason]
        return f"without it the model {did} ({one.runs} reruns of the search)"

    # What was not, and what it took.

    def _rest(self) -> list[str]:
        """What the search says of all that was not named."""
        if self.record.complete and self.confirmed:
            return wrap("NOTHING ELSE: with the passages above kept, all the rest was overwritten "
                        "at once and it still decided so, as far as the search saw.")
        return []

    def _untested(self) -> list[str]:
        record, total = self.record, self._leaves()
        told = [f"{one}: cannot be cut out" for one in self.besides.uncut]
        if not record.complete and record.status != "UNSTABLE":
            gone = frozenset[int]().union(*(
                derivation.leaves_set(leaves) for _, _, leaves in self.arms))
            never = (f"{total - len(gone)} of {total} pieces were never taken away"
                     if len(gone) < total else
                     f"each of the {total} pieces was taken away with others, not each by itself")
            told.insert(0, {"budget": f"the budget of {record.budget} calls ended the search",
                            "stopped": "the search was stopped",
                            "done": "the search ended with combinations left to try"
                            }[record.ended] + f"; {never}")
        elif record.status == "UNSTABLE":
            told.insert(0, "the texts: of so rare a decision no cause could be told from chance")
        return ["NOT TESTED", *(line for one in told for line in _item(one))] if told else []

    def _about(self) -> list[str]:
        record, besides = self.record, self.besides
        spent = {phase: sum(len(outcomes) for (of, _, _), outcomes in self.arms.items()
                            if of == phase) for phase in ("base", "search", "confirm")}
        parts = [(besides.hints, "to ask where to look first"), (spent["base"], "unchanged"),
                 (spent["search"], "to search"), (spent["confirm"], "to confirm")]
        calls = (f"{record.calls + besides.hints} of at most {record.budget + besides.hints}: "
                 + ", ".join(f"{number} {what}" for number, what in parts if number)).strip(": ")
        if besides.cached:
            calls += f"; {besides.cached} of them answered by kept replies"
        told = [("decision", record.decision), ("call", besides.call), ("model", besides.model),
                ("unchanged", f"{self._base()} decided so" if record.base.runs else ""),
                ("calls", calls)]
        return [line for title, text in told if text for line in _titled(title, text, "")]

    def _meaning(self) -> list[str]:
        return wrap(
            "This shows what the decision depends on in this request, asked of this model. It "
            "does not show that a text is wrong or meant to do harm, nor what other requests "
            "would give." + (
                "" if self.record.deterministic else
                f" A wrong cause is named with a chance of at most {self.record.alpha}. The "
                "intervals are exact ones of 95% for so many runs."))

    def _leaves(self) -> int:
        return sum(group.leaves for group in self.record.groups)

    def _named(self, leaf: int) -> str:
        quote = self.quotes.get(leaf)
        name = passages.named(quote) if quote else passages.group_of(self.record, leaf)
        return f"[{self.number[leaf]}] {name}" if len(self.number) > 1 else name

    def _said(self, leaf: int, indent: str) -> list[str]:
        """What a leaf says, the first time that it is shown."""
        quote = self.quotes.get(leaf)
        if quote is None or leaf in self.shown:
            return []
        self.shown.add(leaf)
        return [*passages.said(quote, indent), fit(f"{indent}piece {quote.id!r}")]


def _titled(title: str, text: str, indent: str = "  ") -> list[str]:
    """A title and a text beside it, which is cut where it is long."""
    first, *rest = wrap(printable(" ".join(text[:_LONGEST].split())), " " * _TITLE) or [""]
    return [fit(line) for line in (f"{indent}{title:<{_TITLE - len(indent)}}{first.strip()}",
                                   *rest)] + [" " * _TITLE + "..."] * (len(text) > _LONGEST)


def _item(text: str) -> list[str]:
    first, *rest = wrap(printable(text), "    ")
    return [f"  - {first.strip()}", *rest]


def rate_words(rate: Rate) -> str:
    """``9 of 10 (55% to 100%)``."""
    return f"{_counts(rate)} ({_interval(rate)})"


def _counts(rate: Rate) -> str:
    return f"{rate.hits} of {rate.runs}"


def _interval(rate: Rate) -> str:
    """The interval in percent, rounded outwards."""
    return (f"{math.floor(Fraction(rate.low) * 100)}% to "
            f"{math.ceil(Fraction(rate.high) * 100)}%")


def _part(rate: Rate) -> Fraction:
    return Fraction(rate.hits, rate.runs) if rate.runs else Fraction(0)


def _short(e: str) -> str:
    """An e-value, rounded downwards."""
    whole, _, rest = e.partition(".")
    return f"{int(whole):,}" if len(whole) > 1 else f"{whole}.{rest[:2]:0<2}".removesuffix(".00")
