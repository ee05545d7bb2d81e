"""Short ways to write the steps of made-up runs."""

from __future__ import annotations

import json
from typing import Any

from agentrunproof.localize.ranking import Result, localize
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step


def task(number: int, text: str) -> Step:
    return Step(number=number, kind="input", agent="user", input=text)


def tool(number: int, name: str, status: Any = "ok", output: str = "", *, by: int | None = None,
         changes: dict[str, str] | None = None, facts: dict[str, str] | None = None,
         **arguments: str) -> Step:
    return Step(number=number, kind="tool", tool=name, status=status, output=output, asked_by=by,
                error="it broke" if status == "error" else "", changes=changes or {},
                facts=facts or {}, input=json.dumps(arguments) if arguments else "")


def answer(number: int, text: str, agent: str = "worker", status: Any = "ok",
           **facts: str) -> Step:
    return Step(number=number, kind="answer", agent=agent, output=text, status=status, facts=facts)


def end(number: int, outcome: str) -> Step:
    return Step(number=number, kind="end", facts={"outcome": outcome})


def of(*steps: Step, failed: bool = False) -> Result:
    return localize(Trace(steps, failed=failed))
