"""Small conversations with a rule for a model: what the search is tried on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from agentrunproof.ablation.explain import Explanation
from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.recorded_call import RecordedCall
from agentrunproof.ablation.recording import record
from agentrunproof.ablation.subject import Call, Decision, Target
from agentrunproof.record.ablation import Ablation, SubjectLine, leaves_runs

Body = dict[str, Any]

PAY = Decision((Call("pay", {"to": "K-77"}),))
HOLD = Decision((Call("hold", {}),))
TARGET = Target("tool:pay", PAY)
SUBJECT = SubjectLine(kind="call", digest="sha256:" + "0" * 64, dialect="openai.chat")


def chat(*results: str, system: str = "You keep the books.", user: str = "Do the payments.",
         tools: tuple[Body, ...] = ()) -> Body:
    """A chat request whose results were read by one call each."""
    messages: list[Body] = [{"role": "system", "content": system},
                            {"role": "user", "content": user}]
    for n, result in enumerate(results):
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": f"c{n}", "type": "function",
                 "function": {"name": "read", "arguments": json.dumps({"page": n})}}]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": result}]
    return {"model": "rule", "messages": messages} | ({"tools": list(tools)} if tools else {})


def pages(*planted: str, count: int = 6) -> list[str]:
    """Results of a few sentences each, with sentences planted into the first ones."""
    made = [[f"Page {n} has a heading.", f"The {n} chairs are grey.", f"Nobody was in room {n}."]
            for n in range(count)]
    for n, sentence in enumerate(planted):
        made[(2 * n + 1) % count].insert(1 + n % 2, sentence)
    return [" ".join(sentences) for sentences in made]


def explained(body: Body, rule: Callable[[str], float | Decision], *, seed: int = 0,
              budget: int = 300, deterministic: bool = False) -> Explanation:
    """A finished explanation; the rule says how often a text makes the model pay."""
    chance = random.Random(seed)

    def model(edited: Body) -> Decision:
        said = rule(json.dumps(edited))
        if isinstance(said, Decision):
            return said
        return PAY if chance.random() < said else HOLD

    subject = RecordedCall(Context(body, "openai.chat"), model, deterministic=deterministic)
    explanation = Explanation(subject, TARGET, budget=budget)
    explanation.run()
    return explanation


def recorded(explanation: Explanation) -> Ablation:
    """Its record."""
    return record(explanation, SUBJECT)


def named(explanation: Explanation) -> list[set[str]]:
    """What the confirmed claims name, the strongest first."""
    texts = explanation.subject.texts
    return [{texts[n] for low, high in leaves_runs(claim.leaves) for n in range(low, high)}
            for claim in recorded(explanation).claims if claim.verdict == "CONFIRMED"]
