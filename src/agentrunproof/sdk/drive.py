"""Drives the real Runner through a plan: every phase, in every mode, whatever happens in it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents import Runner

from agentrunproof.plan.items import phase_input, value_text
from agentrunproof.plan.model import Cancel, Phase, Plan, Reader
from agentrunproof.record.events import Event, make
from agentrunproof.sdk import calls, compat, facts, normal
from agentrunproof.sdk.build import World
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.gates import seconds
from agentrunproof.sdk.loop import Deadlock, VirtualTimeLoop
from agentrunproof.sdk.spans import SpanRecorder
from agentrunproof.sdk.state import NotPaused, SavedState, call_id, decide, stage

_RESULT_LISTS = ("input_guardrail_results", "output_guardrail_results",
                 "tool_input_guardrail_results", "tool_output_guardrail_results")
_SETTLE = 12  # loop turns a finished run gets to end what it has started
_IDLE = 2  # so many without a task are enough: one may run the callback that starts another


@dataclass(frozen=True)
class DrivenRun:
    """One phase in one mode, as it was observed; `variant` names the plan's variant, if it is one.
    """

    mode: str
    phase: str
    events: list[Event]
    variant: str = ""


class Watch:
    """Told which phase run is under way, so that a deadline can report it.

    `begin` and `end` are called around each phase run; `snapshot` gives what was seen so far.
    """

    def __init__(self) -> None:
        self.snapshot: Callable[[], DrivenRun] | None = None

    def begin(self, snapshot: Callable[[], DrivenRun]) -> None:
        self.snapshot = snapshot

    def end(self) -> None:
        self.snapshot = None


def drive(plan: Plan, watch: Watch, variants: Mapping[str, Plan] | None = None
          ) -> Iterator[DrivenRun]:
    """Run the plan in all its modes, in this thread, which must have no running event loop.

    Args:
        plan: what to run.
        watch: told which phase run is under way.
        variants: other plans that are run after it, by the names under which they are reported.
    """
    for name, varied in {"": plan, **(variants or {})}.items():
        for mode in varied.modes:
            compat.forget_agent_tool_runs()
            yield from _ModeDriver(varied, mode, watch, name).runs()


def timed_out(run: DrivenRun) -> DrivenRun:
    """The run as it stands when its deadline has passed."""
    return replace(run, events=[*run.events, make("run_finished", outcome="timeout")])


class _ModeDriver:
    def __init__(self, plan: Plan, mode: str, watch: Watch, variant: str) -> None:
        self._plan = plan
        self._mode = mode
        self._variant = variant
        self._watch = watch
        self._recorder = Recorder()
        self._spans = SpanRecorder(sensitive=plan.run.sensitive_traces)
        self._states: dict[tuple[str, str], SavedState] = {}
        self._histories: dict[str, list[Any]] = {}
        self._loop = VirtualTimeLoop()
        self._loop.set_exception_handler(lambda _loop, _context: None)  # failures are events
        self._own: asyncio.Task[Any] | None = None
        self._streamed: Any = None
        self._world = World(plan, self._recorder)

    def runs(self) -> Iterator[DrivenRun]:
        asyncio.set_event_loop(self._loop)
        try:
            with compat.traces_to(self._spans):
                self._await(self._world.open())
                for phase in self._plan.phases:
                    yield self._run_phase(phase)
                self._await(self._world.close())
        finally:
            self._cancel_tasks()
            asyncio.set_event_loop(None)
            self._loop.close()

    def _await(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        self._own = self._loop.create_task(coroutine)
        return self._loop.run_until_complete(self._own)

    def _run_phase(self, phase: Phase) -> DrivenRun:
        recorder = self._recorder
        recorder.start(phase.id)
        self._streamed = None
        self._streaming: facts.Streaming | None = None
        self._spans.clear()
        self._world.start_phase(phase)
        self._watch.begin(lambda: self._driven(phase))
        try:
            outcome = self._outcome(phase)
        finally:
            self._watch.end()
        if self._world.session is not None:
            self._await(self._world.session.observe())
        recorder.add("run_finished", outcome=outcome)
        if phase.call is None:
            recorder.add_spans(self._spans.events())
        run = self._driven(phase)
        self._cancel_tasks()  # only now: what they do when cancelled is not the run's doing
        return run

    def _driven(self, phase: Phase) -> DrivenRun:
        return DrivenRun(self._mode, phase.id, self._recorder.events(), self._variant)

    def _outcome(self, phase: Phase) -> str:
        """Run the phase; a failure of any kind is a result, only Ctrl-C is not."""
        try:
            if phase.call is not None:
                value = calls.called(phase.call, self._await)
                self._recorder.add("call_returned", value=value_text(value))
                return "completed"
            agent = self._world.agents[phase.agent or self._plan.start]
            start = self._await(self._start(phase, agent))
            options = self._world.run_options(phase)
            if self._mode == "run_sync":
                result, cancelled = Runner.run_sync(agent, start, **options), False
            elif self._mode == "run_streamed":
                result, cancelled = self._await(self._stream(phase, agent, start, options))
            else:
                result, cancelled = self._await(Runner.run(agent, start, **options)), False
            self._settle()
            return self._finished(phase, result, cancelled)
        except Deadlock:
            return "timeout"
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # SystemExit and CancelledError are results here, too
            if phase.call is None:
                self._settle()
            self._raised(exc)
            return "raised"
        finally:
            asyncio.set_event_loop(self._loop)  # a call may have run loops of its own

    async def _start(self, phase: Phase, agent: Any) -> Any:
        """What the run starts from: input items, or a state with its decisions made."""
        add = self._recorder.add
        if phase.resume is not None:
            add("run_started", agent=agent.name, unheard=compat.unheard_hooks())
            saved = self._states.get((phase.resume.from_, phase.resume.branch))
            if saved is None:
                raise NotPaused(f"phase {phase.resume.from_} left no paused state")
            if self._variant.startswith("state-") and saved.via == "string":
                compat.forget_agent_tool_runs()  # as a process does that only has the text
            state = await saved.restore(agent, self._recorder)
            for decision in phase.resume.decisions:
                decide(state, decision, self._recorder)
            stage(state, phase.resume.add, self._recorder)
            return state
        assert phase.input is not None
        items: list[Any] = phase_input(phase)
        if phase.input.follow is not None:
            if phase.input.follow not in self._histories:
                raise NotPaused(f"phase {phase.input.follow} left no history to follow")
            items = [*self._histories[phase.input.follow], *items]
        add("run_started", agent=agent.name, input=tuple(normal.plain(i) for i in items),
            unheard=compat.unheard_hooks())
        plain_text = phase.input.text is not None and phase.input.follow is None
        return phase.input.text if plain_text else copy.deepcopy(items)

    async def _stream(self, phase: Phase, agent: Any, start: Any,
                      options: dict[str, Any]) -> tuple[Any, bool]:
        self._streamed = result = Runner.run_streamed(agent, start, **options)
        self._streaming = facts.Streaming(result)
        reader = phase.reader or Reader()
        if not reader.events:
            await compat.run_loop(result)
            return result, False
        seen, cancelled = 0, False
        await seconds(reader.begins_after)
        try:
            async for event in result.stream_events():
                await seconds(reader.delay)
                self._streaming.saw(event)
                self._recorder.add_streamed(event)
                if phase.cancel is not None and phase.cancel.when == _event_name(event):
                    seen += 1
                    if seen == phase.cancel.count:
                        self._cancel(result, phase.cancel)
                        cancelled = True
            await asyncio.sleep(0)  # a cancellation of this task that nothing has met comes here
        except asyncio.CancelledError:
            if not cancelled:
                raise
        return result, cancelled

    def _cancel(self, result: Any, cancel: Cancel) -> None:
        if cancel.mode != "task":
            compat.cancel(result, cancel.mode)
        elif self._own is not None:
            self._own.cancel()

    def _settle(self) -> None:
        """Give the run's own tasks a few turns of the loop; what then still lives has leaked."""
        idle = 0
        for _ in range(_SETTLE):
            self._turn()
            idle = 0 if self._live_tasks() else idle + 1
            if idle == _IDLE:
                return
        leaked = [task for task in self._live_tasks() if task is not self._own]
        for name in sorted(_task_name(task) for task in leaked):
            self._recorder.add("task_leaked", name=name)

    def _turn(self) -> None:
        """One turn of the loop; a task that exits the interpreter ends only itself."""
        self._loop.call_soon(self._loop.stop)
        with contextlib.suppress(SystemExit):
            self._loop.run_forever()

    def _live_tasks(self) -> list[asyncio.Task[Any]]:
        return [task for task in asyncio.all_tasks(self._loop) if not task.done()]

    def _finished(self, phase: Phase, result: Any, cancelled: bool) -> str:
        self._record_result(result)
        self._histories[phase.id] = list(result.to_input_list())
        if compat.interruptions(result):
            self._paused(phase, result)
            return "interrupted"
        return "cancelled" if cancelled else "completed"

    def _record_result(self, result: Any) -> None:
        add = self._recorder.add
        hooks = self._world.hooks
        self._record_usage(compat.run_context(result, hooks and hooks.context))
        output = result.final_output
        add("result", last_agent=result.last_agent.name,
            final_output=None if output is None else normal.text(output),
            new_items=_new_items(result.new_items),
            history=tuple(normal.plain(item) for item in result.to_input_list()),
            responses=_responses(result.raw_responses),
            guardrails=_guardrails(result), amiss=facts.amiss(result, self._streaming))

    def _record_usage(self, wrapper: Any) -> None:
        if wrapper is None:
            return
        usage = wrapper.usage
        cached, reasoning = compat.token_details(usage)
        self._recorder.add(
            "usage", requests=usage.requests, input=usage.input_tokens,
            output=usage.output_tokens, total=usage.total_tokens,
            cached=cached, reasoning=reasoning, entries=compat.usage_entries(usage))

    def _paused(self, phase: Phase, result: Any) -> None:
        add = self._recorder.add
        for item in compat.interruptions(result):
            raw = normal.plain(item.raw_item)
            add("interruption", call=call_id(item), tool=str(raw.get("name", "")),
                agent=item.agent.name if item.agent is not None else "",
                arguments=raw.get("arguments") or "{}")
        for branch, via in self._plan.branches(phase.id).items():
            saved = SavedState(result.to_state(), branch, via)
            self._states[phase.id, branch] = saved
            saved.record_saved(self._recorder)
        if phase.probe is not None:
            agent = self._world.agents[phase.agent or self._plan.start]
            for via in phase.probe.via:
                saved = SavedState(result.to_state(), f"probe-{via}", via)
                saved.record_saved(self._recorder)
                with contextlib.suppress(Exception):  # recorded with the restoring
                    self._await(saved.restore(agent, self._recorder))

    def _raised(self, exc: BaseException) -> None:
        data = compat.run_data(exc)
        if data is None:
            told = None if self._streamed is None else _guardrails(self._streamed)
            self._recorder.add("raised", error=normal.error(exc), guardrails=told)
            return
        self._record_usage(data.context_wrapper)
        self._recorder.add(
            "raised", error=normal.error(exc), new_items=_new_items(data.new_items),
            responses=_responses(data.raw_responses), last_agent=data.last_agent.name,
            guardrails=_guardrails(data))

    def _cancel_tasks(self) -> None:
        live = self._live_tasks()
        for task in live:
            task.cancel()
        for _ in range(_SETTLE):
            if not live:
                return
            self._turn()
            live = self._live_tasks()


def _new_items(items: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"type": item.type, "agent": item.agent.name, "item": normal.plain(item.raw_item)}
                 for item in items)


def _guardrails(result: Any) -> tuple[str, ...]:
    """Names of the guardrails whose results a result, or what an exception tells, holds."""
    return tuple(sorted(found.guardrail.get_name() for kind in _RESULT_LISTS
                        for found in getattr(result, kind, ())))


def _responses(responses: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(normal.plain(item) for item in response.output) for response in responses)


def _event_name(event: Any) -> str:
    if event.type == "run_item_stream_event":
        return str(event.name)
    if event.type == "raw_response_event":
        return str(event.data.type)
    return str(event.type)


def _task_name(task: asyncio.Task[Any]) -> str:
    coroutine = task.get_coro()
    return getattr(coroutine, "__qualname__", type(coroutine).__name__)
