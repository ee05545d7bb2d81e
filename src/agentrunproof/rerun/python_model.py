"""A rule or model of one's own: a Python function from a request body to a reply."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from agentrunproof.errors import said
from agentrunproof.rerun.model import Body, ModelError
from agentrunproof.shape import nearest

PREFIX = "python:"
_FORM = "write python:MODULE:FUNCTION, or python:FILE.py:FUNCTION"


class PythonModel:
    """A function that is called with a request body and gives the reply.

    The reply is what the API would reply, a text, or ``{"tool_calls": [...], "text": ...}``. The
    function may have the attributes ``deterministic`` (False unless given) and ``local`` (True
    unless given: it is then called from one thread at a time by default).

    Args:
        name: ``python:MODULE:ATTRIBUTE`` or ``python:FILE.py:ATTRIBUTE``.
        deterministic: what the user says, if anything.

    Raises:
        ModelError: ``MODEL_FORM``, ``MODEL_IMPORT``.
    """

    identity = ""

    def __init__(self, name: str, *, deterministic: bool | None = None) -> None:
        self.name = name
        self._function = _found(name)
        declared = bool(getattr(self._function, "deterministic", False))
        self.deterministic = declared if deterministic is None else deterministic
        self.local = bool(getattr(self._function, "local", True))

    def ask(self, body: Body, /) -> Any:
        """What the function says.

        Raises:
            ModelError: ``MODEL_RAISED``.
        """
        try:
            return self._function(_copy(body))
        except Exception as error:
            told = said(error)
            raise ModelError("MODEL_RAISED", f"{self.name}: raised {type(error).__name__}"
                             + (f": {told}" if told else ""),
                             "the function takes the request body and gives a reply") from error

    def close(self) -> None:
        """Nothing is held."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _on_a_cluster, (self.name, self.deterministic)


@lru_cache(maxsize=8)
def _on_a_cluster(name: str, deterministic: bool) -> PythonModel:
    return PythonModel(name, deterministic=deterministic)


def _found(name: str) -> Callable[[Body], Any]:
    place, _, attribute = name.removeprefix(PREFIX).rpartition(":")
    if not place or not attribute:
        raise ModelError("MODEL_FORM", f"model {name!r} has no known form", _FORM)
    try:
        module = _from_file(place) if place.endswith(".py") else imported(place)
    except Exception as error:
        raise ModelError("MODEL_IMPORT", f"{name}: cannot be imported: "
                         f"{type(error).__name__}: {said(error)}", _FORM) from error
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ModelError("MODEL_IMPORT", f"{name}: there is no {part!r} in it",
                             nearest(part, vars(module)) or _FORM)
        found = getattr(found, part)
    if not callable(found):
        raise ModelError("MODEL_IMPORT", f"{name}: it is no function", _FORM)
    return found  # type: ignore[no-any-return]


def imported(name: str) -> ModuleType:
    """A module that a user names, of the current folder too."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:  # as `python -m` finds modules
        sys.path.insert(0, here)
    return importlib.import_module(name)


def named(module: str, attribute: str) -> Any:
    """What stands in such a module (see `imported`) under a name, which may have dots."""
    found: Any = imported(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def _from_file(place: str) -> ModuleType:
    path = Path(place).resolve(strict=True)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _copy(value: Any) -> Any:
    """JSON once more, so that a function may do with it what it likes."""
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy(inner) for inner in value]
    return value
