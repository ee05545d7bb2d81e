"""A run's steps with what every detector asks of them: who asked for what, the task, the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from agentrunproof.record.localization import Step

#: More of a text than this is never looked at: its beginning and its end.
MAX_TEXT = 16_000
_TAIL = 4_000
_MARK = "\n[...]\n"

#: Outcomes, in the words of those that record them, of a run that did not go well.
BAD = {"failure", "failed", "error", "raised", "timeout", "interrupted", "cancelled", "aborted"}

#: Those of them that somebody else's decision to stop the run leaves.
_STOPPED = {"interrupted", "cancelled", "aborted"}

#: Words that begin the name of a tool that changes the world; in camel case as well.
_CHANGING = re.compile(
    r"(?:^|[_.\-/])(?:add|apply|approve|assign|book|buy|cancel|charge|commit|create|delete|deploy|"
    r"edit|exchange|insert|install|merge|migrate|modify|move|patch|pay|post|publish|push|put|"
    r"refund|remove|rename|replace|reset|return|rollback|save|send|set|submit|transfer|update|"
    r"upload|write)(?:$|[_.\-/0-9])", re.I)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def clip(text: str) -> str:
    """The part of a text that is looked at: all of it, or its beginning and its end."""
    if len(text) <= MAX_TEXT:
        return text
    return text[:MAX_TEXT - _TAIL - len(_MARK)] + _MARK + text[-_TAIL:]


class Trace:
    """The steps of one run.

    Args:
        steps: in their order; their numbers rise.
        failed: whether the user says that the run failed; a run whose end says so needs nobody
            to say it.
    """

    def __init__(self, steps: Sequence[Step], *, failed: bool = False) -> None:
        self.steps = tuple(steps)
        self.failed = failed or self.outcome in BAD - _STOPPED
        self.place = {step.number: at for at, step in enumerate(self.steps)}

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def task(self) -> str:
        """What was asked for: the inputs before anyone acted."""
        texts = []
        for step in self.steps:
            if step.kind in ("start", "input"):
                texts.append(step.input)
            elif step.kind in ("answer", "tool"):
                break
        return "\n".join(texts)

    @cached_property
    def first(self) -> int | None:
        """Where the first act of an agent stands."""
        return next((at for at, step in enumerate(self.steps)
                     if step.kind in ("answer", "handoff", "tool")), None)

    @cached_property
    def last(self) -> int:
        """Where the last step stands that is not the end; -1 of no such step."""
        return next((at for at in reversed(range(len(self))) if self.steps[at].kind != "end"), -1)

    @cached_property
    def tools(self) -> tuple[int, ...]:
        """Where the tool calls stand."""
        return tuple(at for at, step in enumerate(self.steps) if step.kind == "tool")

    @cached_property
    def answers(self) -> tuple[int, ...]:
        """Where the answers stand."""
        return tuple(at for at, step in enumerate(self.steps) if step.kind == "answer")

    @cached_property
    def agents(self) -> frozenset[str]:
        """The agents that answer."""
        return frozenset(self.steps[at].agent for at in self.answers)

    @cached_property
    def coordinators(self) -> frozenset[str]:
        """Agents that hand work over to others; what they say is about others' work."""
        return frozenset(step.agent for step in self.steps
                         if step.kind == "handoff" and step.agent)

    @cached_property
    def workers(self) -> tuple[int, ...]:
        """Where the answers of those stand who do the work; of lone coordinators, theirs."""
        return tuple(at for at in self.answers
                     if self.steps[at].agent not in self.coordinators) or self.answers

    @cached_property
    def end(self) -> Step | None:
        """How the run says that it ended."""
        last = self.steps[-1] if self.steps else None
        return last if last is not None and last.kind == "end" else None

    @property
    def outcome(self) -> str:
        """What the run says of its outcome: a word, or empty."""
        return self.end.facts.get("outcome", "") if self.end else ""

    @property
    def bad(self) -> bool:
        """Whether the run is known not to have gone well: it failed, or was stopped."""
        return self.failed or self.outcome in BAD

    def writer(self, at: int) -> int:
        """Where the step stands that wrote the input of the step at `at`: itself if no other."""
        asked = self.steps[at].asked_by
        return at if asked is None else self.place.get(asked, at)

    @cached_property
    def asked(self) -> dict[int, list[int]]:
        """Where the calls stand that a step asked for, by where it stands."""
        asked: dict[int, list[int]] = {}
        for at in self.tools:
            writer = self.writer(at)
            if writer != at:
                asked.setdefault(writer, []).append(at)
        return asked


def changes_state(step: Step) -> bool:
    """Whether a tool call changes the world: the trace says so, or the tool's name does."""
    return step.kind == "tool" and (bool(step.changes) or names_a_change(step.tool))


def names_a_change(tool: str) -> bool:
    """Whether a tool is named for a change it makes, such as ``update_order``.

    Handing the talk over (``transfer_to_...``) changes nothing.
    """
    return bool(_CHANGING.search(_CAMEL.sub("_", tool))) and not tool.startswith("transfer_to_")


def label(step: Step) -> str:
    """What a step is, in a few words."""
    if step.kind == "tool":
        return step.tool or "a tool"
    who = step.agent or {"input": "the user", "answer": "the model"}.get(step.kind, "")
    return f"{who} ({step.kind})" if who else step.kind
