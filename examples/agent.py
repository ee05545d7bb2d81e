"""The agent of every example: a plain loop, and a model that is asked through one of three APIs."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentrunproof.recorders import record
from agentrunproof.recorders.recorder import Recorder

Json = dict[str, Any]

#: So often a model is asked for one task.
MOST_TURNS = 12
#: Where a model on this machine is looked for: the port of Ollama.
LOCAL_URL = "http://127.0.0.1:11434/v1"


@dataclass(frozen=True)
class Call:
    """A tool call that a model asks for."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True)
class Turn:
    """What a model replied."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Result:
    """What a tool gave."""

    call: Call
    output: str


@dataclass(frozen=True)
class Task:
    """An example.

    Args:
        name: what its runs are called.
        system: the system prompt.
        request: what the user wants.
        tools: functions whose docstrings and annotations describe them to the model.
        stand_in: the rule in the model's place, ``python:module:function``.
        target: what to ask `agentrunproof why` about.
    """

    name: str
    system: str
    request: str
    tools: Sequence[Callable[..., str]]
    stand_in: str
    target: str


class Model(Protocol):
    """Takes the conversation so far and gives the next turn."""

    def turn(self, task: Task, history: Sequence[Turn | Result]) -> Turn: ...


def run(task: Task, model: Model, rec: Recorder) -> str:
    """Let a model work on a task until it asks for no more tools; what it said last."""
    tools = {tool.__name__: rec.tool(tool) for tool in task.tools}
    history: list[Turn | Result] = []
    for _ in range(MOST_TURNS):
        turn = model.turn(task, history)
        history.append(turn)
        if not turn.calls:
            return turn.text
        for call in turn.calls:
            print(f"-> {call.name} {json.dumps(call.arguments)}")
            try:
                output = tools[call.name](**call.arguments)
            except (KeyError, TypeError, ValueError) as error:  # the model may get it wrong
                output = f"error: {type(error).__name__}: {error}"
            history.append(Result(call, output))
    return "(still not done)"


class ChatModel:
    """A model behind OpenAI's chat completions, or behind a server that speaks like it."""

    def __init__(self, name: str, client: Any) -> None:
        self.name = name
        self.client = client

    def turn(self, task: Task, history: Sequence[Turn | Result]) -> Turn:
        body = chat_body(self.name, task, history)
        message = self.client.chat.completions.create(**body).choices[0].message
        return Turn(message.content or "", tuple(
            Call(call.id, call.function.name, json.loads(call.function.arguments or "{}"))
            for call in message.tool_calls or ()))


class MessagesModel:
    """A model behind Anthropic's messages."""

    def __init__(self, name: str, client: Any) -> None:
        self.name = name
        self.client = client

    def turn(self, task: Task, history: Sequence[Turn | Result]) -> Turn:
        reply = self.client.messages.create(**messages_body(self.name, task, history))
        return Turn(
            "".join(block.text for block in reply.content if block.type == "text"),
            tuple(Call(block.id, block.name, block.input)
                  for block in reply.content if block.type == "tool_use"))


class StandIn:
    """A rule in a model's place, asked as a chat completion would be; needs no network."""

    def __init__(self, spec: str, rec: Recorder) -> None:
        _, module, function = spec.split(":")
        self.name = spec
        self.rule: Callable[[Json], Json] = getattr(importlib.import_module(module), function)
        self.rec = rec

    def turn(self, task: Task, history: Sequence[Turn | Result]) -> Turn:
        body = chat_body(self.name, task, history)
        with self.rec.model_call("openai.chat", body) as asked:
            reply = asked.returned(self.rule(body))
        return Turn(reply["text"], tuple(
            Call(f"call_{len(history)}_{n}", call["name"], call["arguments"])
            for n, call in enumerate(reply["tool_calls"], 1)))


def chat_body(model: str, task: Task, history: Sequence[Turn | Result]) -> Json:
    """The request as a chat completion."""
    messages: list[Json] = [{"role": "system", "content": task.system},
                            {"role": "user", "content": task.request}]
    for one in history:
        if isinstance(one, Result):
            messages.append({"role": "tool", "tool_call_id": one.call.id, "content": one.output})
            continue
        message: Json = {"role": "assistant", "content": one.text or None}
        if one.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function",
                 "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
                for call in one.calls]
        messages.append(message)
    tools = [{"type": "function", "function": {**described(tool), "parameters": schema(tool)}}
             for tool in task.tools]
    return {"model": model, "messages": messages, "tools": tools}


def messages_body(model: str, task: Task, history: Sequence[Turn | Result]) -> Json:
    """The request in Anthropic's form: results are blocks in the user's turn."""
    messages: list[Json] = [{"role": "user", "content": task.request}]
    for one in history:
        if isinstance(one, Turn):
            content: list[Json] = [{"type": "text", "text": one.text}] if one.text else []
            content += [{"type": "tool_use", "id": call.id, "name": call.name,
                         "input": call.arguments} for call in one.calls]
            messages.append({"role": "assistant", "content": content})
            continue
        if messages[-1]["role"] == "assistant":
            messages.append({"role": "user", "content": []})
        messages[-1]["content"].append(
            {"type": "tool_result", "tool_use_id": one.call.id, "content": one.output})
    tools = [{**described(tool), "input_schema": schema(tool)} for tool in task.tools]
    return {"model": model, "max_tokens": 1000, "system": task.system, "messages": messages,
            "tools": tools}


def described(tool: Callable[..., str]) -> Json:
    """A tool's name and description, from its function."""
    return {"name": tool.__name__, "description": inspect.cleandoc(tool.__doc__ or "")}


def schema(tool: Callable[..., str]) -> Json:
    """The JSON Schema of a tool's arguments, from its function's annotations."""
    kinds = {"str": "string", "int": "integer"}
    parameters = {name: {"type": kinds[parameter.annotation]}
                  for name, parameter in inspect.signature(tool).parameters.items()}
    return {"type": "object", "properties": parameters, "required": list(parameters),
            "additionalProperties": False}


def main(task: Task, arguments: Sequence[str] | None = None) -> int:
    """Run an example as its command line says, and record it; the exit code."""
    asked = _options(task, arguments)
    try:
        with record(task.name) as rec:
            print(run(task, _model(task, asked, rec), rec))
    except Exception as error:  # of the model's server, mostly; the record has it too
        kind = "" if isinstance(error, Unusable) else f"{type(error).__name__}: "
        print(f"error: {kind}{' '.join(str(error).split())}", file=sys.stderr)
        return 2
    live = asked.openai or asked.anthropic or asked.local
    print(f"\nrecorded: {rec.path}\nnow ask:  agentrunproof why last {task.target}"
          + ("" if live else f" --model {task.stand_in}"))
    return 0


def _options(task: Task, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m examples.{task.name}",
        description="Runs offline with a rule in the model's place, unless a model is named.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--openai", metavar="MODEL", help="ask this model of OpenAI")
    which.add_argument("--anthropic", metavar="MODEL", help="ask this model of Anthropic")
    which.add_argument("--local", metavar="MODEL",
                       help="ask this model of a server that speaks OpenAI's chat completions")
    parser.add_argument("--base-url", metavar="URL",
                        help=f"where the server is (for --local: {LOCAL_URL})")
    return parser.parse_args(arguments)


class Unusable(Exception):
    """Why a model cannot be asked, in one line."""


def _model(task: Task, asked: argparse.Namespace, rec: Recorder) -> Model:
    url = asked.base_url
    if asked.anthropic:
        return MessagesModel(asked.anthropic,
                             rec.wrap(_client("anthropic", "Anthropic", base_url=url)))
    if asked.openai:
        return ChatModel(asked.openai, rec.wrap(_client("openai", "OpenAI", base_url=url)))
    if asked.local:
        return ChatModel(asked.local, rec.wrap(
            _client("openai", "OpenAI", base_url=url or LOCAL_URL, api_key="none")))
    return StandIn(task.stand_in, rec)


def _client(package: str, kind: str, **options: Any) -> Any:
    try:
        library = importlib.import_module(package)
    except ImportError:
        raise Unusable(f"the package {package} is not installed "
                        f"(pip install {package})") from None
    variable = f"{package.upper()}_API_KEY"
    if "api_key" not in options and not os.environ.get(variable):
        raise Unusable(f"{kind} needs a key (set {variable})")
    return getattr(library, kind)(**options)
