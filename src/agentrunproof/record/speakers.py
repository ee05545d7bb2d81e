"""Who speaks in a conversation of agents, by the names that logs of such conversations have.

Besides people and agents there are executors (AutoGen's ``Computer_terminal``): what they say is
the result of what another wrote. Magentic-One's log says in the name to whom an agent speaks:
``Orchestrator (-> WebSurfer)``, or that it is an aside: ``Orchestrator (thought)``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_PEOPLE = {"user", "human", "system", "developer"}
_EXECUTES = re.compile(r"terminal|executor|interpreter|^tool$|^function$|^environment$", re.I)
_TO = re.compile(r"^(?P<by>.+?) \(-> (?P<to>.+)\)$")
_ASIDE = re.compile(r"^(?P<by>.+?) \((?P<what>thought|termination condition)\)$")


@dataclass(frozen=True)
class Speaker:
    """Who says something.

    Args:
        name: of the agent, the person's role, or the executor.
        kind: what the speaker is.
        to: the agent to whom this hands over, or empty.
        aside: what else it is than a message to others, or empty.
    """

    name: str
    kind: Literal["person", "executor", "agent"]
    to: str = ""
    aside: str = ""


def read(label: str) -> Speaker:
    """The speaker that a message names."""
    if label.lower() in _PEOPLE:
        return Speaker(label, "person")
    if _EXECUTES.search(label):
        return Speaker(label, "executor")
    handoff, aside = _TO.match(label), _ASIDE.match(label)
    if handoff:
        return Speaker(handoff["by"], "agent", to=handoff["to"])
    if aside:
        return Speaker(aside["by"], "agent", aside=aside["what"])
    return Speaker(label, "agent")
