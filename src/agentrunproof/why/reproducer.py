"""A standalone pytest file that shows a failure with the SDK's public API alone.

It builds the plan's agents, tools, guardrails and session by hand, runs its phases with a
scripted model, and asserts in words what ought to be seen. Only plans of common parts can be
written so; `unsupported` names the part that cannot.
"""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentrunproof.plan.items import (
    handoff_tool_name,
    phase_input,
    template_fields,
)
from agentrunproof.plan.model import Agent, Decision, Item, Phase, Plan, Tool
from agentrunproof.shape import encode
from agentrunproof.why import prelude
from agentrunproof.why.facts import Claim

_WIDTH = 96

#: What a script can have of each part.
_AGENT = {"instructions", "handoff_description", "tools", "handoffs", "input_guardrails",
          "output_guardrails", "tool_use_behavior"}
_TOOL = {"description", "parameters", "order", "outcomes", "needs_approval", "failure"}
_GUARDRAIL = {"kind", "trips", "trips_on", "blocking"}
_HANDOFF = {"to", "tool_name", "description"}
_SESSION = {"kind", "id", "limit"}
_RUN = {"max_turns", "hooks", "tracing", "nest_handoff_history"}
_PHASE = {"id", "input", "resume", "agent", "script", "max_turns", "expect"}
_ITEMS = {"say", "call", "handoff"}

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool",
          "string[]": "list[str]", "integer[]": "list[int]"}


_FIELD = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")


@dataclass(frozen=True)
class Told:
    """What a script says of itself: the failed check, its promise, the release."""

    check: str
    code: str
    promise: str
    release: str


def unsupported(plan: Plan) -> str | None:
    """The first part of the plan that a script cannot have; None if it can be written."""
    return next(_unsupported(plan), None)


def _unsupported(plan: Plan) -> Iterator[str]:
    yield from (place for place, _ in plan.python_refs())
    shared = [{*plan.agents} & {*plan.tools}, {*plan.agents, *plan.tools} & {*plan.guardrails}]
    yield from (f"one name for two parts: {name}" for names in shared for name in names)
    for key in ("tool_guardrails", "types"):
        yield from (f"{key}.{name}" for name in getattr(plan, key))
    for key, known in (("agents", _AGENT), ("tools", _TOOL), ("guardrails", _GUARDRAIL),
                       ("handoffs", _HANDOFF)):
        for name, part in getattr(plan, key).items():
            yield from _beyond(part, known, f"{key}.{name}")
    for name, tool in plan.tools.items():
        if len(tool.outcomes) != 1 or encode(tool.outcomes[0]).keys() - {"returns", "error"}:
            yield f"tools.{name}.outcomes"
        elif _FIELD.sub("", tool.outcomes[0].returns or "").count("{"):
            yield f"tools.{name}.returns"
        yield from (f"tools.{name}.parameters.{key}" for key, param in tool.parameters.items()
                    if param.default is not None or param.type not in _TYPES
                    or param.description is not None)
        if tool.failure == "text":
            yield f"tools.{name}.failure"
    if plan.session is not None:
        yield from _beyond(plan.session, _SESSION, "session")
    yield from _beyond(plan.run, _RUN, "run")
    for phase in plan.phases:
        yield from _beyond(phase, _PHASE, f"phases.{phase.id}")
        for steps in phase.script.values():
            for step in steps:
                yield from _beyond(step, {"output"}, f"phases.{phase.id}.script")
                for item in step.output:
                    if item.kind not in _ITEMS:
                        yield f"phases.{phase.id}.script: {item.kind}"


def _beyond(part: Any, known: set[str], place: str) -> Iterator[str]:
    yield from (f"{place}.{key}" for key in sorted(encode(part).keys() - known))


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
        self._names = _identifiers(plan)

    def text(self) -> str:
        parts = [self._head(), self._imports(), prelude.MODEL]
        if self._plan.session is not None and self._plan.session.kind == "recording":
            parts.append(prelude.SESSION)
        parts.append(prelude.RUN if not self._plan.run.nest_handoff_history else
                     prelude.RUN.replace("tracing_disabled=True",
                                         "tracing_disabled=True, nest_handoff_history=True"))
        if self._resumed:
            parts.append(prelude.DECIDE)
        parts += [self._function(name, tool) for name, tool in self._plan.tools.items()]
        parts += [self._guardrail(name) for name in self._plan.guardrails]
        parts += [self._world(), self._scenario(), self._test()]
        return "\n\n".join(part.rstrip("\n") + "\n" for part in parts)

    def _head(self) -> str:
        told = self._told
        title = self._plan.title.removesuffix(" (reduced)").rstrip(".")
        title = title.replace("\\", "\\\\").replace('"', "'")
        body = (f"{told.promise} On openai-agents {told.release} it is not so "
                f"({told.check}: {told.code}).")
        return "\n".join(['"""' + title + ".", "", *textwrap.wrap(body, _WIDTH), "",
                          "No request leaves this process. Run it with: pytest test_reproduce.py",
                          '"""'])

    def _imports(self) -> str:
        names = {"Agent", "Model", "ModelResponse", "RunConfig", "Runner", "Usage"}
        if self._plan.tools:
            names.add("function_tool")
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
        if session is not None and session.limit is not None:
            text = text.replace("from openai.", "from agents.memory import SessionSettings\n"
                                "from openai.", 1)
        return text

    def _function(self, name: str, tool: Tool) -> str:
        options = {"name_override": repr(name)} if self._names[name] != name else {}
        if tool.description is not None:
            options["description_override"] = repr(tool.description)
        if tool.needs_approval:
            options["needs_approval"] = "True"
        if tool.failure == "raise":
            options["failure_error_function"] = "None"
        parameters = ", ".join(f"{key}: {_TYPES[tool.parameters[key].type]}"
                               for key in tool.order)
        (outcome,) = tool.outcomes
        does = f"raise RuntimeError({outcome.error!r})" if outcome.error is not None \
            else f"return {_template(outcome.returns or '')}"
        return "\n".join([f"@function_tool{_arguments(options)}",
                          f"def {self._names[name]}({parameters}) -> str:",
                          f"    started.append({name!r})", f"    {does}"])

    def _guardrail(self, name: str) -> str:
        spec = self._plan.guardrails[name]
        trips = "True" if spec.trips else f"{spec.trips_on!r} in str(checked)" \
            if spec.trips_on else "False"
        options = {"run_in_parallel": "False"} if spec.blocking else {}
        return "\n".join([
            f"@{spec.kind}_guardrail{_arguments(options)}",
            f"async def {self._names[name]}(context, agent, checked):",
            "    return GuardrailFunctionOutput(output_info=None, tripwire_triggered="
            f"{trips})"])

    def _world(self) -> str:
        lines = [f"{self._names[name]}_model = ScriptedModel({name!r})"
                 for name in self._plan.agents]
        for name, agent in self._plan.agents.items():
            lines += self._agent(name, agent)
        for name, agent in self._plan.agents.items():
            if agent.handoffs:
                made = ", ".join(map(self._handoff, agent.handoffs))
                lines.append(f"{self._names[name]}.handoffs = [{made}]")
        return "\n".join(lines)

    def _agent(self, name: str, agent: Agent) -> list[str]:
        given = {"name": repr(name), "model": f"{self._names[name]}_model"}
        for key in ("instructions", "handoff_description"):
            if getattr(agent, key) is not None:
                given[key] = repr(getattr(agent, key))
        for key in ("tools", "input_guardrails", "output_guardrails"):
            if names := getattr(agent, key):
                given[key] = f"[{', '.join(self._names[one] for one in names)}]"
        if agent.tool_use_behavior != "run_llm_again":
            given["tool_use_behavior"] = repr(agent.tool_use_behavior)
        return [f"{self._names[name]} = Agent(",
                *(f"    {key}={value}," for key, value in given.items()), ")"]

    def _handoff(self, name: str) -> str:
        spec = self._plan.handoffs.get(name)
        if spec is None:
            return self._names[name]
        options = {key: repr(value) for key, value in (
            ("tool_name_override", spec.tool_name),
            ("tool_description_override", spec.description)) if value is not None}
        return f"handoff{_arguments({'agent': self._names[spec.to]} | options)}"

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
        for phase in self._plan.phases:
            lines += ["", *(f"    {line}" for line in self._phase(phase))]
        return "\n".join(lines)

    def _phase(self, phase: Phase) -> list[str]:
        lines = [f"# {phase.id}"]
        for name in self._plan.agents:
            turns = [f"[{', '.join(self._items(phase, name, n))}]"
                     for n in range(len(phase.script.get(name, ())))]
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
        if turns_left := phase.max_turns or self._plan.run.max_turns:
            options.append(f"max_turns={turns_left}")
        called = f"await run({', '.join(options)})"
        branches = self._plan.branches(phase.id)
        followed = any(other.input and other.input.follow == phase.id
                       for other in self._plan.phases)
        name = _word(phase.id)
        lines.append(f"{name} = {called}" if branches or followed else called)
        for branch, via in branches.items():
            carried = {"memory": "", "json": ".to_json()", "string": ".to_string()"}[via]
            lines.append(f"{name}_{_word(branch)} = {name}.to_state(){carried}")
        return lines

    def _items(self, phase: Phase, agent: str, step: int) -> Iterator[str]:
        for n, item in enumerate(phase.script[agent][step].output):
            yield self._item(item, agent, f"{phase.id}-{agent}-{step}-{n}")

    def _item(self, item: Item, agent: str, place: str) -> str:
        if item.say is not None:
            return f"say({item.say!r}, {'msg-' + (item.id or place)!r})"
        name = item.call if item.call is not None else handoff_tool_name(
            self._plan, agent, str(item.handoff))
        rest = "" if item.arguments in (None, "{}") else f", {item.arguments!r}"
        return f"call({name!r}, {item.id or place!r}{rest})"

    def _resume(self, phase: Phase, agent: str) -> list[str]:
        resume = phase.resume
        assert resume is not None
        carried = f"{_word(resume.from_)}_{_word(resume.branch)}"
        made = {"memory": carried, "json": f"await RunState.from_json({agent}, {carried})",
                "string": f"await RunState.from_string({agent}, {carried})"}[resume.via]
        return [f"state = {made}", *map(_decision, resume.decisions)]

    def _input(self, phase: Phase) -> str:
        given = phase.input
        assert given is not None
        if given.follow is None and given.text is not None:
            return repr(given.text)
        items = repr(phase_input(phase))
        return items if given.follow is None else \
            f"{_word(given.follow)}.to_input_list() + {items}"

    def _test(self) -> str:
        lines = ["def test_reproduce():", "    asyncio.run(scenario())"]
        for claim in self._claims:
            lines += [f"    assert seen[{claim.phase!r}][{claim.fact!r}] == {claim.expected!r}, (",
                      *(f"        {part!r}" for part in _parts(_words(claim))), "    )"]
        return "\n".join([*lines, "", "", 'if __name__ == "__main__":', "    test_reproduce()"])


def _words(claim: Claim) -> str:
    """The assertion in plain words."""
    def listed(value: Sequence[str]) -> str:
        return ", ".join(value) if value else "nothing"

    run = f"in run '{claim.phase}' "
    if claim.fact == "unpaired":
        return run + "a call and its output must stand together wherever the model or the " \
            f"session gets one; alone stood {listed(claim.found)}"
    if claim.fact == "tools":
        return run + f"the tools started must be {listed(claim.expected)}; started were " \
            f"{listed(claim.found)}"
    if claim.fact == "pending":
        return run + f"{listed(claim.expected)} must wait for a decision; " \
            f"{listed(claim.found)} did"
    if claim.fact == "outcome":
        # Our scripted model's own exception; the script's model has an assertion in its place.
        found = "went on and called the model again" \
            if claim.found == "raised ScriptExhausted" else f"was {claim.found}"
        return f"the run '{claim.phase}' must end as {claim.expected}; it {found}"
    return run + f"{claim.fact} must be {json.dumps(claim.expected, ensure_ascii=False)}; " \
        f"it was {json.dumps(claim.found, ensure_ascii=False)}"


def _parts(text: str) -> list[str]:
    """A text in pieces that fit on a line, each but the last with the space that ends it."""
    lines = textwrap.wrap(text, _WIDTH - 12)
    return [*(f"{line} " for line in lines[:-1]), *lines[-1:]]


def _decision(decision: Decision) -> str:
    options = ""
    if decision.always:
        options += f", always_{'approve' if decision.approve else 'reject'}=True"
    if decision.message is not None:
        options += f", rejection_message={decision.message!r}"
    return f"decide(state, {decision.call!r}, {decision.approve}{options})"


def _arguments(options: dict[str, str]) -> str:
    return f"({', '.join(f'{key}={value}' for key, value in options.items())})" if options else ""


def _template(text: str) -> str:
    """A Python expression for a tool's output text; parameters are filled in as they are."""
    if not template_fields(text):
        return repr(text)
    return f"{text!r}.format({', '.join(f'{one}={one}' for one in template_fields(text))})"


def _word(name: str) -> str:
    word = re.sub(r"\W", "_", name)
    return word if word.isidentifier() and not keyword.iskeyword(word) else f"_{word}"


def _identifiers(plan: Plan) -> dict[str, str]:
    """A Python name for every named part, none of them given twice or taken by the prelude."""
    taken = {"run", "say", "call", "seen", "started", "given", "label", "labels", "decide",
             "state", "session", "scenario", "unpaired", "handoff", "json", "asyncio", "call_id"}
    names: dict[str, str] = {}
    for part in (plan.agents, plan.tools, plan.guardrails):
        for name in part:
            word = _word(name)
            while word in taken:
                word += "_"
            taken.add(word)
            names[name] = word
    return names
