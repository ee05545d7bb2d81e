"""Writes the pages of docs/ that follow from the code and from the evidence.

Run it after changing a contract or the evidence; a test fails while what is on disk differs.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from agentrunproof import canonical, shape
from agentrunproof.contracts.base import Contract
from agentrunproof.contracts.registry import CONTRACTS, verdict
from agentrunproof.lab import expected, releases
from agentrunproof.lab import history as rows
from agentrunproof.plan import catalog
from agentrunproof.plan.loader import read_toml
from agentrunproof.record import history
from agentrunproof.record.history import History
from agentrunproof.report import coverage, scenarios
from agentrunproof.report import history as report
from agentrunproof.report.coverage import Promises

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

HEAD = """# Contracts

<!-- Written by scripts/update_docs.py from src/agentrunproof/contracts; edit the code instead. -->

A contract is one promise of the Agents SDK's Runner. Each contract that applies to a plan is
judged on every run of it and gives one check: `PASS`, `FAIL` with the code of the first breach,
or `UNTESTABLE` where the run left nothing to judge by. A contract that does not apply is absent.
A failed check says where (`mode/phase`), what was seen, and how many more breaches there are.

What a contract compares is narrower than its promise where the promise leaves the Runner a
choice; its section says where. [coverage.md](coverage.md) goes the other way: from the sentences of
the documentation to the checks that watch them.

That a check can fail is tested too: of every code there is a run, broken in one place, that flips
exactly the checks it must, and [mutation.md](mutation.md) tells how many small changes of each
contract those runs would notice (`uv run --group mutation python scripts/mutate_contracts.py`).

## How the verdict follows
"""

HISTORY = """# The history matrix

<!-- Written by scripts/update_docs.py from evidence/history/matrix.json. -->

Do the checks detect what they claim? Each row below is a bug that an SDK release had and a later
one does not. The named check of a packaged scenario fails with the named code on the releases that
have it and passes on the first that does not; the releases at both ends were found by running all
of them. {caught}.

Not every bug shows in a run. Where a tool's schema, a session backend or an MCP result is what is
wrong, the plan [calls](plan.md#calls) a small function of the package, or a case of the
[session suite](session-suite.md), on the release: {calls} rows are such.

![Upstream bugs over SDK releases](images/history.svg)

## Look for yourself

```bash
agentrunproof check-history-matrix evidence/history/matrix.json
agentrunproof check-bundle evidence/history --locks requirements
agentrunproof check-sums SHA256SUMS
agentrunproof probe session-limit-orphan-output --sdk 0.19.4     # FAIL
agentrunproof probe session-limit-orphan-output --sdk 0.20.0     # PASS
```

`evidence/history/` holds the record (`matrix.json`), the certificate of every scenario on the four
releases around its bug (before it, the first and the last with it, the first without), and
`bundle.json`, which names each file by its SHA-256 and says how they were made: on Linux x86_64 and
CPython 3.12, in new environments of exactly the wheels in `requirements/`, behind an audit hook and
in a network namespace without interfaces, from a clean checkout of the commit it names. It is
written last: a folder without it is no evidence. `check-bundle` judges every certificate again and
refuses an altered, missing, additional or made up file with the reason.

What that does not show: the packages were fetched from an index before the runs (the locks say
which files came); that the environments were new, on that machine and of that commit, is what the
bundle says, and who says it is for a signature. The releases between the ends of a bar were run
as well, all with the same result, but their certificates are not kept here.

`sha256sum -c SHA256SUMS` passes over files that the list does not name. `check-sums` does not.

## Make it again

```bash
python scripts/run_history_matrix.py                   # a rehearsal, in build/history
python scripts/run_history_matrix.py --rows 4322       # of one bug
python scripts/update_requirements.py                  # locks of releases that rows newly need
python scripts/run_history_matrix.py --canonical --out evidence/history
python scripts/update_sums.py
```

Rows are declared in `history/`. `--canonical` wants a clean checkout and runs all of them.

## The rows

The report is the upstream issue or pull request; where none is known, the bug was found by running.
*By* says what caught it: a check that watches every run (universal), a relation between runs, a
case of the session suite, or only what the plan expects.

"""

LISTED = """
## Which bugs

The matrix set out from a list of {listed} upstream bugs, each seen to fail on one release and to
pass on the next. {shown} of them are rows; the other rows were found on the way.
"""


def contracts_page() -> str:
    """The text of docs/contracts.md."""
    rules = (inspect.getdoc(verdict) or "").replace("``", "`")
    parts = [HEAD, rules, "", "## The checks", "", "| check | promise |", "|---|---|"]
    parts += [f"| [`{c.name}`](#{c.name}) | {c.promise} |" for c in CONTRACTS]
    for contract in CONTRACTS:
        parts += ["", *_section(contract)]
    return "\n".join(parts) + "\n"


def recorded_history() -> History:
    """The history matrix of the evidence."""
    return history.FORM.from_json(canonical.parse(
        (ROOT / "evidence" / "history" / "matrix.json").read_bytes()))


def history_page(recorded: History) -> str:
    """The text of docs/history.md."""
    calls = sum(catalog.load(bug.scenario).calls for bug in recorded.rows)
    return HISTORY.format(caught=report.caught(recorded), calls=calls) \
        + report.table(recorded) + "\n" + _listed(recorded)


def _listed(recorded: History) -> str:
    """Which of the bugs on the list have a row, and why the others have none."""
    made = {(bug.scenario, bug.check, bug.code) for bug in recorded.rows}
    shown = {row.listed for row in rows.load(ROOT / "history")
             if (row.scenario, row.check, row.code) in made}
    listed = rows.listed(ROOT / "history")
    lines = [LISTED.format(listed=len(listed.bugs), shown=len(shown & {*listed.bugs}))]
    missing = [bug for bug in listed.bugs if bug not in shown]
    if missing:
        lines += ["| without a row | why |", "|---|---|"]
        lines += [f"| {bug} | {listed.uncovered.get(bug, 'its row is not in the evidence yet')} |"
                  for bug in missing]
    return "\n".join(lines) + "\n" * bool(missing)


def history_picture(recorded: History) -> str:
    """The text of docs/images/history.svg."""
    return report.picture(recorded, list(releases.known()))


def scenario_pages() -> dict[str, str]:
    """The pages of docs/scenarios/, by the names of their files."""
    plans = {id: catalog.load(id) for id in catalog.ids()}
    known: dict[str, list[str]] = {}
    for failure in expected.load():
        for id in failure.scenarios:
            known.setdefault(id, []).append(_failure(failure))
    pages = {"README.md": scenarios.index(plans, known)}
    for area in dict.fromkeys(plan.area for plan in plans.values()):
        mine = {id: plan for id, plan in plans.items() if plan.area == area}
        pages[f"{area}.md"] = scenarios.page(area, mine, known)
    return pages


def _failure(known: expected.KnownFailure) -> str:
    """A known failure in words."""
    reason = known.upstream or ""
    if "#" in reason and "://" not in reason:
        reason = report.link(reason)
    told = ". ".join(part for part in (reason, known.note) if part)
    code = f" (`{known.code}`)" if known.code else ""
    return f"`{known.check}`{code} on {known.sdk.replace('<', '&lt;')}: {told}"


def _section(contract: Contract) -> list[str]:
    module = importlib.import_module(f"agentrunproof.contracts.{contract.name}")
    told = (inspect.getdoc(module) or "").replace("``", "`")
    lines = [f"### {contract.name}", "", told, "", f"Source: <{contract.source}>", "",
             "| code | meaning |", "|---|---|"]
    return lines + [f"| `{code}` | {meaning} |" for code, meaning in contract.codes.items()]


def promises() -> Promises:
    """What docs/promises.toml lists."""
    listed: Promises = shape.decode(Promises, read_toml(DOCS / "promises.toml"))
    return listed


def coverage_page() -> str:
    """The text of docs/coverage.md."""
    areas = {id: entry.area for id, entry in catalog.summaries().items()}
    return coverage.page(promises(), areas)


def pages() -> dict[str, str]:
    """Everything that this script writes: texts by their paths below docs/."""
    recorded = recorded_history()
    found = {"contracts.md": contracts_page(), "coverage.md": coverage_page(),
             "history.md": history_page(recorded), "images/history.svg": history_picture(recorded)}
    return found | {f"scenarios/{name}": text for name, text in scenario_pages().items()}


def main() -> None:
    made = pages()
    for path in (DOCS / "scenarios").glob("*.md"):
        if f"scenarios/{path.name}" not in made:
            path.unlink()  # of an area that is no more
    for name, text in made.items():
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
