"""A pytest file that asks the live model again whether a fix holds."""

from __future__ import annotations

from fractions import Fraction

from agentrunproof.ablation import statistics
from agentrunproof.ablation.subject import Target
from agentrunproof.fix import python_text
from agentrunproof.record.fix import Change


def script(target: Target, change: Change, context: str, *, runs: int, tolerance: Fraction,
           measured: str = "", deterministic: bool = False) -> str:
    """The text of the file.

    Args:
        target: what must not be decided any more.
        change: what is to keep the model from it; nothing where the request stays as it is.
        context: name of the context's file, beside this one.
        runs: how often the model is asked.
        tolerance: the rate that is tolerated.
        measured: what was measured when the test was written, as a sentence.
        deterministic: whether the model always does the same.
    """
    constants, arguments = _change(change)
    bound = statistics.upper_bound(0, runs)
    says = "it always does the same" if deterministic else f"0 of {runs} says: at most {bound}"
    parts = [
        python_text.docstring(
            f"{_title(target)}.",
            f"Recorded was: {_cut(str(target.recorded))} {measured}".strip(),
            f"The live model is asked RUNS times with the request in {context}"
            f"{' and what is changed below' if arguments else ''}; nothing is cached. Where there "
            "is no key, the test is skipped."),
        "from pathlib import Path\n\nfrom agentrunproof.testing import ask",
        "\n".join([
            f'CONTEXT = Path(__file__).with_name("{context}")', f"RUNS = {runs}",
            f"TOLERATED = {statistics.decimal(tolerance)}  # {says}"]),
        *constants,
        "\n".join([
            f"\ndef test_{name(target)}():",
            f"    odds = ask(CONTEXT, {', '.join(['runs=RUNS', *arguments])})",
            "    assert odds.upper <= TOLERATED, odds"])]
    return "\n\n".join(parts) + "\n"


def name(target: Target) -> str:
    """What the test is called, after ``test_``."""
    return python_text.word(_title(target))


def _title(target: Target) -> str:
    kind, _, rest = target.spec.partition(":")
    if kind == "tool":
        tool, _, condition = rest.partition(":")
        return f"The model does not call {tool}" + (f" with {condition}" if condition else "")
    return f"The model does not say {rest}" if kind == "text" else \
        "The model does not decide so again"


def _change(change: Change) -> tuple[list[str], list[str]]:
    """The constants that hold a change, and the arguments that hand it over."""
    constants, arguments = [], []
    if change.system is not None:
        constants.append(python_text.text("SYSTEM", change.system))
        arguments.append("system=SYSTEM")
    if change.added:
        constants.append(python_text.text("ADDED", change.added))
        arguments.append("add_system=ADDED")
    if change.marked:
        arguments.append("mark_results=True")
    if change.removed:
        constants.append(python_text.value("REMOVED", list(change.removed)))
        arguments.append("remove=REMOVED")
    if change.replaced:
        constants.append(python_text.value("REPLACED", {one.id: one.text
                                                        for one in change.replaced}))
        arguments.append("replace=REPLACED")
    return constants, arguments


def _cut(said: str) -> str:
    said = " ".join(said.split())
    return (said if len(said) <= 300 else said[:297] + "...").rstrip(".") + "."
