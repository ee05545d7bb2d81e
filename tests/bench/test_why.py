"""The benchmark of `why`: each kind of case works, and what is found is scored as it should be."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from agentrunproof.ablation.explain import ALPHA
from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.subject import Call, Decision, Target
from agentrunproof.bench import cases, conversations, forms, peer, why
from agentrunproof.bench.cases import BenchError, Case
from agentrunproof.cli.commands import run

USUAL = {name: plan for name, plan in conversations.KINDS.items() if not plan.large}
CERTAIN = [name for name, plan in USUAL.items() if plan.rates == (1, 0) and plan.count]
OTHERS = [name for name in USUAL if name not in CERTAIN]

FILE = '''
from types import SimpleNamespace
SUITE = {"one": ({"word": "Pay."}, 3)}
EXTRA = {"two": ({"word": "Pay now."}, 4)}
def make(kind, seed, word):
    decision = {"name": "pay", "arguments": {}}
    messages = [{"role": "user", "content": f"Hello {seed}. {word} Bye."}]
    def model(seed):
        return lambda body: {"tool_calls": [decision] if word in str(body) else []}
    return SimpleNamespace(truth=[word], messages=messages, tools=[], decision=decision,
                           model=model)
'''


def case_of(*truth: str) -> Case:
    return Case(frozenset(truth), {}, Target("tool:pay", Decision((Call("pay", {}),))),
                lambda seed: lambda body: {})


@pytest.mark.parametrize("kind", CERTAIN)
def test_where_a_rule_is_certain_all_of_its_causes_are_found(kind: str) -> None:
    score, record = why.measure(conversations.case(kind, 1), 1, 300, ALPHA)
    assert score.exact, record.quotes
    assert score.headline


@pytest.mark.parametrize("kind", OTHERS)
def test_a_rule_by_chance_gives_a_record_that_holds(kind: str) -> None:
    score, record = why.measure(conversations.case(kind, 1), 1, 200, ALPHA)
    assert record.calls == score.calls <= 200
    assert not score.false


def test_large_conversations_have_the_size_that_they_are_called() -> None:
    for kind, size in (("97k_characters", 97_000), ("2.5M_characters", 2_500_000)):
        context = Context(conversations.case(kind, 0).body, "openai.chat")
        said = sum(len(slot.text) for slot in context.slots)
        assert abs(said / size - 1) < 0.1


@pytest.mark.parametrize("kind", USUAL)
def test_the_causes_stand_in_the_request_as_leaves(kind: str) -> None:
    case = conversations.case(kind, 2)
    leaves = list(Context(case.body, case.dialect).texts)
    for sentence in case.truth:
        assert [leaf for leaf in leaves if sentence in leaf], sentence


def test_a_conversation_says_the_same_in_every_dialect() -> None:
    body = conversations.case("bland", 3).body
    said = sorted(Context(body, "openai.chat").texts)
    for name, convert in forms.DIALECTS.items():
        texts = list(Context(convert(body), name).texts)
        if name != "anthropic.messages":  # whose arguments are JSON, not a string of it
            assert sorted(texts) == said
        assert set(said) <= {*texts, *map(json.dumps, range(20))}


def test_a_file_of_cases_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text(FILE, encoding="utf-8")
    kinds = cases.read(path)
    assert {name: (kind.usual, kind.extra) for name, kind in kinds.items()} == {
        "one": (3, False), "two": (4, True)}
    assert list(why.chosen(kinds, ())) == ["one"]
    assert list(why.chosen(kinds, ["t*"])) == ["two"]
    results = list(why.measured(why.chosen(kinds, ()), most=2, first=7))
    assert [(result.seed, result.score.exact) for result in results] == [(7, True), (8, True)]


@pytest.mark.parametrize("content", ["", "SUITE = {", "raise SystemError('no')"])
def test_a_file_that_holds_no_cases_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "some.py"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BenchError, match=r"some\.py"):
        cases.read(path)


@pytest.mark.parametrize(("named", "headline", "exact"), [
    ([["Pay A."]], True, False),
    ([["Pay A.", "Pay B."]], True, True),
    ([["Pay A."], ["Pay B."]], True, True),
    ([["Pay A.", "Hello."]], False, False),
    ([["Hello."], ["Pay A."]], False, False),
    ([["Pay A. And a lot besides it."], ["Pay B."]], True, False),
    ([], False, False)])
def test_answers_are_scored_by_what_they_name(named: list[list[str]], headline: bool,
                                              exact: bool) -> None:
    score = why.score(case_of("Pay A.", "Pay B."), named, 9, unanswered=False)
    assert (score.headline, score.exact, score.false) == (headline, exact, False)


def test_any_claim_is_false_where_nothing_was_planted() -> None:
    assert why.score(case_of(), [["Hello."]], 9, unanswered=False).false
    assert not why.score(case_of(), [], 9, unanswered=False).false


def test_scores_add_up() -> None:
    one = why.Score(cases=1, calls=5, most=5, seconds=0.5)
    assert one + why.Score(cases=2, calls=9, most=7) == why.Score(
        cases=3, calls=14, most=7, seconds=0.5)


def test_what_the_peer_reports_is_read_down_to_its_last_step() -> None:
    def step(*texts: str) -> dict[str, object]:
        return {"removed": [{"text": text} for text in texts]}

    report = {"causes": [{"chain": [step("A. B."), step("A.")]}],
              "joint_cause": [step("C."), step("D.")]}
    assert peer._named(report) == [["A."], ["C.", "D."]]
    assert peer._named({"causes": [], "joint_cause": None}) == []


@pytest.mark.parametrize(("kind", "can"), [("single", True), ("responses", False),
                                           ("says", False), ("one_sentence", False)])
def test_the_peer_is_asked_only_what_it_can_be_asked(kind: str, can: bool) -> None:
    assert peer.can_ask(conversations.case(kind, 0)) is can


def test_the_rule_of_a_case_is_found_again_by_its_name() -> None:
    case = conversations.case("single", 5)
    again = peer.rule("", "single", 5)
    assert again(case.body) == case.model(5)(case.body) == {
        "tool_calls": [{"name": call.name, "arguments": call.arguments}
                       for call in case.target.recorded.calls]}


def test_the_command_prints_a_row_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "why", "single", "none_1", "-n", "1", "--no-peer"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[:5] for row in rows[1:]] == [
        ["single", "1", "1", "1", "0"], ["none_1", "1", "-", "-", "0"],
        ["all", "2", "1", "1", "0"]]
    assert max(map(len, rows)) <= 80


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "why", "single", "-n", "1", "--no-peer", "--json", "--first", "4"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["first"] == 4
    assert printed["all"]["exact"] == 1
    assert printed["kinds"][0]["runtape"] is None
    assert Fraction(printed["all"]["seconds"]) >= 0


@pytest.mark.parametrize(("arguments", "said"), [
    (["singel"], "did you mean 'single'"), (["--cases", "nowhere.py"], "nowhere.py"),
    (["-n", "0"], "-n"), (["--budget", "0"], "--budget")])
def test_what_cannot_be_measured_is_refused(arguments: list[str], said: str,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "why", *arguments]) == 2
    assert said in capsys.readouterr().err
