"""Localized runs to be shown as pages."""

from __future__ import annotations

from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step
from agentrunproof.report import localization_page
from tests.report.pages import HOSTILE


def deploy(between: int = 6) -> list[Step]:
    """A run that writes a wrong configuration, does other things, and fails on it."""
    steps = [Step(number=1, kind="start"),
             Step(number=2, kind="input", agent="user", input="Deploy; environment is production."),
             Step(number=3, kind="answer", agent="ops", call="m1", output="write_config(...)"),
             Step(number=4, kind="tool", tool="write_config", asked_by=3, output="written",
                  input='{"path": "config.yaml", "environment": "staging"}')]
    steps += [Step(number=number, kind="tool", tool="look", input=f'{{"at": {number}}}',
                   output=f"seen {number}") for number in range(5, 5 + between)]
    last = len(steps)
    return [*steps,
            Step(number=last + 1, kind="tool", tool="fetch", input='{"u": 1}', status="error",
                 error=f"reset {HOSTILE}"),
            Step(number=last + 2, kind="tool", tool="fetch", input='{"u": 1}', output="ok"),
            Step(number=last + 3, kind="answer", agent="ops", call="m2", output="pytest(...)"),
            Step(number=last + 4, kind="tool", tool="pytest", asked_by=last + 3, status="error",
                 input='{"config": "config.yaml"}', output=f"{HOSTILE} expected production",
                 error="exited with 1"),
            Step(number=last + 5, kind="end", facts={"outcome": "raised"})]


def page(steps: list[Step], *, name: str = "deploy", failed: bool = False) -> str:
    """The page of a run."""
    return localization_page.render(localize(Trace(steps, failed=failed)), steps, name=name,
                                    words=["my run.jsonl"], format="run", failed=failed)
