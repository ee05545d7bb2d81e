"""A standalone pytest file that shows a failure with the SDK's public API alone.

It builds the plan's agents, tools, guardrails and session by hand, runs its phases with a
scripted model, and asserts in words what ought to be seen. Only plans of common parts can be
written so; `why.writable` names the part that cannot.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentrunproof.plan.items import handoff_tool_name, phase_input, session_items
from agentrunproof.plan.model import Agent, Item, Phase, Plan, Tool
from agentrunproof.why import prelude, source, writable
from agentrunproof.why.facts import Claim

_GUARDS = ("input_guardrails", "output_guardrails")
#: Exceptions of the SDK that a model may raise.
_OF_THE_SDK = {"ModelBehaviorError", "UserError"}


@dataclass(frozen=True)
class Told:
    """What a script says of itself: the failed check, its promise, where it fails and passes."""

    check: str
    code: str
    promise: str
    release: str
    good: str | None = None


def script(plan: Plan, mode: str, claims: Sequence[Claim], told: Told) -> str:
    """The text of the pytest file.

    Args:
        plan: one without unsupported parts.
        mode: way to run it.
        claims: what to assert, at least one.
        told: what failed where.
    """
    return _Script(plan, mode, claims, told).text()


class _Script:
    def __init__(self, plan: Plan, mode: str, claims: Sequence[Claim], told: Told) -> None:
        self._plan, self._mode, self._claims, self._told = plan, mode, claims, told
        self._resumed = any(phase.resume for phase in plan.phases)
        self._thinks = any(item.reasoning is not None for phase in plan.phases
                           for steps in phase.script.values() for step in steps
                           for item in step.output)
        self._names = source.identifiers(plan)
        self._facts = {claim.fact for claim in claims}
        self._traced = "spans" in self._facts
        self._hooks = self._made_hooks()

    def _made_hooks(self) -> str | None:
        """How the hooks of a run are made; None where they are neither asked for nor fail."""
        failure = self._plan.run.hook_error
        if failure is not None:
            error = "asyncio.CancelledError()" if failure.cancel else \
                f"HookFailure({failure.message!r})"
            return f"Hooks({failure.on!r}, {error})"
        return "Hooks()" if "hooks" in self._facts else None

    def _config(self) -> dict[str, str]:
        run = self._plan.run
        config = {} if self._traced else {"tracing_disabled": "True"}
        if not run.sensitive_traces:
            config["trace_include_sensitive_data"] = "False"
        if run.nest_handoff_history:
            config["nest_handoff_history"] = "True"
        for key in _GUARDS:
            if names := getattr(run, key):
                config[key] = f"[{', '.join(self._names[one] for one in names)}]"
        return config

    def _failures(self) -> list[str]:
        """Exceptions of our own that the plan's parts raise, by the names they have in records."""
        plan = self._plan
        raised = {
            "ToolFailure": any(outcome.error is not None for tool in plan.tools.values()
                               for outcome in tool.outcomes),
            "GuardrailFailure": any(one.error is not None for one in plan.guardrails.values()),
            "HandoffFailure": any(one.error is not None for one in plan.handoffs.values()),
            "HookFailure": plan.run.hook_error is not None and not plan.run.hook_error.cancel}
        return [name for name, is_raised in raised.items() if is_raised]

    def text(self) -> str:
        parts = [f"{self._head()}\n\n{self._imports()}", prelude.MODEL]
        if self._thinks:
            parts.append(prelude.REASONING)
        if self._plan.session is not None and self._plan.session.kind == "recording":
            parts.append(prelude.SESSION)
        if self._hooks is not None:
            parts.append(prelude.HOOKS)
        if self._traced:
            parts.append(prelude.SPANS)
        parts.append(prelude.run(self._config(), self._facts, self._hooks))
        if self._resumed:
            parts.append(prelude.DECIDE)
        parts += [f"class {name}(Exception):\n    pass" for name in self._failures()]
        parts += [self._function(name, tool) for name, tool in self._plan.tools.items()
                  if tool.agent is None]
        parts += [self._guardrail(name) for name in self._plan.guardrails]
        parts += [f"def refuse_{source.word(name)}(context):\n"
                  f"    raise HandoffFailure({spec.error!r})"
                  for name, spec in self._plan.handoffs.items() if spec.error is not None]
        parts += [self._world(), self._scenario(), self._test()]
        return "\n\n".join(part.rstrip("\n") + "\n" for part in parts)

    def _head(self) -> str:
        told = self._told
        title = self._plan.title.removesuffix(" (reduced)").rstrip(".")
        title = title.replace("\\", "\\\\").replace('"', "'")
        body = (f"{told.promise} On openai-agents {told.release} it is not so "
                f"({told.check}: {told.code}).")
        works = [f"It passes on {told.good}."] if told.good else []
        links = [source.link(one) for one in self._plan.upstream]
        said = textwrap.wrap(" ".join([body, *works]), source.WIDTH, break_on_hyphens=False)
        return "\n".join(['"""' + title + ".", "", *said,
                          *(["", "Reported:", *(f"  {link}" for link in links)] if links else []),
                          "", "No request leaves this process. Run it with:", "",
                          f'  pip install "openai-agents=={told.release}" pytest',
                          "  pytest test_reproduce.py", '"""'])

    def _imports(self) -> str:
        names = {"Agent", "Model", "ModelResponse", "RunConfig", "Runner", "Usage"}
        if any(tool.agent is None for tool in self._plan.tools.values()):
            names.add("function_tool")
        if self._hooks is not None:
            names.add("RunHooks")
        if any(agent.stop_at_tools for agent in self._plan.agents.values()):
            names.add("StopAtTools")
        names |= {step.error.type for phase in self._plan.phases for steps in phase.script.values()
                  for step in steps if step.error is not None} & _OF_THE_SDK
        if self._plan.guardrails:
            names.add("GuardrailFunctionOutput")
            names |= {f"{one.kind}_guardrail" for one in self._plan.guardrails.values()}
        if self._plan.handoffs:
            names.add("handoff")
        if any(phase.resume and phase.resume.via != "memory" for phase in self._plan.phases):
            names.add("RunState")
        session = self._plan.session
        if session is not None and session.kind == "sqlite":
            names.add("SQLiteSession")
        lines = "\n".join(f"    {name}," for name in sorted(names))
        text = prelude.IMPORTS.replace("{names}", lines)
        more = []
        if any(one.filter != "none" for one in self._plan.handoffs.values()):
            more.append("from agents.extensions import handoff_filters\n")
        if session is not None and session.limit is not None:
            more.append("from agents.memory import SessionSettings\n")
        if self._traced:
            more.append("from agents.tracing import TracingProcessor, set_trace_processors\n")
        if self._thinks:
            text = text.replace("    ResponseUsage,\n", "    ResponseReasoningItem,\n"
                                "    ResponseUsage,\n")
            text += "from openai.types.responses.response_reasoning_item import Summary\n"
        return text.replace("from openai.", "".join(more) + "from openai.", 1)

    def _function(self, name: str, tool: Tool) -> str:
        options = {"name_override": repr(name)} if self._names[name] != name else {}
        if tool.description is not None:
            options["description_override"] = repr(tool.description)
        if tool.needs_approval:
            options["needs_approval"] = "True"
        if tool.failure == "raise":
            options["failure_error_function"] = "None"
        parameters = ", ".join(f"{key}: {writable.TYPES[tool.parameters[key].type]}"
                               for key in tool.order)
        (outcome,) = tool.outcomes
        does = f"raise ToolFailure({outcome.error!r})" if outcome.error is not None \
            else f"return {source.template(outcome.returns or '')}"
        return "\n".join([f"@function_tool{source.arguments(options)}",
                          f"def {self._names[name]}({parameters}) -> str:",
                          f"    started.append({name!r})", f"    {does}"])

    def _guardrail(self, name: str) -> str:
        spec = self._plan.guardrails[name]
        trips = "True" if spec.trips else f"{spec.trips_on!r} in str(checked)" \
            if spec.trips_on else "False"
        options = {"name": repr(name)} if self._names[name] != name else {}
        if spec.blocking:
            options["run_in_parallel"] = "False"
        does = f"raise GuardrailFailure({spec.error!r})" if spec.error is not None else \
            f"return GuardrailFunctionOutput(output_info=None, tripwire_triggered={trips})"
        return "\n".join([
            f"@{spec.kind}_guardrail{source.arguments(options)}",
            f"async def {self._names[name]}(context, agent, checked):", f"    {does}"])

    def _world(self) -> str:
        lines = [f"{self._names[name]}_model = ScriptedModel({name!r})"
                 for name in self._plan.agents]
        for name, agent in self._plan.agents.items():
            lines += self._agent(name, agent)
        for name, tool in self._plan.tools.items():
            if tool.agent is not None:
                lines.append(self._agent_tool(name, tool, self._names[tool.agent]))
        for name, agent in self._plan.agents.items():
            if self._uses_agents(agent):
                made = ", ".join(self._names[one] for one in agent.tools)
                lines.append(f"{self._names[name]}.tools = [{made}]")
            if agent.handoffs:
                made = ", ".join(map(self._handoff, agent.handoffs))
                lines.append(f"{self._names[name]}.handoffs = [{made}]")
        return "\n".join(lines)

    def _uses_agents(self, agent: Agent) -> bool:
        return any(self._plan.tools[one].agent is not None for one in agent.tools)

    def _agent_tool(self, name: str, tool: Tool, agent: str) -> str:
        options = {"tool_name": repr(name),
                   "tool_description": repr(tool.description or f"Asks {tool.agent}.")}
        if tool.needs_approval:
            options["needs_approval"] = "True"
        if tool.max_turns is not None:
            options["max_turns"] = str(tool.max_turns)
        if tool.failure == "raise":
            options["failure_error_function"] = "None"
        return f"{self._names[name]} = {agent}.as_tool{source.arguments(options)}"

    def _agent(self, name: str, agent: Agent) -> list[str]:
        given = {"name": repr(name), "model": f"{self._names[name]}_model"}
        for key in ("instructions", "handoff_description"):
            if getattr(agent, key) is not None:
                given[key] = repr(getattr(agent, key))
        for key in ("tools", *_GUARDS):
            names = getattr(agent, key)
            if names and not (key == "tools" and self._uses_agents(agent)):
                given[key] = f"[{', '.join(self._names[one] for one in names)}]"
        if agent.tool_use_behavior == "stop_at_tools":
            given["tool_use_behavior"] = \
                f"StopAtTools(stop_at_tool_names={list(agent.stop_at_tools)!r})"
        elif agent.tool_use_behavior != "run_llm_again":
            given["tool_use_behavior"] = repr(agent.tool_use_behavior)
        return [f"{self._names[name]} = Agent(",
                *(f"    {key}={value}," for key, value in given.items()), ")"]

    def _handoff(self, name: str) -> str:
        spec = self._plan.handoffs.get(name)
        if spec is None:
            return self._names[name]
        options = {key: repr(value) for key, value in (
            ("tool_name_override", spec.tool_name),
            ("tool_description_override", spec.description),
            ("nest_handoff_history", spec.nest_history)) if value is not None}
        if spec.filter != "none":
            options["input_filter"] = f"handoff_filters.{spec.filter}"
        if spec.error is not None:
            options["on_handoff"] = f"refuse_{source.word(name)}"
        return f"handoff{source.arguments({'agent': self._names[spec.to]} | options)}"

    def _scenario(self) -> str:
        lines = ["async def scenario():"]
        session = self._plan.session
        if session is not None:
            settings = f"SessionSettings(limit={session.limit})"
            if session.kind == "recording":
                made = f"MemorySession({session.id!r}" + (
                    f", {settings})" if session.limit is not None else ")")
            else:
                made = f"SQLiteSession({session.id!r}" + (
                    f", session_settings={settings})" if session.limit is not None else ")")
            lines.append(f"    session = {made}")
            if session.items:
                lines += ["    held = " + source.literal(session_items(self._plan), 7),
                          "    await session.add_items(held)"]
        for phase in self._plan.phases:
            lines += ["", *(f"    {line}" for line in self._phase(phase))]
        return "\n".join(lines)

    def _phase(self, phase: Phase) -> list[str]:
        lines = [f"# {phase.id}"]
        for name in self._plan.agents:
            turns = [source.error(step.error) if step.error is not None else
                     f"[{', '.join(self._items(phase, name, n))}]"
                     for n, step in enumerate(phase.script.get(name, ()))]
            lines += [f"{self._names[name]}_model.turns = [", *(f"    {one}," for one in turns),
                      "]"] if turns else [f"{self._names[name]}_model.turns = []"]
        agent = self._names[phase.agent or self._plan.start]
        if phase.resume is not None:
            lines += self._resume(phase, agent)
            start = "state"
        else:
            start = self._input(phase)
        options = [repr(phase.id), agent, start]
        if self._mode == "run_streamed":
            options.append("streamed=True")
        if self._plan.session is not None:
            options.append("session=session")
        context = self._context(phase)
        if context is not None:
            options.append(f"context={context!r}")
        if turns_left := phase.max_turns or self._plan.run.max_turns:
            options.append(f"max_turns={turns_left}")
        if self._plan.run.on_max_turns is not None:
            options.append(
                f"error_handlers={{'max_turns': lambda _: {self._plan.run.on_max_turns!r}}}")
        called = f"await run({', '.join(options)})"
        branches = self._plan.branches(phase.id)
        followed = any(other.input and other.input.follow == phase.id
                       for other in self._plan.phases)
        name = source.word(phase.id)
        lines.append(f"{name} = {called}" if branches or followed else called)
        for branch, via in branches.items():
            carried = {"memory": "", "json": ".to_json()", "string": ".to_string()"}[via]
            lines.append(f"{name}_{source.word(branch)} = {name}.to_state(){carried}")
        return lines

    def _context(self, phase: Phase) -> Any:
        """The context that a run is given; one that goes on has that of before, unless told."""
        return self._plan.run.context if phase.context is None and phase.resume is None \
            else phase.context

    def _items(self, phase: Phase, agent: str, step: int) -> Iterator[str]:
        for n, item in enumerate(phase.script[agent][step].output):
            yield self._item(item, agent, f"{phase.id}-{agent}-{step}-{n}")

    def _item(self, item: Item, agent: str, place: str) -> str:
        if item.say is not None:
            return f"say({item.say!r}, {'msg-' + (item.id or place)!r})"
        if item.reasoning is not None:
            return f"think({item.reasoning!r}, {'rs-' + (item.id or place)!r})"
        name = item.call if item.call is not None else handoff_tool_name(
            self._plan, agent, str(item.handoff))
        rest = "" if item.arguments in (None, "{}") else f", {item.arguments!r}"
        return f"call({name!r}, {item.id or place!r}{rest})"

    def _resume(self, phase: Phase, agent: str) -> list[str]:
        resume = phase.resume
        assert resume is not None
        carried = f"{source.word(resume.from_)}_{source.word(resume.branch)}"
        made = {"memory": carried, "json": f"await RunState.from_json({agent}, {carried})",
                "string": f"await RunState.from_string({agent}, {carried})"}[resume.via]
        return [f"state = {made}", *map(source.decision, resume.decisions)]

    def _input(self, phase: Phase) -> str:
        given = phase.input
        assert given is not None
        if given.follow is None and given.text is not None:
            return repr(given.text)
        items = repr(phase_input(phase))
        return items if given.follow is None else \
            f"{source.word(given.follow)}.to_input_list() + {items}"

    def _test(self) -> str:
        lines = ["def test_reproduce():", "    asyncio.run(scenario())"]
        for claim in self._claims:
            told = source.split(source.wording(claim))
            expected = repr(claim.expected)
            if len(expected) > source.WIDTH // 2:
                lines.append("    expected = " + source.literal(claim.expected, 11))
                expected = "expected"
            lines += [f"    assert seen[{claim.phase!r}][{claim.fact!r}] == {expected}, (",
                      *(f"        {part!r}" for part in told), "    )"]
        return "\n".join([*lines, "", "", 'if __name__ == "__main__":', "    test_reproduce()"])
