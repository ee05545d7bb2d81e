"""The certificates that a record over many of them names: all there, each valid, each in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

from agentrunproof.checker import procedure
from agentrunproof.checker.judgement import Judgement, reject
from agentrunproof.record import layout
from agentrunproof.record.certificate import Envelope
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, Row

#: Gives the bytes of a member by its name.
Read = Callable[[str], bytes]

#: The judgement of a certificate, and of a valid one its envelope, without items and runs.
Assessed = tuple[Judgement, Envelope | None]

#: Assesses the members of these names, in this order.
Assess = Callable[[Sequence[str]], Iterator[Assessed]]


def name_of(column: Column, scenario: str) -> str:
    """The name of the certificate of a scenario in a column."""
    return f"{column.key}/{scenario}.json"


def assess(data: bytes, reproduced: bool = False) -> Assessed:
    """Check the bytes of one certificate."""
    judgement, envelope = procedure.assess(data, reproduced=reproduced)
    return judgement, envelope and replace(envelope, items=(), runs=())


class Members:
    """The certificates, each checked when it is asked for; what is noted of them is counted.

    Args:
        names: of all that are there.
        read: gives the bytes of one.
        reproduced: accept only observations that this version has made itself.
        assess: checks many at once as `assess` does each; then nothing is read here.
    """

    def __init__(self, names: Iterable[str], read: Read, reproduced: bool = False,
                 assess: Assess | None = None) -> None:
        self._names = frozenset(names)
        self._read = read
        self._reproduced = reproduced
        self._assess = assess or self._one_by_one
        self._coming: Iterator[tuple[str, Assessed]] = iter(())
        self._early: dict[str, Assessed] = {}
        self._noted: Counter[str] = Counter()
        self._surplus = 0

    def check_names(self, needed: Iterable[str], extra: bool | None = None) -> None:
        """Refuse the lot if one that is needed is not there, or one is there that isn't needed.

        Args:
            needed: the names of those that the record speaks of.
            extra: whether others may be there as well; how many is noted. None where that may
                never be.
        """
        ordered = list(dict.fromkeys(needed))
        wanted = frozenset(ordered)
        refuse_first("CERTIFICATE_MISSING", wanted - self._names, "is not there",
                     "give the folder with the certificates")
        surplus = self._names - wanted
        if not extra:
            refuse_first("CERTIFICATE_EXTRA", surplus, "is not in the record", "" if extra is None
                         else "a folder that several sweeps use is checked with --allow-extra")
        self._surplus = len(surplus)
        self._coming = zip(ordered, self._assess(ordered), strict=True)

    def find(self, row: Row, column: Column, id: str) -> Finding:
        """What the certificate of a row in a column found.

        Args:
            row: whose plan it must be of.
            column: whose release and Python it must be made on.
            id: what it must be named.
        """
        name = name_of(column, row.scenario)
        judgement, envelope = self._assessed(name)
        if envelope is None:
            _refuse(name, judgement.code, judgement.message, judgement.hint)
        if judgement.id != id:
            _refuse(name, "CERTIFICATE_DIFFERS", "its id is not the one that the record names")
        _check_belonging(name, row, column, envelope)
        self._noted.update(judgement.notes)
        return layout.of_certificate(envelope)

    def _assessed(self, name: str) -> Assessed:
        if name in self._early:
            return self._early.pop(name)
        for other, assessed in self._coming:
            if other == name:
                return assessed
            self._early[other] = assessed
        return next(self._one_by_one([name]))  # asked for again

    def _one_by_one(self, names: Sequence[str]) -> Iterator[Assessed]:
        return (assess(self._read(name), self._reproduced) for name in names)

    def notes(self) -> list[str]:
        """What is noted of certificates, and of how many."""
        surplus = [f"certificates there that belong to no cell: {self._surplus}"]
        return surplus * bool(self._surplus) + [
            f"{note}: {count} certificates" for note, count in sorted(self._noted.items())]


def _check_belonging(name: str, row: Row, column: Column, envelope: Envelope) -> None:
    if row.command or envelope.subject.scenario != row.scenario \
            or envelope.subject.plan != row.plan:
        _refuse(name, "CERTIFICATE_OF_OTHER_PLAN", "it is not of the plan of its row")
    made_by = envelope.producer
    if made_by.sdk.version != column.sdk or not made_by.python.startswith(f"{column.python}."):
        _refuse(name, "CERTIFICATE_OF_OTHER_COLUMN", f"it was made on {made_by.sdk.version} and "
                f"Python {made_by.python}")
    plan = envelope.plan
    said = (row.area, row.title, list(row.upstream))
    if said != (plan["area"], plan["title"], list(plan.get("upstream", ()))):
        _refuse(name, "ROW_DIFFERS", "the plan has another area, title or upstream links")


def refuse_first(code: str, names: Iterable[str], problem: str, hint: str = "") -> None:
    """End the procedure if there are such names, telling the first and how many there are."""
    found = sorted(names)
    if found:
        reject(code, f"{found[0]} {problem}"
               + (f" (and {len(found) - 1} more)" if len(found) > 1 else ""), hint)


def _refuse(name: str, code: str, message: str, hint: str = "") -> NoReturn:
    reject(code, f"{name}: {message}", hint)
