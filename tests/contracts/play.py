"""Observations made by hand: what a faithful Runner would leave behind, event by event.

A `Play` is told what happens in one phase run (a model turn, a tool, a handoff, the end) and
writes the events of it, so that every contract holds. Miniatures then damage one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentrunproof.contracts.reading import handoff_tools
from agentrunproof.plan.items import filtered, phase_input, session_items
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import Observation, PhaseRun

Item = dict[str, Any]
USAGE = {"input": 10, "output": 5}


def say(text: str, id: str = "m") -> Item:
    return {"id": f"msg-{id}", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text}]}


def call(name: str, id: str, arguments: str = "{}") -> Item:
    return {"id": f"fc-{id}", "call_id": id, "type": "function_call", "name": name,
            "arguments": arguments, "status": "completed"}


def output(id: str, text: str) -> Item:
    return {"type": "function_call_output", "call_id": id, "output": text}


class Play:
    """One phase run.

    Args:
        paused: the play of the paused run that this one resumes.
        session: the session's content, shared by the phases of one mode.
    """

    def __init__(self, plan: Plan, mode: str, phase: str, session: list[Item],
                 paused: Play | None = None) -> None:
        self.plan, self.mode, self.phase = plan, mode, plan.phase(phase)
        self.session = session
        self.events: list[Event] = []
        self.stream: list[Event] = []
        self.spans: list[Event] = []
        self.parent = ""
        self.decided: list[str] = []
        self.agent = self.phase.agent or plan.start
        self.made: list[Item] = list(paused.made) if paused else []
        self.responses: list[list[Item]] = list(paused.responses) if paused else []
        self.count = paused.count if paused else 0
        self.nested: dict[str, list[Item]] = dict(paused.nested) if paused else {}
        self.handed: set[str] = set(paused.handed) if paused else set()
        self.makers: dict[str, str] = dict(paused.makers) if paused else {}
        self.given: dict[str, str] = dict(paused.given) if paused else {}
        if paused is not None:
            self.agent = paused.agent
            self.input: list[Item] = paused.input
            self.history: list[Item] = list(paused.history)
        else:
            self.input = phase_input(self.phase)
            self.history = [*session, *self.input]
        self._start(resumed=paused is not None)

    def add(self, kind: str, **fields: Any) -> None:
        event = make(kind, **fields)
        if "parent" in event and not kind.startswith("span"):
            event["parent"] = self.parent
        self.events.append(event)

    def hook(self, on: str, **fields: Any) -> None:
        scopes = {"both": ("run", "agent"), "none": ()}[self.plan.run.hooks]
        for scope in scopes:
            self.add("hook", scope=scope, on=on, **({"agent": self.agent} | fields))

    def span(self, type: str, name: str, under: int | None) -> int:
        number = len(self.spans)
        holds = ("input", "output") if type == "function" else ()
        self.spans.append(make("span_finished", span=number, type=type, name=name, parent=under,
                               holds=holds))
        return number

    def _start(self, *, resumed: bool) -> None:
        self.add("run_started", agent=self.agent, input=() if resumed else tuple(self.input))
        if not resumed:
            self._store(self.input)
        self.root = None if resumed else self.span("trace", "Agent workflow", None)
        self._enter(self.agent, hook=not resumed)

    def _enter(self, agent: str, *, hook: bool = True) -> None:
        self.agent = agent
        self.under = self.span("agent", agent, self.root)
        if hook:
            self.hook("on_agent_start")
        if not self.parent:
            self.stream.append(make("stream_event", type="agent", name=agent))

    def turn(self, *items: Item, seen: list[Item] | None = None) -> None:
        """The current agent's model is called and answers with these items."""
        conversation = self.nested[self.parent] if self.parent else self.history
        self.call_model(seen or conversation)
        self.add("model_responded", agent=self.agent, output=items, usage=dict(USAGE),
                 response_id=f"r{self.count}")
        self.hook("on_llm_end")
        self.count += 1
        for item in items:
            self.makers[item.get("call_id") or item["id"]] = self.agent
            self.given[item.get("call_id", "")] = item.get("arguments", "")
        conversation.extend(items)
        if self.parent:
            return
        self.made.extend(items)
        self.responses.append(list(items))
        self._store(items)
        self._raw("response.created")
        for item in items:
            self._announce(item)
        self._raw("response.completed")

    def call_model(self, conversation: list[Item]) -> None:
        """The current agent's model is called, and has not answered yet."""
        agent = self.plan.agents[self.agent]
        instructions = agent.instructions or ""
        sieve = self.plan.run.input_filter
        if sieve is not None:
            given, told = conversation, instructions
            conversation, instructions = filtered(sieve, given, told)
            self.add("input_filtered", agent=self.agent, given=tuple(given),
                     given_instructions=told, input=tuple(conversation),
                     instructions=instructions)
        for name in agent.mcp:
            if not self.plan.mcp[name].cached:
                self.list_tools(name)
        self.hook("on_llm_start")
        self.add("model_called", agent=self.agent, input=tuple(conversation),
                 instructions=instructions,
                 tools=tuple(tool for tool in self.plan.tools_of(self.agent)
                             if self.plan.tools[tool].enabled),
                 handoffs=tuple(handoff_tools(self.plan, self.agent)))

    def list_tools(self, server: str) -> None:
        """An MCP server is asked for its tools, which a span tells."""
        self.add("server_asked", server=server, op="list", tools=self.plan.mcp[server].tools)
        self.span("mcp_tools", server, self.under)

    def tool(self, name: str, id: str, text: str, *, hook: bool = True) -> None:
        """A tool runs for a call and its output joins the conversation."""
        if hook:
            self.hook("on_tool_start", tool=name, call=id)
        self.start(name, id)
        self.done(name, id, text)

    def start(self, name: str, id: str) -> None:
        """A tool, or the MCP server that has it, is asked for a call."""
        self.add("tool_started", tool=name, call=id, arguments=self.given.get(id, "{}"),
                 server=self.plan.server_of(self.agent, name) or "")
        self.span("function", name, self.under)

    def done(self, name: str, id: str, text: str) -> None:
        """The tool, which was started before, ends."""
        self.add("tool_finished", tool=name, call=id, output=text)
        self.hook("on_tool_end", tool=name, call=id, output=text)
        self.answer(id, text)

    def answer(self, id: str, text: str) -> None:
        """The output of a call joins the conversation."""
        item = output(id, text)
        if self.parent:
            self.nested[self.parent].append(item)
            return
        self.history.append(item)
        self.made.append(item)
        self._store([item])
        self.stream.append(make("stream_event", type="item", name="tool_output", item=item))

    @contextmanager
    def ask(self, tool: str, id: str, agent: str, *, again: bool = False) -> Iterator[None]:
        """The nested run of an agent tool; `again` enters a paused one."""
        if not again:
            self.hook("on_tool_start", tool=tool, call=id)
            self.nested[id] = [{"role": "user", "content": "go"}]
        self.add("tool_started", tool=tool, call=id, arguments=self.given.get(id, "{}"))
        outer, under = self.agent, self.under
        self.span("function", tool, self.under)
        self.parent = id
        self._enter(agent, hook=not again)
        yield
        self.parent, self.agent, self.under = "", outer, under

    def handoff(self, id: str, to: str, seen: list[Item] | None = None) -> None:
        """The current agent hands over to another, which from then on sees `seen`."""
        source = self.agent
        self.handed.add(id)
        self.add("handoff", from_=source, to=to)
        self.answer(id, f"to {to}")
        self.span("handoff", f"{source} -> {to}", self.under)
        self.hook("on_handoff", other=to)
        if seen is not None:
            self.history = list(seen)
        self._enter(to)

    def guardrail(self, name: str, stage: str, **fields: Any) -> None:
        self.add("guardrail_checked", guardrail=name, stage=stage, agent=self.agent, **fields)
        if not self.parent:
            self.decided.append(name)
        if not stage.startswith("tool"):
            self.span("guardrail", name, self.under)

    def restored(self) -> None:
        """The state that this phase resumes arrives, and the declared decisions are made."""
        resume = self.phase.resume
        assert resume is not None
        self.add("state_restored", branch=resume.branch, via=resume.via, pending=self.pending)
        for decision in resume.decisions:
            self.add("decision", call=decision.call, approve=decision.approve,
                     always=decision.always, message=decision.message or "")

    pending: tuple[str, ...] = ()

    def complete(self, text: str) -> PhaseRun:
        self.hook("on_agent_end", output=text)
        self._result(text)
        return self.finish("completed")

    def pause(self, *calls: tuple[str, str], probe: tuple[str, ...] = ()) -> PhaseRun:
        """The run stops for decisions on these (tool, call id) pairs."""
        self._result(None)
        self.pending = tuple(id for _, id in calls)
        for tool, id in calls:
            self.add("interruption", call=id, tool=tool, agent=self.makers[id],
                     arguments=self.given[id])
        for branch, via in self.plan.branches(self.phase.id).items():
            self.add("state_saved", branch=branch, via=via, pending=self.pending)
        for via in probe:
            for kind in ("state_saved", "state_restored"):
                self.add(kind, branch=f"probe-{via}", via=via, pending=self.pending)
        return self.finish("interrupted")

    def fail(self, type: str, message: str = "") -> PhaseRun:
        self._usage()
        if type not in ("CancelledError", "SystemExit", "ModelBehaviorError"):
            self.spans[self.under]["error"] = "Error in agent run"
        self.add("raised", error={"type": type, "message": message}, last_agent=self.agent,
                 guardrails=tuple(sorted(self.decided)), new_items=self._new_items(),
                 responses=tuple(map(tuple, self.responses)))
        return self.finish("raised")

    def _new_items(self) -> tuple[dict[str, Any], ...]:
        return tuple({"type": self._type(item), "item": item, "agent": self.makers.get(
            item.get("call_id") or item.get("id", ""), self.agent)} for item in self.made)

    def _type(self, item: Item) -> str:
        """The SDK's type of the new item that holds this item."""
        kind = str(item["type"])
        if "call_id" not in item:
            return {"message": "message_output_item", "web_search_call": "tool_call_item"}.get(
                kind, f"{kind}_item")
        if kind == "function_call_output":
            handed = item["call_id"] in self.handed
            return "handoff_output_item" if handed else "tool_call_output_item"
        maker = self.makers.get(item["call_id"], "")
        made = [made for made in self.made if made.get("call_id") == item["call_id"]]
        transfers = made[0].get("name") in handoff_tools(self.plan, maker)
        return "handoff_call_item" if transfers else "tool_call_item"

    def _usage(self) -> None:
        n = self.count
        self.add("usage", requests=n, input=10 * n, output=5 * n, total=15 * n, entries=n)

    def _result(self, text: str | None) -> None:
        self._usage()
        self.add("result", last_agent=self.agent, final_output=text, new_items=self._new_items(),
                 history=(*self.input, *self.made), responses=tuple(map(tuple, self.responses)),
                 guardrails=tuple(sorted(self.decided)))

    def finish(self, outcome: str) -> PhaseRun:
        if self.plan.session is not None:
            self.add("session_read", op="observe", items=tuple(self.session))
        self.add("run_finished", outcome=outcome)
        streamed = self.stream if self.mode == "run_streamed" else []
        spans = self.spans if self.plan.run.tracing else []
        return PhaseRun(self.mode, self.phase.id, (*self.events, *streamed, *spans))

    def _store(self, items: Any) -> None:
        if self.plan.session is not None:
            self.session.extend(items)
            self.add("session_written", items=tuple(items))

    def _announce(self, item: Item) -> None:
        self._raw("response.output_item.added")
        name = "reasoning_item_created"
        if item["type"] == "message":
            name = "message_output_created"
            text = "".join(part.get("text", part.get("refusal")) for part in item["content"])
            self._raw("response.output_text.delta", text=text)
        elif item["type"] == "web_search_call":
            name = "tool_called"
        elif item["type"] == "function_call":
            handoff = item["name"] in handoff_tools(self.plan, self.agent)
            name = "handoff_requested" if handoff else "tool_called"
            self._raw("response.function_call_arguments.delta", text=item["arguments"])
        self._raw("response.output_item.done", item=item)
        self.stream.append(make("stream_event", type="item", name=name, item=item))

    def _raw(self, name: str, **fields: Any) -> None:
        self.stream.append(make("stream_event", type="raw", name=name, **fields))


Act = Callable[[Play], PhaseRun]


def perform(plan: Plan, **acts: Act) -> Observation:
    """Play each phase in each mode; a phase's act is the one with the phase's id."""
    runs = []
    for mode in plan.modes:
        session = session_items(plan)
        plays: dict[str, Play] = {}
        for phase in plan.phases:
            paused = plays[phase.resume.from_] if phase.resume is not None else None
            play = Play(plan, mode, phase.id, session, paused)
            play.pending = paused.pending if paused is not None else ()
            if phase.resume is not None:
                play.restored()
            plays[phase.id] = play
            runs.append(acts[phase.id](play))
    return Observation(tuple(runs))
