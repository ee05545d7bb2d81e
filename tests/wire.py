"""A server on loopback that speaks the wire formats of OpenAI and Anthropic, streamed and not.

It lets the real SDK clients be used without a network and without a model: what is replied is
decided by a function of the request body. Nothing in it waits.
"""

from __future__ import annotations

import gzip
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
#: What to reply: {"text": ..., "tool_calls": [{"id", "name", "arguments"}]}, or a status code.
Decide = Callable[[Json], "Json | int"]


class Wire:
    """The running server: its address, and what it was asked, in order of arrival."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide
        self.requests: list[tuple[str, Json]] = []
        self.sent: list[Json] = []
        self.compress = False
        self.numbers = itertools.count(1)
        self.url = ""


@contextmanager
def serving(decide: Decide) -> Iterator[Wire]:
    """Serve until the block ends.

    Args:
        decide: replies to a request body.
    """
    wire = Wire(decide)

    class Handler(_Handler):
        server_wire = wire

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    wire.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server_wire: Wire
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        wire = self.server_wire
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        wire.requests.append((self.path, body))
        decided = wire.decide(body)
        if isinstance(decided, int):
            self._send(decided, "application/json", json.dumps(
                {"error": {"type": "server_error", "message": f"status {decided}"}}).encode())
            return
        whole, events = next(speak for ending, speak in _SPEAK.items()
                             if self.path.partition("?")[0].endswith(ending))
        reply = whole(body, decided, next(wire.numbers))
        wire.sent.append(reply)
        if body.get("stream"):
            self._send(200, "text/event-stream", b"".join(events(reply)))
        else:
            self._send(200, "application/json", json.dumps(reply).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        if self.server_wire.compress:
            content = gzip.compress(content)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _calls(decided: Json) -> list[Json]:
    return [{"id": f"call_{number}", "arguments": {}, **call}
            for number, call in enumerate(decided.get("tool_calls", []), 1)]


def _halves(text: str) -> list[str]:
    return [text[:len(text) // 2], text[len(text) // 2:]]


def _event(data: Json, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _chat(body: Json, decided: Json, number: int) -> Json:
    message: Json = {"role": "assistant", "content": decided.get("text"), "refusal": None}
    calls = [{"id": call["id"], "type": "function",
              "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}
             for call in _calls(decided)]
    if calls:
        message["tool_calls"] = calls
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "logprobs": None,
                         "finish_reason": "tool_calls" if calls else "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}


def _chat_events(reply: Json) -> Iterator[bytes]:
    head = {"id": reply["id"], "object": "chat.completion.chunk", "created": 1,
            "model": reply["model"]}

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        return _event({**head, "choices": [{"index": 0, "delta": delta,
                                            "finish_reason": finish}]})

    choice = reply["choices"][0]
    message = choice["message"]
    yield chunk({"role": "assistant", "content": "" if message["content"] else None})
    for part in _halves(message["content"] or ""):
        if part:
            yield chunk({"content": part})
    for index, call in enumerate(message.get("tool_calls", [])):
        yield chunk({"tool_calls": [{"index": index, **call, "function": {
            "name": call["function"]["name"], "arguments": ""}}]})
        for part in _halves(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, choice["finish_reason"])
    yield _event({**head, "choices": [], "usage": reply["usage"]})
    yield b"data: [DONE]\n\n"


def _responses(body: Json, decided: Json, number: int) -> Json:
    output: list[Json] = [
        {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": call["id"],
         "name": call["name"], "arguments": json.dumps(call["arguments"]), "status": "completed"}
        for index, call in enumerate(_calls(decided))]
    if decided.get("text"):
        output.insert(0, {"type": "message", "id": f"msg_{number}", "role": "assistant",
                          "status": "completed",
                          "content": [{"type": "output_text", "text": decided["text"],
                                       "annotations": []}]})
    return {"id": f"resp_{number}", "object": "response", "created_at": 1, "status": "completed",
            "model": body["model"], "output": output, "parallel_tool_calls": True,
            "tool_choice": "auto", "tools": body.get("tools", []), "error": None,
            "incomplete_details": None, "instructions": body.get("instructions"),
            "metadata": {}, "temperature": 1.0, "top_p": 1.0,
            "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
                      "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0},
                      "total_tokens": 3}}


def _responses_events(reply: Json) -> Iterator[bytes]:
    sequence = itertools.count()

    def event(kind: str, **fields: Any) -> bytes:
        return _event({"type": kind, "sequence_number": next(sequence), **fields}, kind)

    yield event("response.created",
                response={**reply, "output": [], "status": "in_progress", "usage": None})
    for index, item in enumerate(reply["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            part = item["content"][0]
            yield event("response.output_item.added", output_index=index,
                        item={**item, "content": [], "status": "in_progress"})
            yield event("response.content_part.added", **place, content_index=0,
                        part={**part, "text": ""})
            for text in _halves(part["text"]):
                yield event("response.output_text.delta", **place, content_index=0, delta=text,
                            logprobs=[])
            yield event("response.output_text.done", **place, content_index=0,
                        text=part["text"], logprobs=[])
            yield event("response.content_part.done", **place, content_index=0, part=part)
        else:
            yield event("response.output_item.added", output_index=index,
                        item={**item, "arguments": "", "status": "in_progress"})
            for text in _halves(item["arguments"]):
                yield event("response.function_call_arguments.delta", **place, delta=text)
            yield event("response.function_call_arguments.done", **place, name=item["name"],
                        arguments=item["arguments"])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=reply)


def _messages(body: Json, decided: Json, number: int) -> Json:
    content: list[Json] = []
    if decided.get("text"):
        content.append({"type": "text", "text": decided["text"]})
    content += [{"type": "tool_use", "id": call["id"], "name": call["name"],
                 "input": call["arguments"]} for call in _calls(decided)]
    return {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"],
            "content": content, "stop_sequence": None,
            "stop_reason": "tool_use" if decided.get("tool_calls") else "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 2}}


def _messages_events(reply: Json) -> Iterator[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        return _event({"type": kind, **fields}, kind)

    yield event("message_start", message={**reply, "content": [], "stop_reason": None})
    for index, block in enumerate(reply["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=index, content_block={**block, "text": ""})
            for text in _halves(block["text"]):
                yield event("content_block_delta", index=index,
                            delta={"type": "text_delta", "text": text})
        else:
            yield event("content_block_start", index=index, content_block={**block, "input": {}})
            for text in _halves(json.dumps(block["input"])):
                yield event("content_block_delta", index=index,
                            delta={"type": "input_json_delta", "partial_json": text})
        yield event("content_block_stop", index=index)
    yield event("message_delta", delta={"stop_reason": reply["stop_reason"],
                                        "stop_sequence": None}, usage={"output_tokens": 2})
    yield event("message_stop")


_SPEAK: dict[str, tuple[Callable[[Json, Json, int], Json], Callable[[Json], Iterator[bytes]]]] = {
    "/chat/completions": (_chat, _chat_events),
    "/responses": (_responses, _responses_events),
    "/messages": (_messages, _messages_events),
}
