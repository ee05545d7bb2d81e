"""The forms in which a conversation's texts and requests come: HTML, JSON, tables; three APIs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import chain
from typing import Any

Body = dict[str, Any]
#: A text as paragraphs of sentences.
Document = list[list[str]]


def _plain(document: Document) -> str:
    return "\n\n".join(" ".join(paragraph) for paragraph in document)


def _html(document: Document) -> str:
    return "<!-- exported -->" + "".join(f"<p>{' '.join(p)}</p>" for p in document)


def _mail(document: Document) -> str:
    return json.dumps({"item": 7, "body": _plain(document), "ok": True})


def _list(document: Document) -> str:
    return json.dumps([{"body": " ".join(paragraph)} for paragraph in document])


def _indented(document: Document) -> str:
    return json.dumps({"items": [{"n": n, "notes": p, "score": 0.5} for n, p in
                                 enumerate(document)], "next": None}, indent=2, ensure_ascii=False)


def _nested(document: Document) -> str:
    return json.dumps({"content": [{"type": "text", "text": _list(document)}]})


def _table(document: Document) -> str:
    lines = [f'{n},2024-05-{n % 28 + 1:02d},"{sentence}",open'
             for n, sentence in enumerate(chain(*document))]
    return "\n".join(["id,date,note,state", *lines])


def _json_lines(document: Document) -> str:
    return "\n".join(json.dumps({"n": n, "note": sentence})
                     for n, sentence in enumerate(chain(*document)))


def _code(document: Document) -> str:
    lines = [f"    # {sentence}\n    step_{n}(x) <- y - {n}" for n, sentence in
             enumerate(chain(*document))]
    return "def main(x):\n" + "\n".join(lines) + "\n    return x"


USUAL: tuple[Callable[[Document], str], ...] = (_plain, _html, _mail, _list)
FORMS: dict[str, Callable[[Document], str]] = {
    "plain": _plain, "indented": _indented, "nested": _nested, "table": _table,
    "json_lines": _json_lines, "code": _code}


def written(document: Document, form: str, chance: random.Random) -> str:
    """A text in a form of that name, or in one of the usual ones."""
    return (FORMS[form] if form else chance.choice(USUAL))(document)


def responses(body: Body) -> Body:
    """A chat request as one of OpenAI's Responses API."""
    items: list[Body] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            items.append({"type": "function_call_output", "call_id": message["tool_call_id"],
                          "output": message["content"]})
            continue
        if message.get("reasoning_content"):
            items.append({"type": "reasoning", "id": f"r{len(items)}", "summary": [
                {"type": "summary_text", "text": message["reasoning_content"]}]})
        if message.get("content"):
            items.append({"role": message["role"], "content": message["content"]})
        items += [{"type": "function_call", "call_id": call["id"], **call["function"]}
                  for call in message.get("tool_calls") or ()]
    tools = [{"type": "function", **tool["function"]} for tool in body["tools"]]
    return {"model": body["model"], "input": items, "tools": tools}


def anthropic(body: Body) -> Body:
    """A chat request as one of Anthropic's Messages API."""
    messages: list[Body] = []
    system = []
    for message in body["messages"]:
        if message["role"] in ("system", "developer"):
            system.append({"type": "text", "text": message["content"]})
        elif message["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"],
                     "content": message["content"]}
            if messages[-1]["role"] == "user":
                messages[-1]["content"].append(block)
            else:
                messages.append({"role": "user", "content": [block]})
        else:
            messages.append({"role": message["role"], "content": _blocks(message)})
    tools = [{"name": tool["function"]["name"], "description": tool["function"]["description"],
              "input_schema": tool["function"]["parameters"]} for tool in body["tools"]]
    return {"model": body["model"], "max_tokens": 100, "system": system, "messages": messages,
            "tools": tools}


def _blocks(message: Body) -> list[Body]:
    thought = message.get("reasoning_content")
    return [*([{"type": "thinking", "thinking": thought, "signature": "s"}] if thought else ()),
            *([{"type": "text", "text": message["content"]}] if message.get("content") else ()),
            *({"type": "tool_use", "id": call["id"], "name": call["function"]["name"],
               "input": json.loads(call["function"]["arguments"])}
              for call in message.get("tool_calls") or ())]


DIALECTS: dict[str, Callable[[Body], Body]] = {
    "openai.chat": lambda body: body, "openai.responses": responses,
    "anthropic.messages": anthropic}


def everything(value: Any) -> str:
    """All that a request says, strings that hold JSON as what they say."""
    if isinstance(value, dict | list):
        return "\n".join(map(everything, value.values() if isinstance(value, dict) else value))
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return everything(json.loads(value))
        except ValueError:
            return value
    return str(value)
