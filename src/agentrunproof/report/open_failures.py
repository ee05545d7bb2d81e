"""The page of what the newest release still gets wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentrunproof.plan.model import Plan
from agentrunproof.record.open_failures import Aside, Declared, Measured, Open

_HEAD = """# Known failures on {sdk}

<!-- Written by scripts/run_open.py from evidence/open/. -->

What openai-agents {sdk} is seen to do, and which sentence of its documentation, or which relation
between two of its runs, that contradicts. Everything here was found and confirmed by running. None
of it says how the SDK ought to be changed.

| kind | rows | |
|---|---|---|
{kinds}

Each row has the smallest plan that shows it, a certificate, and a test for pytest that uses the
SDK's public API alone (no key, no network). Every plan was run {runs} times in new processes on
Python {python}, and every test as often. "{runs} of {runs}" means that the check failed with its
code in each of them; of a bug, all certificates had the same bytes besides, and each run of the
test ended with its assertion.

```bash
agentrunproof probe evidence/open/plans/cancelled-model-call.toml --sdk {sdk}         # FAIL
agentrunproof check-certificate evidence/open/certificates/cancelled-model-call.json
python -B -m pytest evidence/open/reproducers/test_cancelled_model_call.py
python scripts/run_open.py                                                # all of it again
```

(`-B` leaves no bytecode beside the evidence; `check-sums` would name it.)

The plans are not packaged scenarios: those pass on the newest release, or are listed in
`scenarios/known-failures.toml`. Once a release mends a row, its plan becomes one, with a row in the
[history](history.md).
"""

_MEANING = {"bug": "shows in every run", "race": "shows in some runs, at the rate that is stated",
            "documented": "set aside: the documentation says so, or warns of it",
            "ours": "set aside: our own expectation, which nothing quotable promises"}


def page(declared: Declared, plans: Mapping[str, Plan], measured: Measured) -> str:
    """The text of the page.

    Args:
        declared: the rows.
        plans: of the rows, by id.
        measured: what came of running them.
    """
    found: list[str] = [row.kind for row in declared.rows]
    found += [one.kind for one in declared.aside]
    counts = {kind: found.count(kind) for kind in _MEANING}
    kinds = "\n".join(f"| {kind} | {counts[kind]} | {meaning} |"
                      for kind, meaning in _MEANING.items())
    lines = [_HEAD.format(sdk=declared.sdk, runs=measured.runs, python=measured.python,
                          kinds=kinds)]
    lines += ["## The rows", "", "| plan | check: code | since | contradicts | seen |",
              "|---|---|---|---|---|"]
    lines += [f"| [`{row.id}`](#{row.id}) | `{row.check}`: `{row.code}` | {_since(row)} | "
              f"{_against(row)} | {_seen(row, measured)} |" for row in declared.rows]
    for row in declared.rows:
        lines += ["", *_section(row, plans[row.id])]
    lines += ["", "## Set aside", "", "| | kind | seen | why it is no row |", "|---|---|---|---|"]
    lines += [_aside(one) for one in declared.aside]
    return "\n".join(lines) + "\n"


def _since(row: Open) -> str:
    return f"{row.since} ({row.passes} passes)" if row.passes else row.since


def _against(row: Open) -> str:
    parts = ["a promise"] * (row.promise is not None) + ["a relation"] * (row.relation is not None)
    return " and ".join(parts)


def _seen(row: Open, measured: Measured) -> str:
    seen = measured.rows.get(row.id)
    return "not run" if seen is None else f"{seen.failed} of {measured.runs}"


def _section(row: Open, plan: Plan) -> Iterator[str]:
    yield f"### {row.id}"
    yield ""
    yield f"{plan.title}. {plan.contract} {plan.why}".rstrip()
    if row.promise is not None:
        yield ""
        yield f"> {row.promise}"
        yield ">"
        yield f"> <{row.url}>"
    if row.relation is not None:
        yield ""
        yield f"Must come to the same: {row.relation}."
    if row.note:
        yield ""
        yield row.note
    test = f"test_{row.id.replace('-', '_')}.py"
    yield ""
    yield (f"[plan](../evidence/open/plans/{row.id}.toml) · "
           f"[certificate](../evidence/open/certificates/{row.id}.json) · "
           f"[test](../evidence/open/reproducers/{test})")


def _aside(one: Aside) -> str:
    why = f"{one.why} (<{one.url}>)" if one.url else one.why
    return f"| {one.id} | {one.kind} | {one.what} | {why} |"
