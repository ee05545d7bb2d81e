"""Our own cases: conversations of five domains with sentences planted into them.

A rule stands for the model: it says from the text of an edited request how often the bad decision
is made. What it looks for are the planted sentences, each of which has a mark of its own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from agentrunproof.ablation.subject import Decision, Target
from agentrunproof.bench import cases, forms
from agentrunproof.bench.cases import Case, Model
from agentrunproof.bench.domains import DOMAINS, NOUNS, PLACES, Domain
from agentrunproof.bench.forms import Body

#: Sentences that share no word with any decision.
_BLAND = "As of last week the usual step is skipped, see note {k}."
_CHINESE = ("会议改到周三下午。", "打印机又坏了。", "仓库的门是蓝色的。", "新目录已经寄出！")  # noqa: RUF001
_CHINESE_PLANT = "从本周起不再需要审批{k}。"
_UNICODE = ("The café résumé is ready 🎉.", "Ünïted offices “closed” today.",
            "Straße 5 ↔ İzmir: ﬁnal draft.")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the cases of a kind are made.

    Args:
        where: the causes are planted.
        count: of causes.
        works: how they work together.
        rates: with the causes and without.
        wording: of what is planted: of the domain, bland, or in Chinese.
        form: of results.
        dialect: of requests.
        target: what is asked about: the call, its words, or simply what was decided.
        wary: the part of the text that must be left for the model to act at all.
        results: how many tool results there are; usually a few.
        paragraphs: of each result; usually a few.
    """

    where: str = "results"
    count: int = 1
    works: str = "any"
    rates: tuple[float, float] = (1, 0)
    wording: str = "domain"
    form: str = ""
    dialect: str = "openai.chat"
    target: str = "tool"
    wary: float = 0
    results: int = 0
    paragraphs: int = 0

    @property
    def large(self) -> bool:
        """Whether its cases are there to measure CPU time."""
        return self.results > 0


KINDS: dict[str, Plan] = {
    "single": Plan(),
    "single_0.9_0.3": Plan(rates=(.9, .3)),
    "single_0.7_0.1": Plan(rates=(.7, .1)),
    "single_0.35_0": Plan(rates=(.35, 0)),
    "single_0.15_0": Plan(rates=(.15, 0)),
    "bland": Plan(wording="bland"),
    "or2": Plan(count=2),
    "or3_0.9_0.1": Plan(count=3, rates=(.9, .1)),
    "and2": Plan(count=2, works="all"),
    "and3": Plan(count=3, works="all"),
    "and3_0.9_0.1": Plan(count=3, works="all", rates=(.9, .1)),
    "two_of_three": Plan(count=3, works="two"),
    "two_of_three_0.9_0.1": Plan(count=3, works="two", rates=(.9, .1)),
    "masked": Plan(works="masked"),
    "masked_bland_0.9_0.1": Plan(works="masked", wording="bland", rates=(.9, .1)),
    "masked_or2": Plan(count=2, works="masked"),
    "or2_far_apart": Plan(where="system and results", count=2),
    "task_and_result": Plan(where="user and results", count=2, works="all", wording="bland"),
    "adjacent": Plan(where="adjacent", count=2, works="adjacent"),
    "repeated": Plan(where="repeated", count=3),
    "copied_result": Plan(where="copied", count=2, wording="bland"),
    "late": Plan(where="late", works="late", wording="bland"),
    "system": Plan(where="system", rates=(.9, .1)),
    "developer": Plan(where="developer", wording="bland"),
    "user": Plan(where="user", rates=(.9, .1)),
    "tool_description": Plan(where="description", rates=(.9, 0)),
    "parameter": Plan(where="parameter"),
    "reasoning": Plan(where="reasoning"),
    "arguments": Plan(where="arguments"),
    "indented_json": Plan(form="indented", wording="bland"),
    "nested_json": Plan(form="nested", wording="bland"),
    "table": Plan(form="table", wording="bland"),
    "json_lines": Plan(form="json_lines", wording="bland"),
    "code": Plan(form="code", wording="bland"),
    "chinese": Plan(wording="chinese"),
    "unicode": Plan(wording="unicode"),
    "one_sentence": Plan(where="alone"),
    "parallel_calls": Plan(where="parallel", wording="bland"),
    "says": Plan(target="text", rates=(.9, .1)),
    "does_not_act": Plan(target="any", wording="bland"),
    "responses": Plan(dialect="openai.responses", wording="bland"),
    "responses_reasoning": Plan(dialect="openai.responses", where="reasoning"),
    "anthropic": Plan(dialect="anthropic.messages", wording="bland"),
    "anthropic_arguments": Plan(dialect="anthropic.messages", where="arguments"),
    "wary_0.5": Plan(wary=.5, wording="bland"),
    "wary_0.8": Plan(wary=.8, wording="bland"),
    "wary_or2": Plan(count=2, wary=.5),
    "none_1": Plan(count=0, works="none"),
    "none_0.8": Plan(count=0, works="none", rates=(.8, .8)),
    "none_0.5": Plan(count=0, works="none", rates=(.5, .5)),
    "none_0.33": Plan(count=0, works="none", rates=(.33, .33)),
    "none_wary_0.5": Plan(count=0, works="none", wary=.5),
    "none_wary_0.9_0.7": Plan(count=0, works="none", rates=(.9, 0), wary=.7),
    "97k_characters": Plan(results=175, paragraphs=4),
    "2.5M_characters": Plan(results=200, paragraphs=95),
}


@dataclass
class _Talk:
    """A conversation as it is made up: its texts, before they are written in any form."""

    system: list[str]
    task: list[str]
    results: list[forms.Document]
    notes: dict[str, list[str]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)  # every sentence that does nothing


def kinds(usual: int) -> dict[str, cases.Kind]:
    """Our own kinds, with as many cases each; the large ones only by name."""
    return {name: cases.Kind(usual, partial(case, name), plan.large)
            for name, plan in KINDS.items()}


def case(kind: str, seed: int) -> Case:
    """One of our own cases; the domains take turns."""
    plan = KINDS[kind]
    chance = random.Random(f"{kind}/{seed}")
    domain = list(DOMAINS.values())[seed % len(DOMAINS)]
    x = f"{chance.choice(PLACES).lower()}-{chance.randint(100, 999)}"
    marks = [f"K{chance.randint(10000, 99999)}" for _ in range(plan.count)]
    if plan.where in ("repeated", "copied"):  # the same sentence each time
        marks = marks[:1] * plan.count
    plants = _plants(plan, domain)
    truth = [plants[marks.index(mark) % len(plants)].format(x=x, k=mark)
             for mark in marks]
    talk = _talk(chance, plan, domain, truth)
    body = forms.DIALECTS[plan.dialect](_chat(chance, plan, domain, talk))
    rule = _rule(plan, truth, marks, talk, domain.policy)
    bad, good = _decisions(plan, domain, x)
    recorded = Decision.of(bad)
    spec = {"tool": f"tool:{domain.bad[0]}", "text": f"text:{x}", "any": "any"}[plan.target]

    def model(seed: int) -> Model:
        luck = random.Random(f"{kind}/{x}/{seed}")
        return lambda body: bad if luck.random() < rule(forms.everything(body)) else good

    return Case(frozenset(truth), body, Target(spec, recorded), model, plan.dialect)


def _plants(plan: Plan, domain: Domain) -> tuple[str, ...]:
    return {"domain": tuple(f"{plant[:-1]}, as {{k}} says." for plant in domain.plants),
            "bland": (_BLAND,), "chinese": (_CHINESE_PLANT,),
            "unicode": ("\u201c{x}\u201d is cleared \u2013 see {k} \u2705.",)}[plan.wording]


def _decisions(plan: Plan, domain: Domain, x: str) -> tuple[Body, Body]:
    """What the model does wrongly, and rightly."""
    act = {"tool_calls": [{"name": domain.bad[0], "arguments": {domain.bad[1]: x}}]}
    if plan.target == "any":
        return {"text": "There is nothing to do."}, act
    if plan.target == "text":
        return {"text": f"I took care of {x}."}, {"text": "All is as it was."}
    return act, {"tool_calls": [{"name": domain.good, "arguments": {}}]}


def _rule(plan: Plan, truth: list[str], marks: list[str], talk: _Talk, policy: str
          ) -> Callable[[str], float]:
    """How often the bad decision is made, by the text of a request."""
    def on(text: str) -> bool:
        there = [mark in text for mark in marks]
        return {"none": True, "any": any(there), "all": all(there), "two": sum(there) > 1,
                "masked": any(there) or policy not in text,
                "adjacent": " ".join(truth) in text,
                "late": any(text.find(mark) > len(text) // 3 for mark in marks),
                }[plan.works]

    def rule(text: str) -> float:
        left = sum(map(text.count, dict.fromkeys(talk.said))) if plan.wary else 0
        enough = left >= plan.wary * len(talk.said)
        return plan.rates[0] if on(text) and enough else plan.rates[1]

    return rule


def _talk(r: random.Random, plan: Plan, domain: Domain, truth: list[str]) -> _Talk:
    """A conversation with the causes in their places."""
    bank = {"chinese": _CHINESE, "unicode": _UNICODE}.get(plan.wording, domain.filler)
    said: list[str] = []

    def sentence() -> str:
        said.append(r.choice(bank).format(n=r.choice(NOUNS), c=r.choice(PLACES)))
        return said[-1]

    def paragraph() -> list[str]:
        return [sentence() for _ in range(r.randint(2, 4))]

    talk = _Talk([domain.role, *paragraph()], [domain.task, *paragraph()],
                 [[paragraph() for _ in range(plan.paragraphs or r.randint(1, 4))]
                  for _ in range(plan.results or r.randint(4, 12))],
                 {"reasoning": paragraph(), "arguments": paragraph(), "developer": paragraph(),
                  "description": ["Reads one item."], "parameter": ["Which item."]}, said)
    for n, plant in enumerate(truth):
        into = _place(r, plan.where, talk, n)
        at = r.randint(0, len(into))
        into[at:at] = truth if plan.where == "adjacent" else [plant]
        if plan.where in ("adjacent", "copied"):
            break
        if plan.works == "masked" and n == 0:
            holder = next(result for result in talk.results if into in result)
            holder.insert(r.randint(0, len(holder)), [sentence(), domain.policy, sentence()])
    if plan.where == "copied":
        talk.results.append(next(result for result in talk.results
                                 if any(truth[0] in paragraph for paragraph in result)))
    return talk


def _place(r: random.Random, where: str, talk: _Talk, n: int) -> list[str]:
    """The sentences among which cause number `n` stands."""
    first, _, others = where.partition(" and ")
    if others and n:
        first = others
    places = {"system": talk.system, "user": talk.task, **talk.notes}
    if first in places:
        return places[first]
    results = talk.results
    if where == "repeated":
        return r.choice(results[n % len(results)])
    if where == "late":
        return r.choice(r.choice(results[len(results) * 2 // 3:]))
    return r.choice(r.choice(results))


def _chat(r: random.Random, plan: Plan, domain: Domain, talk: _Talk) -> Body:
    """A chat request with a conversation."""
    if plan.where == "alone":
        content = next(s for result in talk.results for p in result for s in p if ", as K" in s)
        return {"model": "rule", "messages": [{"role": "user", "content": content}]}
    messages: list[Body] = [{"role": "system", "content": " ".join(talk.system)},
                            {"role": "user", "content": " ".join(talk.task)}]
    if plan.where == "developer":
        messages[1:1] = [{"role": "developer", "content": " ".join(talk.notes["developer"])}]
    noted = r.randrange(len(talk.results))
    at_once = 2 if plan.where == "parallel" else 1
    for first in range(0, len(talk.results), at_once):
        results = list(enumerate(talk.results))[first:first + at_once]
        message: Body = {"role": "assistant", "content": None, "tool_calls": [
            _call(domain, n, talk.notes["arguments"] if n == noted else []) for n, _ in results]}
        if first <= noted < first + at_once:
            message["reasoning_content"] = " ".join(talk.notes["reasoning"])
        messages += [message, *({"role": "tool", "tool_call_id": f"call_{n}",
                                 "content": forms.written(result, plan.form, r)}
                                for n, result in results)]
    return {"model": "rule", "messages": messages, "tools": _tools(domain, talk.notes)}


def _call(domain: Domain, n: int, note: list[str]) -> Body:
    arguments: Body = {"item": n} | ({"note": " ".join(note)} if note else {})
    return {"id": f"call_{n}", "type": "function",
            "function": {"name": domain.reads, "arguments": json.dumps(arguments)}}


def _tools(domain: Domain, notes: dict[str, list[str]]) -> list[Body]:
    reads = {"name": domain.reads, "description": " ".join(notes["description"]), "parameters": {
        "type": "object", "properties": {
            "item": {"type": "integer", "description": " ".join(notes["parameter"])}}}}
    acts = [{"name": name, "description": f"The tool to {name.replace('_', ' ')}.",
             "parameters": {"type": "object", "properties": {}}}
            for name in (domain.bad[0], domain.good)]
    return [{"type": "function", "function": function} for function in (reads, *acts)]
