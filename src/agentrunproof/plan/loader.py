"""Plan files: TOML with short forms (`plan.sugar`), or the canonical JSON of a plan.

Whatever is wrong with a file is said in one line that names the file, the key and what was
expected there.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

from agentrunproof import canonical
from agentrunproof.errors import AgentRunProofError, PlanError, ShapeError
from agentrunproof.plan import rules
from agentrunproof.plan.model import Plan, ScenarioId
from agentrunproof.plan.sugar import expand
from agentrunproof.shape import decode

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BYTES = 1_000_000

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def load_file(path: Path) -> tuple[str, Plan]:
    """Read a plan file; its name without the suffix is the scenario's id.

    Args:
        path: a ``.toml`` file, or a ``.json`` file holding the canonical form.

    Returns:
        The scenario id and the plan, which has passed `plan.rules.check`.

    Raises:
        PlanError: the file cannot be read, or what it says is not a plan.
    """
    name = str(path)
    data = _read(path, name)
    id = scenario_id(path)
    if path.suffix == ".json":
        return id, _plan_of_json(data, name)
    return id, load_text(_text(data, name), name)


def load_text(text: str, name: str) -> Plan:
    """The plan that a TOML text declares.

    Args:
        text: the TOML document.
        name: what error messages call it, usually the file's path.

    Raises:
        PlanError: not TOML, not a plan, or a plan that contradicts itself.
    """
    if not text.strip():
        raise PlanError("PLAN_EMPTY", f"{name}: the plan is empty",
                        "a plan needs title, area, contract, agents and phases")
    return _checked(parse_toml(text, name), name, short_forms=True)


def read_toml(path: Path) -> dict[str, Any]:
    """The TOML document in a file.

    Raises:
        PlanError: the file cannot be read, or is not TOML.
    """
    name = str(path)
    return parse_toml(_text(_read(path, name), name), name)


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """A TOML document, whatever it says.

    Raises:
        PlanError: ``PLAN_TOML`` or ``PLAN_TOO_DEEP``.
    """
    try:
        document: dict[str, Any] = tomllib.loads(text)
        return document
    except RecursionError as error:
        raise PlanError("PLAN_TOO_DEEP", f"{name}: nested too deeply") from error
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        raise PlanError("PLAN_TOML", f"{name}: not TOML: {error}") from error


def scenario_id(path: Path) -> str:
    """The scenario id that a file's name gives.

    Raises:
        PlanError: the name is not words in lower case joined by ``-``.
    """
    try:
        return str(decode(ScenarioId, path.stem))
    except ShapeError as error:
        raise PlanError("PLAN_ID", f"{path}: {path.stem!r} cannot be a scenario id",
                        "name the file in lower case words joined by -, such as my-plan.toml"
                        ) from error


def _checked(document: Any, name: str, *, short_forms: bool) -> Plan:
    try:
        plan = Plan.from_json(expand(document) if short_forms else document)
        rules.check(plan)
    except (ShapeError, PlanError) as error:
        code = error.code.replace("SHAPE_", "PLAN_")
        raise PlanError(code, f"{name}: {error.message}", error.hint) from error
    except RecursionError as error:
        raise PlanError("PLAN_TOO_DEEP", f"{name}: nested too deeply") from error
    return plan


def _plan_of_json(data: bytes, name: str) -> Plan:
    if not data.strip():
        raise PlanError("PLAN_EMPTY", f"{name}: the plan is empty")
    try:
        document = canonical.parse(data)
    except AgentRunProofError as error:
        raise PlanError("PLAN_JSON", f"{name}: {error.message}", error.hint) from error
    return _checked(document, name, short_forms=False)


def _read(path: Path, name: str) -> bytes:
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            raise PlanError("PLAN_FILE", f"{name}: is a directory, not a plan file",
                            "name one .toml file in it")
        if not stat.S_ISREG(info.st_mode):
            raise PlanError("PLAN_FILE", f"{name}: is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise PlanError("PLAN_FILE", f"{name}: no such file",
                        "list-scenarios shows the packaged plans") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise PlanError("PLAN_FILE", f"{name}: cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise PlanError("PLAN_TOO_LARGE", f"{name}: larger than {MAX_BYTES:,} bytes",
                        "a plan is a short text; is this the right file?")
    return data


def _text(data: bytes, name: str) -> str:
    if data.startswith(_BYTE_ORDER_MARKS):
        raise PlanError("PLAN_ENCODING", f"{name}: starts with a byte order mark",
                        "save it as UTF-8 without one")
    if b"\0" in data:
        raise PlanError("PLAN_ENCODING", f"{name}: is binary, not a TOML text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PlanError("PLAN_ENCODING", f"{name}: line {line} is not UTF-8",
                        "save it as UTF-8") from error
