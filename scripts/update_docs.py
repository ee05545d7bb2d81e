"""Writes the pages of docs/ that follow from the code and from the evidence.

Run it after changing a contract or the evidence; a test fails while what is on disk differs.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.contracts.base import Contract
from agentrunproof.contracts.registry import CONTRACTS, verdict
from agentrunproof.lab import releases
from agentrunproof.record import history
from agentrunproof.record.history import History
from agentrunproof.report import history as report

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

HEAD = """# Contracts

<!-- Written by scripts/update_docs.py from src/agentrunproof/contracts; edit the code instead. -->

A contract is one promise of the Agents SDK's Runner. Each contract that applies to a plan is
judged on every run of it and gives one check: `PASS`, `FAIL` with the code of the first breach,
or `UNTESTABLE` where the run left nothing to judge by. A contract that does not apply is absent.
A failed check says where (`mode/phase`), what was seen, and how many more breaches there are.

What a contract compares is narrower than its promise where the promise leaves the Runner a
choice; its section says where.

## How the verdict follows
"""

HISTORY = """# The history matrix

<!-- Written by scripts/update_docs.py from evidence/history/matrix.json. -->

Do the checks detect what they claim? Each row below is a bug that an SDK release had and a later
one does not. The named check of a packaged scenario fails with the named code on the releases that
have it and passes on the first that does not; the releases at both ends were found by running all
of them. {rows} rows, {universal} of them by checks that watch every run of every plan.

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
    universal = sum(bug.universal for bug in recorded.rows)
    return HISTORY.format(rows=len(recorded.rows), universal=universal) \
        + report.table(recorded) + "\n"


def history_picture(recorded: History) -> str:
    """The text of docs/images/history.svg."""
    return report.picture(recorded, list(releases.known()))


def _section(contract: Contract) -> list[str]:
    module = importlib.import_module(f"agentrunproof.contracts.{contract.name}")
    told = (inspect.getdoc(module) or "").replace("``", "`")
    lines = [f"### {contract.name}", "", told, "", f"Source: <{contract.source}>", "",
             "| code | meaning |", "|---|---|"]
    return lines + [f"| `{code}` | {meaning} |" for code, meaning in contract.codes.items()]


def main() -> None:
    recorded = recorded_history()
    (DOCS / "images").mkdir(exist_ok=True)
    for name, text in (("contracts.md", contracts_page()), ("history.md", history_page(recorded)),
                       ("images/history.svg", history_picture(recorded))):
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
