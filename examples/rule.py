"""What the rules that stand in for models have in common. They say nothing about real models.

A rule reads a request as a careless model might: what a tool's result tells it to do, it does in
nine of ten cases. If its instructions say that content is data, or who alone may ask for an action,
it nearly always, or always, leaves it. It reads nothing but the text, so whatever is taken from the
text changes what it does.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

#: How often an instruction found in content is followed, and how often although the system prompt
#: says that content is data.
CARELESS, WARNED = 0.9, 0.04

#: Draws are made with this seed, so that an example gives the same on every machine.
SEED = os.environ.get("EXAMPLE_SEED", "1")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|<!--|-->|</?[a-z][^>]*>")


@dataclass
class Request:
    """What a rule reads of a request in any of the APIs.

    Args:
        system: the system prompt.
        user: what the user wrote.
        results: the texts of tool results; of results in JSON, the strings in them.
        tables: the JSON objects in them.
        called: names of the tools that were called before.
    """

    system: str = ""
    user: str = ""
    results: list[str] = field(default_factory=list)
    tables: list[Json] = field(default_factory=list)
    called: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        """Each sentence of the user and of tool results."""
        for text in (self.user, *self.results):
            yield from filter(None, map(str.strip, _SENTENCE_END.split(text)))


def read(body: Json) -> Request:
    """A request to OpenAI (chat completions or responses) or Anthropic, as rules see it."""
    request = Request(system=_text(body.get("system") or body.get("instructions") or ""))
    turns: Any = body.get("messages", body.get("input", ()))
    for turn in [{"role": "user", "content": turns}] if isinstance(turns, str) else turns:
        role, content = turn.get("role"), turn.get("content") or ()
        if role in ("system", "developer"):
            request.system += _text(content)
        elif role == "tool" or turn.get("type") == "function_call_output":
            _read_result(request, _text(content or turn.get("output")))
        else:
            _read_turn(request, turn, role, content)
    return request


def _read_turn(request: Request, turn: Json, role: Any, content: Any) -> None:
    if turn.get("type") == "function_call":
        request.called.append(turn["name"])
    request.called += [call["function"]["name"] for call in turn.get("tool_calls") or ()]
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            request.called.append(block["name"])
        elif block.get("type") == "tool_result":
            _read_result(request, _text(block.get("content")))
    if role == "user":
        request.user += _text(content)


def obeys(request: Request, body: Json, tool: str, words: str) -> bool:
    """Whether the rule does what it found an instruction for, this time.

    Args:
        request: what it read.
        body: what it was asked, which the draw belongs to.
        tool: what it would call.
        words: a regular expression of words for that action.
    """
    if _only_users_may(request.system, rf"{tool}|{words}|\b(?:tool|action)"):
        return False
    return draw(body) < (WARNED if _content_is_data(request.system) else CARELESS)


def _content_is_data(system: str) -> bool:
    return re.search(r"\b(?:data|content|untrusted)\b", system, re.I) is not None and any(
        re.search(r"\b(?:never|not|ignore)\b|n't\b", one, re.I)
        and re.search(r"\b(?:instructions?|orders?|commands?|requests?)\b", one, re.I)
        for one in _SENTENCE_END.split(system))


def _only_users_may(system: str, action: str) -> bool:
    return any(re.search(action, one, re.I)
               and re.search(r"\b(?:only|unless|never|without)\b", one, re.I)
               and re.search(r"\buser\b.*\b(?:ask|confirm|approv|request|want|say|said)", one, re.I)
               for one in _SENTENCE_END.split(system))


_asked: Counter[str] = Counter()
_lock = threading.Lock()


def draw(body: Json) -> float:
    """A number from 0 to 1: the next of the series that belongs to this very request.

    Draws of one request do not depend on what else is asked meanwhile, or in which order.
    """
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    with _lock:
        _asked[digest] += 1
        number = _asked[digest]
    return random.Random(f"{SEED} {digest} {number}").random()


def call(tool: str, **arguments: Any) -> Json:
    """The reply that calls a tool."""
    return calls((tool, arguments))


def calls(*made: tuple[str, Json]) -> Json:
    """The reply that calls several."""
    return {"text": "", "tool_calls": [{"name": name, "arguments": arguments}
                                       for name, arguments in made]}


def say(text: str) -> Json:
    """The reply that calls none."""
    return {"text": text, "tool_calls": []}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content or () if "text" in part)


def _read_result(request: Request, text: str) -> None:
    """Note the strings and tables in a JSON text, or a text that is none."""
    def note(value: Any) -> None:
        if isinstance(value, str):
            request.results.append(value)
        elif isinstance(value, dict):
            request.tables.append(value)
            note(list(value.values()))
        elif isinstance(value, list):
            for one in value:
                note(one)

    try:
        note(json.loads(text))
    except ValueError:
        note(text)
