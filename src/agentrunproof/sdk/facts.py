"""What a result tells in several ways, held against each other while it is at hand."""

from __future__ import annotations

from typing import Any

from agentrunproof.sdk import normal


class Streaming:
    """What a streamed run tells of itself while its events are read.

    Args:
        result: the run's result, as the SDK gives it at once.
    """

    def __init__(self, result: Any) -> None:
        self._result = result
        self._agent = ""
        self.early_output = False

    def saw(self, event: Any) -> None:
        """The reader was given an event."""
        if event.type == "agent_updated_stream_event":
            self._agent = event.new_agent.name
        if not self._result.is_complete and self._result.final_output is not None:
            self.early_output = True

    def amiss(self) -> list[str]:
        """What the result does not tell rightly when all events are read."""
        found = ["final_output"] if self.early_output else []
        if self._agent and self._agent != self._result.current_agent.name:
            found.append("current_agent")
        if not self._result.is_complete:
            found.append("is_complete")
        return found


def amiss(result: Any, streaming: Streaming | None) -> tuple[str, ...]:
    """Names of what a result tells in two ways that do not agree, sorted."""
    found = [] if streaming is None else streaming.amiss()
    if hasattr(result, "last_response_id"):  # from 0.0.10
        last = result.raw_responses[-1].response_id if result.raw_responses else None
        found += ["last_response_id"] if result.last_response_id != last else []
    first, again = result.to_input_list(), result.to_input_list()
    found += ["to_input_list"] if normal.plain(first) != normal.plain(again) else []
    usage = getattr(getattr(result, "context_wrapper", None), "usage", None)
    entries = getattr(usage, "request_usage_entries", None)  # from 0.5.0
    if entries and any(getattr(usage, name) != sum(getattr(entry, name) for entry in entries)
                       for name in ("input_tokens", "output_tokens", "total_tokens")):
        found.append("request_usage_entries")
    return tuple(sorted(found))
