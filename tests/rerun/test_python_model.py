"""Rules and models of one's own, named on the command line."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.models import ModelOptions, model_for
from agentrunproof.rerun.python_model import PythonModel

SOURCE = '''
def says(body):
    body["messages"].clear()
    return {"tool_calls": [], "text": body["model"]}
says.deterministic = True

def raises(body):
    raise KeyError("a\\nb")

class shop:
    model = staticmethod(says)

number = 7
says_live = lambda body: "x"
says_live.local = False
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rules.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_a_function_in_a_file_is_a_model(file: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    model = model_for("openai.chat", body, ModelOptions(model=f"python:{file}:says"))
    assert model.ask(body) == {"tool_calls": [], "text": "m"}
    assert body["messages"], "the function got a copy"
    assert model.deterministic
    assert model.local
    assert model.identity == ""
    assert pickle.loads(pickle.dumps(model)).ask(body) == model.ask(body)


def test_a_function_in_a_module_of_the_current_folder_is_a_model(
        file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.rename(file.with_name("rules_in_a_module.py"))
    monkeypatch.chdir(file.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    model = PythonModel("python:rules_in_a_module:shop.model", deterministic=False)
    assert model.ask({"model": "m", "messages": []})["text"] == "m"
    assert not model.deterministic
    del sys.modules["rules_in_a_module"]


def test_a_function_may_say_that_it_can_be_asked_many_times_at_once(file: Path) -> None:
    assert not PythonModel(f"python:{file}:says_live").local


def test_a_function_that_raises_is_named_with_what_it_raised(file: Path) -> None:
    with pytest.raises(ModelError, match=r"rules.py:raises: raised KeyError: 'a\\nb'") as caught:
        PythonModel(f"python:{file}:raises").ask({})
    assert caught.value.code == "MODEL_RAISED"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "code", "message"), [
    ("python:", "MODEL_FORM", "no known form"), ("python:x", "MODEL_FORM", "no known form"),
    ("python::f", "MODEL_FORM", "no known form"),
    ("python:no_such_module_of_ours:f", "MODEL_IMPORT", "ModuleNotFoundError"),
    ("python:missing.py:f", "MODEL_IMPORT", "FileNotFoundError"),
    ("python:{file}:sais", "MODEL_IMPORT", "says"),
    ("python:{file}:shop.none", "MODEL_IMPORT", "no 'none' in it"),
    ("python:{file}:number", "MODEL_IMPORT", "it is no function")])
def test_what_is_no_model_is_said(file: Path, name: str, code: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        PythonModel(name.format(file=file))
    assert caught.value.code == code
    assert message in str(caught.value)


def test_a_file_that_does_not_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(ModelError, match="ZeroDivisionError"):
        PythonModel(f"python:{tmp_path / 'bad.py'}:f")
