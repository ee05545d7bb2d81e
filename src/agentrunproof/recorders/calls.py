"""One model call or tool call while it lasts: a ``with`` block that records both its ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from agentrunproof.record.run_writer import RunWriter
from agentrunproof.recorders.linking import Scope

if TYPE_CHECKING:
    from agentrunproof.recorders.tape import Tape

T = TypeVar("T")


class _Call:
    """What both have in common: an id, a scope, a beginning, and one end."""

    def __init__(self, tape: Tape, id: str, scope: Scope | None) -> None:
        self.id = id
        self.scope = replace(tape.scope() if scope is None else scope, asking=False)
        self.ended = False
        self._tape = tape
        self._inside: AbstractContextManager[None] | None = None
        self._begun = time.perf_counter()

    def _enter(self, scope: Scope) -> None:
        self._inside = self._tape.within(scope)
        self._inside.__enter__()

    def _leave(self) -> None:
        if self._inside is not None:
            self._inside.__exit__(None, None, None)
            self._inside = None

    def _end(self) -> dict[str, Any] | None:
        """The fields of the event that ends this; None if it has ended before."""
        if self.ended:
            return None
        self.ended = True
        return {"agent": self.scope.agent, "parent": self.scope.parent, "clock": {"at": time.time(),
                                          "took": round(time.perf_counter() - self._begun, 6)}}


class ModelCall(_Call):
    """A request to a model. Made by `Recorder.model_call`.

    Args:
        tape: where it is recorded.
        dialect: the API of the request.
        body: the request, or its JSON text.
        scope: who makes it, if not who runs here.
        endpoint: the URL that is asked, without user, password and query, if it is known.
    """

    def __init__(self, tape: Tape, dialect: str, body: Mapping[str, Any] | bytes,
                 scope: Scope | None = None, endpoint: str = "") -> None:
        super().__init__(tape, tape.next_id("m"), scope)

        self._known = False

        def called(writer: RunWriter) -> None:
            writer.model_called(self.id, dialect, body, clock={"at": time.time()},
                                agent=self.scope.agent, parent=self.scope.parent,
                                endpoint=endpoint)
            self._known = True

        tape.write(called)

    def __enter__(self) -> ModelCall:
        self._enter(replace(self.scope, asking=True))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 _: object) -> None:
        self._leave()
        if error is not None:
            self.failed(error)
        elif not self.ended:
            self.failed({"type": "NoReply", "message": "no reply was recorded"})

    def returned(self, reply: T, *, partial: bool = False) -> T:
        """The model replied.

        Args:
            reply: its literal reply, a table of the API, a text, or
                ``{"tool_calls": [...], "text": ...}``.
            partial: the reply broke off.

        Returns:
            The reply as it was given.
        """
        fields = self._end()

        def responded(writer: RunWriter) -> None:
            if self._known and fields is not None:
                decision = writer.model_responded(self.id, reply, partial=partial or None,
                                                  **fields)
                self._tape.replied(self.id, self.scope, decision)

        self._tape.write(responded)
        return reply

    def failed(self, error: BaseException | dict[str, str]) -> None:
        """The request failed."""
        fields = self._end()

        def failed(writer: RunWriter) -> None:
            if self._known and fields is not None:
                writer.event("model_failed", call=self.id, error=error_of(error), **fields)

        self._tape.write(failed)


class ToolCall(_Call):
    """A tool that runs; what happens inside of the block happens inside of the tool.

    Made by `Recorder.tool_call`.

    Args:
        tape: where it is recorded.
        tool: its name.
        arguments: what it is called with.
        id: the id that the model gave the call, or empty.
        scope: who runs it, if not who runs here.
        own_id: the id that it was given before, if it was.
    """

    def __init__(self, tape: Tape, tool: str, arguments: Any, id: str,
                 scope: Scope | None = None, own_id: str = "") -> None:
        super().__init__(tape, own_id or tape.next_id("t"), scope)
        self._tool = tool
        asked = tape.asked(tool, arguments, id, self.scope)
        if asked is not None:  # also where the tool runs in a thread that nobody told who it is
            self.scope = asked.scope
        tape.write(lambda writer: writer.event(
            "tool_started", agent=self.scope.agent, parent=self.scope.parent, call=self.id,
            tool=tool, asked_by=asked and asked.model_call, tool_call_id=asked.id if asked else id,
            arguments=arguments, clock={"at": time.time()}))

    def __enter__(self) -> ToolCall:
        self._enter(replace(self.scope, parent=self.id, asking=False))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 _: object) -> None:
        self._leave()
        if error is not None:
            self.failed(error)
        else:
            self.returned(None)

    def returned(self, output: T) -> T:
        """The tool gave `output`, which is handed back as it is."""
        fields = self._end()
        if fields is not None:
            self._tape.write(lambda writer: writer.event(
                "tool_finished", call=self.id, tool=self._tool, output=output, **fields))
        return output

    def failed(self, error: BaseException | dict[str, str], output: Any = None) -> None:
        """The tool failed; `output` is what the model was told then, if that is known."""
        fields = self._end()
        if fields is not None:
            self._tape.write(lambda writer: writer.event(
                "tool_failed", call=self.id, tool=self._tool, error=error_of(error),
                **({} if output is None else {"output": output}), **fields))


def error_of(error: BaseException | dict[str, str]) -> dict[str, str]:
    """An error as it is recorded; a table is one already."""
    if isinstance(error, dict):
        return error
    try:
        message = str(error)
    except Exception:  # the agent's own exceptions may be broken
        message = ""
    return {"type": type(error).__name__, "message": message}
