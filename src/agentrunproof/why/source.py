"""Bits of Python source, and the words that stand in it."""

from __future__ import annotations

import builtins
import json
import keyword
import pprint
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from agentrunproof.plan.items import template_fields
from agentrunproof.plan.model import Decision, ModelError, Plan
from agentrunproof.why.facts import Claim

#: No line of a script is longer.
WIDTH = 96

#: A value that is longer is shown where it parts from the other one.
_LONGEST = 200


def wording(claim: Claim) -> str:
    """The assertion in plain words."""
    def listed(value: Sequence[str]) -> str:
        return ", ".join(value) if value else "nothing"

    run = f"in run '{claim.phase}' "
    if claim.fact == "unpaired":
        return run + "a call and its output must stand together wherever the model or the " \
            f"session gets one; alone stood {listed(claim.found)}"
    if claim.fact == "tools":
        return run + f"the tools started must be {listed(claim.expected)}; started were " \
            f"{listed(claim.found)}"
    if claim.fact == "pending":
        return run + f"{listed(claim.expected)} must wait for a decision; " \
            f"{listed(claim.found)} did"
    if claim.fact == "outcome":
        # Our scripted model's own exception; the script's model has an assertion in its place.
        found = "went on and called the model again" \
            if claim.found == "raised ScriptExhausted" else f"was {claim.found}"
        return f"the run '{claim.phase}' must end as {claim.expected}; it {found}"
    expected, found, at = _parting(claim.expected, claim.found)
    return run + f"{claim.fact}{at} must be {_shown(expected)}; it was {_shown(found)}"


def _parting(expected: Any, found: Any) -> tuple[Any, Any, str]:
    """Two values where they part, and where that is: all of them, if they are short."""
    at = ""
    while isinstance(expected, list) and isinstance(found, list) and max(
            len(json.dumps(value)) for value in (expected, found)) > _LONGEST:
        pairs = zip(expected, found, strict=False)
        n = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
        if n is None:  # one is the beginning of the other
            n = min(len(expected), len(found))
            return expected[n:], found[n:], f"{at}[{n}:]"
        expected, found, at = expected[n], found[n], f"{at}[{n}]"
    return expected, found, at


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST - 3]}..."


def error(raised: ModelError) -> str:
    """An exception that a scripted model raises."""
    module = "asyncio." if raised.type == "CancelledError" else ""
    return f"{module}{raised.type}({raised.message!r})"


def link(upstream: str) -> str:
    """An upstream reference as a link to its thread."""
    name, _, number = upstream.partition("#")
    return f"https://github.com/openai/{name}/issues/{number}" if number.isdigit() else upstream


def split(text: str) -> list[str]:
    """A text in pieces that fit on a line, each but the last with the space that ends it."""
    lines = textwrap.wrap(text, WIDTH - 12)
    return [*(f"{line} " for line in lines[:-1]), *lines[-1:]]


def decision(made: Decision) -> str:
    """A call of the script's own ``decide``."""
    options = ""
    if made.always:
        options += f", always_{'approve' if made.approve else 'reject'}=True"
    if made.message is not None:
        options += f", rejection_message={made.message!r}"
    return f"decide(state, {made.call!r}, {made.approve}{options})"


def literal(value: Any, indent: int) -> str:
    """A value as Python writes it, on several lines if it is long.

    Args:
        value: of JSON.
        indent: columns of the line that it begins on.
    """
    text = pprint.pformat(value, width=WIDTH - indent - 4, sort_dicts=False)
    return text.replace("\n", "\n" + " " * (indent + 4))


def arguments(options: dict[str, str]) -> str:
    """Keyword arguments in brackets; nothing where there are none."""
    return f"({', '.join(f'{key}={value}' for key, value in options.items())})" if options else ""


def template(text: str) -> str:
    """A Python expression for a tool's output text; parameters are filled in as they are."""
    if not template_fields(text):
        return repr(text)
    return f"{text!r}.format({', '.join(f'{one}={one}' for one in template_fields(text))})"


def word(name: str) -> str:
    """A name as a part of Python names."""
    text = re.sub(r"\W", "_", name)
    return text if text.isidentifier() and not keyword.iskeyword(text) else f"_{text}"


#: Names that a script uses itself.
_TAKEN = frozenset((
    "asyncio", "call", "call_id", "decide", "given", "handoff", "held", "hooks", "json", "label",
    "labels", "run", "say", "scenario", "seen", "session", "spans", "started", "state", "think",
    "unpaired"))


def identifiers(plan: Plan) -> dict[str, str]:
    """A Python name for every named part, none of them given twice or taken by the prelude."""
    taken = {*_TAKEN, *dir(builtins)}
    names: dict[str, str] = {}
    for part in (plan.agents, plan.tools, plan.guardrails):
        for name in part:
            chosen = word(name)
            while chosen in taken:
                chosen += "_"
            taken.add(chosen)
            names[name] = chosen
    return names
