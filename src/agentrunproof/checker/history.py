"""The numbered procedure by which a history matrix is checked against its certificates.

 1. Bytes: strict JSON, and exactly the canonical bytes of the value they hold.
 2. Shape and id: a history of the format this version knows, named by the digest of the rest.
 3. Form: made by a version of ours; rows in their order, none twice; a check and a code that
    exist; four releases that exist, in order, the outer ones next to the inner ones.
 4. Members: every certificate that a side names is there, and nothing else is.
 5. Certificates: each is valid by the procedure for certificates, and has the id that is named.
 6. Belonging: each is of the plan of its row, and was made on the release and Python of its side;
    what the row says of the plan is what the plan says.
 7. Derivation: what each side says of the check is what its certificate says.
 8. Showing: the check fails with the code on the first and the last bad release, passes on the
    first fixed one, and does not fail with that code on the release before the first bad one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentrunproof.checker import binding, procedure
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.checker.members import Assess, Members, Read, name_of
from agentrunproof.contracts import registry
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import history as histories
from agentrunproof.record import sdk_releases
from agentrunproof.record.history import Bug, History, Side
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, Row


def check(data: bytes, names: Iterable[str], read: Read, *, reproduced: bool = False,
          assess: Assess | None = None) -> Judgement:
    """Check the bytes of a history by all steps; the first that does not hold ends it.

    Args:
        data: the content of the history's file.
        names: of all members, each ``<column key>/<scenario>.json``.
        read: gives the bytes of one.
        reproduced: accept only observations that this version has made itself.
        assess: assesses many members at once, in place of reading and checking each here.
    """
    id = ""
    members = Members(names, read, reproduced, assess)
    try:
        value = procedure.read(data)                                                       # 1
        history = histories.FORM.from_json(value)                                          # 2
        id = value["id"]
        _check_form(history)                                                               # 3
        members.check_names(name_of(history.column(side), bug.scenario)
                            for bug, _, side in _sides(history))                           # 4
        _check_sides(history, members)                                           # 5, 6 and 7
        _check_rows_show(history)                                                          # 8
    except AgentRunProofError as problem:
        return refused(problem, id=id)
    return Judgement(valid=True, code="OK", id=id, notes=tuple(members.notes()))


def _sides(history: History) -> Iterator[tuple[Bug, str, Side]]:
    for bug in history.rows:
        for name, side in bug.sides:
            yield bug, name, side


def _check_form(history: History) -> None:
    binding.check_version(history.producer.version)
    if not history.rows:
        reject("HISTORY_EMPTY", "there is no row")
    places = [histories.order(bug) for bug in history.rows]
    if places != sorted(set(places)):
        reject("ROWS_DISORDERED", "the rows are not in order, or one stands twice")
    for bug in history.rows:
        contract = registry.find(bug.check)
        if contract is None or bug.code not in contract.codes:
            reject("CHECK_UNKNOWN", f"{_title(bug)}: no check fails like that")
        if bug.universal != histories.is_universal(bug.check):
            reject("UNIVERSAL_WRONG", f"{_title(bug)}: whether the check watches every run is "
                   "said wrongly")
        if bug.bug is not None and bug.bug not in bug.upstream:
            reject("REPORT_UNKNOWN", f"{_title(bug)}: the plan has no link to {bug.bug}")
        _check_releases(bug)


def _check_releases(bug: Bug) -> None:
    """The sides are releases that exist, and the outer ones neighbours of the inner ones."""
    known = list(sdk_releases.known())
    places = {}
    for name, side in bug.sides:
        if side.sdk not in known:
            reject("RELEASE_UNKNOWN", f"{_title(bug)}: {name} is {side.sdk}, which is no release")
        places[name] = known.index(side.sdk)
    first, last = places["first_bad"], places["last_bad"]
    if places.get("before", -1) != first - 1 or first > last \
            or places["first_fixed"] != last + 1:
        reject("RELEASES_APART", f"{_title(bug)}: the releases around a boundary are not "
               "neighbours, or not in order")


def _check_sides(history: History, members: Members) -> None:
    found: dict[tuple[Row, Column, str], Finding] = {}  # one certificate may serve several sides
    for bug, name, side in _sides(history):
        place = bug.row, history.column(side), side.certificate
        if place not in found:
            found[place] = members.find(*place)
        derived = histories.side(side.sdk, bug.check, found[place])
        if derived != side:
            reject("SIDE_DIFFERS", f"{_title(bug)}: {name} says {side.words} of {side.sdk}, the "
                   f"certificate gives {derived.words}")


def _check_rows_show(history: History) -> None:
    for bug in history.rows:
        problem = histories.broken(bug)
        if problem:
            reject("ROW_SHOWS_NOTHING", f"{bug.scenario}: {problem}")


def _title(bug: Bug) -> str:
    return f"{bug.scenario} {bug.check}:{bug.code}"
