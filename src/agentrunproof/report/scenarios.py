"""Pages of the packaged scenarios: one for each area, and one that leads to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentrunproof.plan.capabilities import CAPABILITIES, needed, since
from agentrunproof.plan.model import Plan
from agentrunproof.plan.variants import Unfit, vary
from agentrunproof.report.history import link

_WRITTEN = "<!-- Written by scripts/update_docs.py from scenarios/; edit the plans instead. -->"

_INDEX = """# Scenarios

{written}

{count} plans are packaged, each with the contract it is about, why that matters and where the SDK's
documentation speaks of it. A plan is judged by every [contract](../contracts.md) that applies to
what is seen of its run, not by its own alone.

```bash
agentrunproof list-scenarios --area sessions
agentrunproof explain session-limit      # in words: agents, phases, what must come out
agentrunproof probe session-limit        # on the installed SDK
```

| area | scenarios | with a report | with a known failure |
|---|---|---|---|
"""

_AREA = """# Scenarios: {area}

{written}

{count}. [All areas](README.md); `agentrunproof explain ID` tells a plan in words,
`agentrunproof probe ID` runs it and names every contract that judged it. *Relations* are the ways
in which it is run once more and must come to the same. Known failures stand on the releases named.
"""


def index(plans: Mapping[str, Plan], known: Mapping[str, Sequence[str]]) -> str:
    """The page that leads to the areas.

    Args:
        plans: all packaged plans by id.
        known: known failures in words, by scenario id.
    """
    counts = Counter(plan.area for plan in plans.values())
    reported = Counter(plan.area for plan in plans.values() if plan.upstream)
    failing = Counter(plan.area for id, plan in plans.items() if known.get(id))
    rows = [f"| [{area}]({area}.md) | {counts[area]} | {reported[area]} | {failing[area]} |"
            for area in sorted(counts)]
    total = f"| all | {counts.total()} | {reported.total()} | {failing.total()} |"
    return _INDEX.format(written=_WRITTEN, count=len(plans)) + "\n".join([*rows, total]) + "\n"


def page(area: str, plans: Mapping[str, Plan], known: Mapping[str, Sequence[str]]) -> str:
    """The page of an area.

    Args:
        area: its name.
        plans: its plans by id, in the order of the page.
        known: known failures in words, by scenario id.
    """
    count = f"{len(plans)} scenario{'' if len(plans) == 1 else 's'}"
    lines = [_AREA.format(area=area, written=_WRITTEN, count=count)]
    for id, plan in plans.items():
        lines += _section(id, plan, known.get(id, ()))
    return "\n".join(lines)


def _section(id: str, plan: Plan, known: Iterable[str]) -> Iterator[str]:
    yield from (f"## {id}", "", f"{plan.title}.".replace("..", "."), "")
    yield f"- Contract: {plan.contract}"
    yield f"- Why it matters: {plan.why}"
    yield "- Documentation: " + ", ".join(f"<{page}>" for page in plan.docs)
    if plan.upstream:
        yield "- Upstream: " + ", ".join(link(report) for report in plan.upstream)
    yield from (f"- Calls: `{phase.call.python.removeprefix('python:')}` "
                f"with `{phase.call.arguments}`"
                for phase in plan.phases if phase.call is not None)
    yield f"- Releases: {_releases(plan)}"
    watched = dict.fromkeys(found.relation for found in vary(plan) if not isinstance(found, Unfit))
    if watched:
        yield "- Relations: " + ", ".join(f"[{name}](../contracts.md#relation_{name})"
                                          for name in watched)
    yield from (f"- Known failure: {words}" for words in known)
    yield ""


def _releases(plan: Plan) -> str:
    """From which release on a plan can be run, and what it needs of it."""
    names = needed(plan)
    first = since(names)
    which = f"{first} and later" if first else "all"
    if plan.calls:
        which += ", as far as they have what is called"
    return which + (f" ({'; '.join(CAPABILITIES[name] for name in names)})" if names else "")
