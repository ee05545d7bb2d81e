"""Who did what, while many agents run at once: scopes, and the tool calls that models asked for.

A *scope* says which agent runs here and inside of which tool call; a context variable holds it, so
every thread and task has its own. A tool that runs is linked to the model call that asked for it,
by the first of these that applies:

1. the id of the tool call, where the framework tells it,
2. the same tool and arguments, asked for by the latest reply in this context,
3. the same tool and arguments, asked for by this agent, or else by one agent only (a thread
   pool's worker does not have the agent's context),
4. the same tool, asked for once by the latest reply in this context (its arguments were changed).

Where two agents wait for the same and nothing tells them apart, the tool stays without a link
rather than getting a wrong one.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

#: So many different tool calls are waited for; many are never run where a recorder can see it.
MOST = 5000


@dataclass(frozen=True)
class Scope:
    """Who does something.

    Args:
        agent: the agent's name.
        parent: the tool call inside of which it runs.
        of: what tells it from others of that name: a block, a trace.
        asking: it waits for a model's reply.
    """

    agent: str = ""
    parent: str = ""
    of: str = ""
    asking: bool = False


NOBODY = Scope()


@dataclass(eq=False)
class Asked:
    """A tool call in a model's reply that no tool has been run for yet."""

    model_call: str
    scope: Scope
    id: str
    tool: str
    arguments: str


@dataclass
class _Replies:
    """What the latest reply in a context asked for."""

    asked: list[Asked] = field(default_factory=list)


class Links:
    """The scopes and open tool calls of one recorder. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._scope: ContextVar[Scope] = ContextVar("scope", default=NOBODY)
        self._latest: ContextVar[_Replies | None] = ContextVar("latest", default=None)
        self._asked: dict[tuple[str, str], list[Asked]] = {}

    @property
    def scope(self) -> ContextVar[Scope]:
        """The context variable of the scope."""
        return self._scope

    def replied(self, model_call: str, scope: Scope, decision: dict[str, Any]) -> None:
        """A model replied in this context: what it asked for is waited for."""
        asked = [Asked(model_call, scope, call["id"], call["name"], key_of(call["arguments"]))
                 for call in decision["tool_calls"]]
        for one in asked:
            self._asked.setdefault((one.tool, one.arguments), []).append(one)
        while len(self._asked) > MOST:
            del self._asked[next(iter(self._asked))]
        self._latest.set(_Replies(asked))

    def take(self, tool: str, arguments: Any, id: str, scope: Scope) -> Asked | None:
        """The tool call that a model asked for and that is run now, if it can be told.

        Args:
            tool: its name.
            arguments: what it is called with.
            id: the id that the model gave it, or empty.
            scope: who runs it.
        """
        wanted = key_of(arguments)
        latest = self._latest.get()
        here = latest.asked if latest is not None else []
        found = (self._by_id(tool, id, here, scope) if id
                 else self._alike(tool, wanted, here, scope))
        if found is not None:
            for waiting in (here, self._asked.get((found.tool, found.arguments), [])):
                if found in waiting:
                    waiting.remove(found)
            if not self._asked.get((found.tool, found.arguments), True):
                del self._asked[found.tool, found.arguments]
        return found

    def _by_id(self, tool: str, id: str, here: list[Asked], scope: Scope) -> Asked | None:
        local = [one for one in here if one.id == id and one.tool == tool]
        if local:
            return local[0]
        return _single([one for waiting in self._asked.values() for one in waiting
                        if one.id == id and one.tool == tool], scope)

    def _alike(self, tool: str, arguments: str, here: list[Asked], scope: Scope
               ) -> Asked | None:
        for one in here:
            if (one.tool, one.arguments) == (tool, arguments):
                return one
        found = _single(self._asked.get((tool, arguments), []), scope)
        if found is None:
            named = [one for one in here if one.tool == tool]
            found = named[0] if len(named) == 1 else None
        return found


def _single(waiting: list[Asked], scope: Scope) -> Asked | None:
    """The one that is waited for: by this agent, or at all; by several replies, the latest's."""
    for group in ([one for one in waiting if scope.of and one.scope.of == scope.of], waiting):
        if len({one.model_call for one in group}) == 1 or (
                len({one.scope.of for one in group}) == 1 and group[0].scope.of):
            return next(one for one in group if one.model_call == group[-1].model_call)
    return None


def key_of(arguments: Any) -> str:
    """Arguments in a form in which the same ones are the same text."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return str(arguments)
    try:
        return json.dumps(arguments, sort_keys=True, default=repr)
    except (TypeError, ValueError):
        return repr(arguments)
