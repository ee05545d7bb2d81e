"""Pages that explain: a scenario with its phases in words, a certificate's checks, a contract."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts import registry
from agentrunproof.plan.items import label, phase_input, script_items
from agentrunproof.plan.model import Decision, ExpectedOutcome, Phase, Plan
from agentrunproof.plan.variants import Unfit, vary
from agentrunproof.record.certificate import Certificate
from agentrunproof.report.text import wrap


def plan_lines(id: str, plan: Plan) -> list[str]:
    """A plan in words: contract, why, links, parts, phases."""
    lines = [id, *wrap(plan.title, "  "), "", "contract", *wrap(plan.contract, "  ")]
    if plan.why:
        lines += ["", "why it matters", *wrap(plan.why, "  ")]
    for title, links in (("documentation", plan.docs), ("upstream", plan.upstream)):
        if links:
            lines += ["", title, *(f"  {link}" for link in links)]
    parts = list(_part_lines(plan))
    lines += ["", "parts", *parts] if parts else []
    lines += ["", f"phases (modes: {', '.join(plan.modes)})"]
    for number, phase in enumerate(plan.phases, 1):
        lines += _phase_lines(number, plan, phase)
    if any(phase.call is not None and phase.call.is_own for phase in plan.phases):
        lines += ["", "the functions called are this package's own"]
    lines += ["", "relations (a second run must come to the same)", *_relation_lines(plan)]
    foreign = [f"  {place}: {reference}" for place, reference in plan.python_refs()]
    if foreign:
        lines += ["", "foreign code (needs --allow-python)", *foreign]
    return lines


def verdict_lines(certificate: Certificate) -> list[str]:
    """The checks of a certificate, each with the promise behind it and what its code means."""
    lines = [f"verdict: {certificate.verdict} "
             f"(openai-agents {certificate.producer.sdk.version})"]
    for check in certificate.checks:
        lines += ["", f"  {check.verdict} {check.check}: {check.code}"]
        contract = registry.find(check.check)
        if contract is not None:
            lines += wrap(f"promise: {contract.promise}", "    ")
            lines += wrap(f"source: {contract.source}", "    ")
            if check.code in contract.codes:
                lines += wrap(f"{check.code}: {contract.codes[check.code]}", "    ")
        if check.detail:
            lines += wrap(f"seen in {check.where or 'the run'}: {check.detail}", "    ")
    return lines


def contract_lines(name: str) -> list[str]:
    """The contract of that name, or those that have a code of that name; nothing if none has."""
    lines: list[str] = []
    for contract in registry.CONTRACTS:
        codes = {code: meaning for code, meaning in contract.codes.items()
                 if name in (contract.name, code)}
        if codes:
            lines += [""] * bool(lines) + [contract.name, *wrap(contract.promise, "  ")]
            lines += ["", "documentation", f"  {contract.source}", "", "codes"]
            for code, meaning in codes.items():
                lines += [f"  {code}", *wrap(meaning, "    ")]
    return lines


def _part_lines(plan: Plan) -> Iterator[str]:
    for name, agent in plan.agents.items():
        has = [f"{word} {', '.join(names)}" for word, names in (
            ("tools", agent.tools), ("MCP servers", agent.mcp), ("handoffs to", agent.handoffs),
            ("input guardrails", agent.input_guardrails),
            ("output guardrails", agent.output_guardrails)) if names]
        first = ", starts" if name == plan.start else ""
        yield from wrap(f"agent {name}{first}" + (": " + "; ".join(has) if has else ""), "  ")
    for name, tool in plan.tools.items():
        does = [f"agent {tool.agent} as a tool"] if tool.agent else []
        does += ["needs approval"] if tool.needs_approval else []
        does += [f"times out after {tool.timeout} s"] if tool.timeout else []
        yield from wrap(f"tool {name}" + (": " + ", ".join(does) if does else ""), "  ")
    for name, server in plan.mcp.items():
        yield from wrap(f"MCP server {name}: offers {', '.join(server.offered) or 'nothing'}"
                        + (", whose list is kept" if server.cached else ""), "  ")
    if plan.session is not None:
        yield f"  session {plan.session.id} ({plan.session.kind})"


def _relation_lines(plan: Plan) -> Iterator[str]:
    watched: list[str] = []
    reasons: dict[str, list[str]] = {}
    for found in vary(plan):
        if isinstance(found, Unfit):
            reasons.setdefault(found.reason, []).append(found.relation)
        elif found.relation not in watched:
            watched.append(found.relation)
    yield from wrap("watched: " + (", ".join(watched) or "none"), "  ")
    for reason, names in reasons.items():
        yield from wrap(f"not {', '.join(names)}: {reason}", "  ")


def _phase_lines(number: int, plan: Plan, phase: Phase) -> list[str]:
    lines = [f"  {number}. {phase.id}", *wrap(_start(phase), "     ")]
    for agent, steps in phase.script.items():
        for step, declared in enumerate(steps):
            said = [label(item) for item in script_items(plan, phase, agent, step)]
            if declared.error is not None:
                said.append(f"raises {declared.error.type}")
            if declared.hang:
                said.append("never answers")
            lines += wrap(f"{agent}'s model, turn {step + 1}: {', '.join(said) or 'nothing'}",
                          "     ")
    if phase.cancel is not None:
        lines += wrap(f"cancelled ({phase.cancel.mode}) at {phase.cancel.when} number "
                      f"{phase.cancel.count}", "     ")
    return lines + wrap("expected: " + "; ".join(expected_words(phase.expect)), "     ")


def _start(phase: Phase) -> str:
    if phase.resume is not None:
        resume = phase.resume
        decisions = ", ".join(_decision(decision) for decision in resume.decisions)
        return (f"resumes the state of {resume.from_}, branch {resume.branch}, by way of "
                f"{resume.via}, and {decisions or 'decides nothing'}")
    if phase.call is not None:
        given = f" with {phase.call.arguments}" if phase.call.arguments != "{}" else ""
        return f"calls {phase.call.python.removeprefix('python:')}{given}"
    items = ", ".join(label(item) for item in phase_input(phase))
    assert phase.input is not None
    follow = f" after the history of {phase.input.follow}" if phase.input.follow else ""
    return f"starts with {items or 'no input'}{follow}"


def _decision(decision: Decision) -> str:
    word = "approves" if decision.approve else "rejects"
    return f"{word} {decision.call}" + (" always" if decision.always else "")


def expected_words(expect: ExpectedOutcome) -> Iterator[str]:
    """What a phase must come to, in words."""
    yield expect.outcome + (f" with {expect.error}" if expect.error else "")
    if expect.final_output is not None:
        yield f"final output {expect.final_output!r}"
    if expect.value is not None:
        yield f"value {expect.value}"
    if expect.last_agent is not None:
        yield f"last agent {expect.last_agent}"
    if expect.pending is not None:
        yield "waiting for " + (", ".join(expect.pending) or "nothing")
    for what, counts in (("tool", expect.tool_calls), ("model", expect.model_calls)):
        for name, count in (counts or {}).items():
            yield f"{what} {name} called {count} time{'' if count == 1 else 's'}"
    for call, output in (expect.outputs or {}).items():
        yield f"output of {call} is {output!r}"
    if expect.session is not None:
        yield "session holds " + (", ".join(expect.session) or "nothing")
    for sees in expect.sees:
        yield f"model call {sees.call + 1} of {sees.agent} sees " + ", ".join(sees.items)
