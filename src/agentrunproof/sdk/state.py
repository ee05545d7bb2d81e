"""Run states: saved from a paused result, carried, restored, compared, decided upon."""

from __future__ import annotations

from typing import Any

import agents

from agentrunproof.plan.model import Decision, Via
from agentrunproof.sdk import normal
from agentrunproof.sdk.capture import Recorder


class NotPaused(Exception):
    """The phase to resume from did not leave a paused state."""


class NotPending(Exception):
    """A plan decides upon a call that does not wait for a decision."""


class SavedState:
    """One branch of a paused result: the state itself, or the bytes it travels as."""

    def __init__(self, state: Any, branch: str, via: Via) -> None:
        self.branch = branch
        self.via = via
        self._state = state
        if via != "memory":
            # Now, because a sibling's run may touch what the states share.
            self._json = state.to_json()
            self._text = state.to_string() if via == "string" else ""

    def record_saved(self, recorder: Recorder) -> None:
        recorder.add("state_saved", branch=self.branch, via=self.via,
                     pending=pending(self._state))

    async def restore(self, agent: Any, recorder: Recorder) -> Any:
        """The state as its receiver gets it; records what the way there has changed."""
        try:
            state = await self._restored(agent)
        except Exception as exc:
            recorder.add("state_restored", branch=self.branch, via=self.via,
                         error=normal.error(exc))
            raise
        recorder.add("state_restored", branch=self.branch, via=self.via,
                     pending=pending(state), changed=self._changed(state))
        return state

    def _changed(self, state: Any) -> tuple[str, ...]:
        """Places at which a restored state is not what was saved, and is the same each time."""
        if self.via == "memory":
            return ()
        restored = state.to_json()
        changed = differing_paths(self._json, restored)
        if changed:
            volatile = set(differing_paths(restored, state.to_json()))
            changed = [path for path in changed if path not in volatile]
        return tuple(changed)

    async def _restored(self, agent: Any) -> Any:
        if self.via == "json":
            return await agents.RunState.from_json(agent, self._json)
        if self.via == "string":
            return await agents.RunState.from_string(agent, self._text)
        return self._state


def pending(state: Any) -> tuple[str, ...]:
    """Call ids that wait for a decision, in the state's order."""
    return tuple(call_id(item) for item in state.get_interruptions())


def call_id(item: Any) -> str:
    raw = item.raw_item
    found = raw.get("call_id") if isinstance(raw, dict) else getattr(raw, "call_id", None)
    return str(found or "")


def decide(state: Any, decision: Decision, recorder: Recorder) -> None:
    """Make one declared decision on a state.

    Raises:
        NotPending: the call does not wait for one.
    """
    item = next((i for i in state.get_interruptions() if call_id(i) == decision.call), None)
    if item is None:
        raise NotPending(f"call {decision.call} does not wait for a decision")
    recorder.add("decision", call=decision.call, approve=decision.approve,
                 always=decision.always, message=decision.message or "")
    if decision.approve:
        state.approve(item, always_approve=decision.always)
    elif decision.message is None:
        state.reject(item, always_reject=decision.always)
    else:
        state.reject(item, always_reject=decision.always, rejection_message=decision.message)


def stage(state: Any, text: str | None, recorder: Recorder) -> None:
    """Stage a user message on a state, from 0.20.0, if there is one."""
    if text is not None:
        state.add_input(text)
        recorder.add("input_staged", items=tuple(normal.plain(i) for i in state.pending_input))


def differing_paths(a: Any, b: Any, path: str = "") -> list[str]:
    """Places at which two JSON values differ, as ``/key/0/key``; the deepest that names each."""
    if isinstance(a, dict) and isinstance(b, dict):
        found = []
        for key in sorted(a.keys() | b.keys()):
            if key in a and key in b:
                found += differing_paths(a[key], b[key], f"{path}/{key}")
            else:
                found.append(f"{path}/{key}")
        return found
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        found = []
        for n, (x, y) in enumerate(zip(a, b, strict=True)):
            found += differing_paths(x, y, f"{path}/{n}")
        return found
    return [] if a == b else [path or "/"]
