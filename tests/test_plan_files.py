"""Plan files: what loads, what is refused, and what the refusal says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentrunproof import canonical
from agentrunproof.errors import PlanError
from agentrunproof.plan.loader import MAX_BYTES, load_file, load_text
from agentrunproof.plan.model import LiteralInput

SMALL = """
title = "Small"
area = "basic"
contract = "It answers."
agents.a = {}

[[phases]]
id = "only"
input = "Hi"
script = [[{ say = "Hello" }]]
"""


def small(extra: str = "") -> str:
    """The small plan, with `extra` lines put after its head."""
    head, phases = SMALL.split("\n\n[[phases]]")
    return f"{head}\n{extra}\n[[phases]]{phases}"


def test_the_file_name_is_the_scenario_id(tmp_path: Path) -> None:
    file = tmp_path / "my-plan.toml"
    file.write_text(SMALL)
    id, plan = load_file(file)
    assert id == "my-plan"
    assert plan.start == "a"
    assert plan.phases[0].input == LiteralInput(text="Hi")


def test_a_canonical_json_plan_loads_as_the_same_plan(tmp_path: Path) -> None:
    plan = load_text(SMALL, "small.toml")
    file = tmp_path / "my-plan.json"
    file.write_bytes(canonical.dumps(plan.to_json()))
    assert load_file(file) == ("my-plan", plan)


def test_a_json_plan_has_no_short_forms(tmp_path: Path) -> None:
    file = tmp_path / "my-plan.json"
    document = load_text(SMALL, "small.toml").to_json()
    document["phases"][0]["input"] = "Hi"
    file.write_text(json.dumps(document))
    with pytest.raises(PlanError, match=r"phases\[0\].input: expected a table"):
        load_file(file)


@pytest.mark.parametrize(("content", "code", "says"), [
    (b"", "PLAN_EMPTY", "empty"),
    (b" \n\n", "PLAN_EMPTY", "empty"),
    (b"\x7fELF\0\0\0", "PLAN_ENCODING", "binary"),
    (b"title = 'a'\ncontract = '\xff'\n", "PLAN_ENCODING", "line 2 is not UTF-8"),
    (b"\xef\xbb\xbftitle = 'a'", "PLAN_ENCODING", "byte order mark"),
    ("title = 'a'".encode("utf-16"), "PLAN_ENCODING", "byte order mark"),
    (b"title = 'a'\ntitle = 'b'\n", "PLAN_TOML", "line 2"),
    (b"title = \n", "PLAN_TOML", "line 1"),
    (b"revision = " + b"9" * 5000, "PLAN_TOML", "not TOML"),
    (b"why = " + b"[" * 20_000, "PLAN_TOO_DEEP", "deep"),
    (b"why = 'x'" + b" " * MAX_BYTES, "PLAN_TOO_LARGE", "larger than"),
])
def test_unreadable_content_is_refused_in_one_line(
        tmp_path: Path, content: bytes, code: str, says: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    with pytest.raises(PlanError) as caught:
        load_file(file)
    assert caught.value.code == code
    assert says in caught.value.message
    assert "bad.toml" in caught.value.message
    assert "\n" not in str(caught.value)


def test_a_missing_file_a_directory_and_a_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no such file"):
        load_file(tmp_path / "none.toml")
    with pytest.raises(PlanError, match="is a directory"):
        load_file(tmp_path)
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(PlanError, match="not a regular file"):
        load_file(tmp_path / "pipe.toml")


@pytest.mark.parametrize("name", ["My Plan.toml", "plan_1.toml", "-x.toml", "a--b.toml"])
def test_a_file_name_that_is_no_scenario_id_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(SMALL)
    with pytest.raises(PlanError, match="cannot be a scenario id"):
        load_file(file)


@pytest.mark.parametrize("content", [b"{}", b"[1]", b"{\"title\": NaN}", b"\xff", b""])
def test_json_that_is_no_plan_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(PlanError, match=r"bad\.json"):
        load_file(file)


@pytest.mark.parametrize(("text", "place", "hint"), [
    (small("revison = 1"), "revison", "did you mean 'revision'"),
    (small("[tools.t]\nretruns = 'x'"), "tools.t.retruns", "did you mean 'returns'"),
    (SMALL.replace("say =", "sya ="), "phases[0].script.a[0].output[0].sya", "'say'"),
    (small("run.max_turn = 3"), "run.max_turn", "did you mean 'max_turns'"),
    (SMALL.replace("input =", "inputs ="), "phases[0].inputs", "did you mean 'input'"),
    (small("modes = ['stream']"), "modes[0]", ""),
    (small("revision = 0"), "revision", ""),
    (small("revision = 0.5"), "revision", ""),
    (small("run.max_turns = 9007199254740993"), "run.max_turns", ""),
    (small("run.context.rate = 0.5"), "run.context.rate", "as text"),
    (small("run.context.big = 9007199254740993"), "run.context.big", ""),
    (small("run.context.day = 2026-01-01"), "run.context.day", ""),
    (SMALL.replace('say = "Hello"', 'call = "t", args = { day = 2026-01-01 }'),
     "phases[0].script.a[0].output[0].args", "no JSON form"),
    (SMALL.replace('say = "Hello"', 'call = "t", args = { x = nan }'),
     "phases[0].script.a[0].output[0].args", "no JSON form"),
    (SMALL.replace('say = "Hello"', 'call = "t", args = "{"'),
     "phases[0].script.a[0].output[0].args", "arguments ="),
    (SMALL.replace('say = "Hello"', 'call = "t", args = {}, arguments = "{}"'),
     "phases[0].script.a[0].output[0].args", "keep one"),
    (small("[tools.t]\nreturns = 'x'\noutcomes = [{ hang = true }]"), "tools.t.returns",
     "keep one"),
    (small("[tools.t]\nreturns = 'x'\ntimeout = inf"), "tools.t.timeout", ""),
])
def test_a_wrong_key_or_value_is_named_with_its_place(text: str, place: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        load_text(text, "bad.toml")
    assert caught.value.message.startswith(f"bad.toml: {place}: ")
    assert hint in caught.value.hint
