"""A conversation that a trace tells turn by turn: what was said, answered, called and given.

Each answer is a request of its own, of all that stands before it, in the form of chat messages.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.importers.draft import Draft, ModelStep, Step, ToolStep
from agentrunproof.record.beginnings import Beginning

Json = dict[str, Any]
_UNHEARD = "message after the last reply"


class Turns:
    """Takes turns in their order and makes them the steps of a draft.

    Args:
        draft: where the steps go.
        fields: what every request says besides its messages, such as ``model`` and ``tools``.
    """

    def __init__(self, draft: Draft, **fields: Any) -> None:
        self.fields = fields
        self._draft = draft
        self._messages: list[Json] = []
        self._unheard = 0

    def said(self, role: str, content: Any, **more: Any) -> None:
        """What a user or the system said, or what stands in the conversation without a step.

        It stands in the next request; if none comes, it is counted as left.
        """
        self._messages.append({"role": role, "content": content, **more})
        self._unheard += 1
        self._draft.left[_UNHEARD] += 1

    def answered(self, message: Json, *, at: int | None = None, agent: str = "",
                 kept: Json | None = None, reply: Any = None, **fields: Any) -> ModelStep:
        """What a model answered.

        Args:
            message: the chat message.
            at: when, in nanoseconds since 1970.
            agent: whose answer it is.
            kept: what the trace says besides.
            reply: the literal reply, if the trace holds it.
            fields: what this request says besides its messages.
        """
        body = {**self.fields, **fields, "messages": Beginning(self._messages, len(self._messages))}
        step = ModelStep(body=body, agent=agent, inferred=True, kept=kept or {}, reply=reply or {
            "choices": [{"index": 0, "message": message}]})
        self._messages.append(message)
        self._draft.left -= Counter({_UNHEARD: self._unheard})
        self._unheard = 0
        self.add(step, at)
        return step

    def called(self, tool: str, arguments: Any, *, id: str = "", at: int | None = None,
               agent: str = "", by: ModelStep | None = None, kept: Json | None = None) -> ToolStep:
        """A tool call that began; `gave` or its ``error`` ends it.

        Args:
            tool: its name.
            arguments: what it was called with.
            id: the id that the model gave it.
            at: when, in nanoseconds since 1970.
            agent: whose call it is.
            by: the request whose answer asked for it.
            kept: what the trace says besides.
        """
        step = ToolStep(tool=tool, arguments=arguments, id=id, agent=agent, asked_by=by,
                        kept=kept or {})
        self.add(step, at)
        return step

    def gave(self, step: ToolStep, output: Any, *, at: int | None = None,
             content: Any = None, role: str = "tool") -> None:
        """What a tool call returned.

        Args:
            step: the call.
            output: what it returned.
            at: when, in nanoseconds since 1970.
            content: what the conversation says of it, if that is something else.
            role: as what it stands in the conversation.
        """
        step.output, step.done, step.end = output, True, at if at is not None else step.end
        self._messages.append({"role": role, "content": output if content is None else content,
                               **({"tool_call_id": step.id} if role == "tool" else {})})

    def add(self, step: Step, at: int | None = None) -> None:
        """Any other step, such as a handoff."""
        step.start = step.end = at
        self._draft.steps.append(step)


def said(table: Json, *taken: str) -> Json:
    """What a table says, without the fields that are `taken` and those that say nothing."""
    return {str(key): one for key, one in table.items()
            if key not in taken and one not in (None, "", {}, [])}
