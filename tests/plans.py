"""A small plan and certificates of it, for tests that need some."""

from __future__ import annotations

from collections.abc import Sequence

from agentrunproof.plan.model import Agent, Item, LiteralInput, ModelStep, Phase, Plan
from agentrunproof.record.certificate import Certificate, Producer, Sdk, build
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.record.result import OK, CheckResult, Verdict

GREETING = '''
title = "A greeting"
area = "demo"
contract = "What the model says comes out."

[agents.greeter]

[[phases]]
id = "only"
input = "Hi"
script = [ [ { say = "Hello!" } ] ]
expect = { outcome = "completed", final_output = "Hello!" }
'''


def greeting() -> Plan:
    """One agent, one phase, one answer."""
    return Plan(title="A greeting", area="demo", contract="What the model says comes out.",
                start="greeter", agents={"greeter": Agent()},
                phases=(Phase(id="only", input=LiteralInput(text="Hi"),
                              script={"greeter": (ModelStep(output=(Item(say="Hello!"),)),)}),))


PRODUCER = Producer(version="0.1.0", python="3.13.0", network="audit-hook",
                    sdk=Sdk(version="0.24.0", files="sha256:" + "0" * 64))


def certificate(*events: Event, checks: Sequence[CheckResult] = (), verdict: Verdict = "PASS",
                plan: Plan | None = None, missing: tuple[str, ...] = (),
                id: str = "greeting") -> Certificate:
    """A certificate of one run in mode ``run`` with these events, judged as told."""
    runs = () if missing else (PhaseRun("run", "only", events),)
    if not missing and not checks:
        checks = (CheckResult("tool_linkage", "PASS", OK),)
    return build(id, plan or greeting(), Observation(runs, missing), PRODUCER, checks, verdict)
