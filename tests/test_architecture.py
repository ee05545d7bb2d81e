"""The rules of the house, held against the import graph of the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import agentrunproof

ROOT = Path(agentrunproof.__file__).parent
MODULES = {
    ".".join(("agentrunproof", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))}

#: room -> rooms it may import; a room is a folder, or a module beside the folders
MAY_IMPORT = {
    "errors": set(),
    "shape": {"errors"},
    "canonical": {"errors"},
    "machine": {"errors"},
    "plan": {"shape", "canonical", "errors"},
    "record": {"shape", "canonical", "errors", "plan"},
    "contracts": {"plan", "record", "shape", "errors"},
    "ablation": {"record", "plan", "canonical", "shape", "errors"},
    "localize": {"ablation", "importers", "record", "canonical", "shape", "errors"},
    "checker": {"localize", "ablation", "contracts", "record", "plan", "canonical", "shape",
                "errors"},
    "attest": {"record", "canonical", "shape", "errors"},
    "sdk": {"plan", "record", "shape", "errors"},
    "suites": {"sdk", "plan", "shape", "errors"},
    "runs": {"record", "shape", "errors"},
    "recorders": {"runs", "record", "canonical", "shape", "errors"},
    "importers": {"runs", "record", "canonical", "shape", "errors"},
    "report": {"localize", "ablation", "contracts", "record", "plan", "canonical", "shape",
               "errors"},
    "lab": {"machine", "attest", "checker", "contracts", "record", "plan", "canonical", "shape",
            "errors"},
    "rerun": {"machine", "ablation", "runs", "record", "canonical", "shape", "errors"},
    "fix": {"ablation", "recorders", "rerun", "record", "canonical", "shape", "errors"},
    "testing": {"fix", "rerun", "ablation", "record", "errors"},
    "why": {"ablation", "lab", "checker", "report", "contracts", "record", "plan", "canonical",
            "shape", "errors"},
    "api": {"checker", "contracts", "record", "plan", "canonical", "shape", "errors", "sdk",
            "lab", "report"},
    "bench": {"ablation", "checker", "record", "canonical", "shape", "errors"},
    "cli": {"ablation", "bench", "localize", "api", "attest", "checker", "contracts", "record",
            "plan", "canonical", "shape", "errors", "fix", "importers", "lab", "machine",
            "report", "rerun", "runs", "suites", "why"},
}

#: all that the worker may need of us inside a foreign environment
WORKER_MAY_IMPORT = {"plan.model", "plan.parts", "plan.options", "plan.servers", "plan.items",
                     "record.events", "shape", "errors"}

#: modules of effects: none of them in the rooms that only compute
EFFECTS = {"asyncio", "http", "os", "random", "secrets", "shutil", "socket", "subprocess",
           "tempfile", "threading", "time", "urllib", "uuid"}
READS_AND_WRITES_FILES = {"record.store"}
MAKES_SALTS = {"record.private"}


@cache
def _nodes(path: Path) -> list[ast.AST]:
    """What the house rules look at in a file: its imports and its calls."""
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)]


@cache
def _imports(path: Path) -> list[tuple[str, int]]:
    """Every imported module with its line, imports inside functions included."""
    return list(_imported(path))


def _imported(path: Path) -> Iterator[tuple[str, int]]:
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in MODULES else node.module), node.lineno


def _ours(path: Path) -> Iterator[tuple[str, int]]:
    """Our modules that a file imports, without the package's name."""
    for name, line in _imports(path):
        if name.startswith("agentrunproof."):
            yield name.removeprefix("agentrunproof."), line


def _room(name: str) -> str:
    return name.split(".")[0]


FILES = [pytest.param(name.removeprefix("agentrunproof."), path,
                      id=name.removeprefix("agentrunproof."))
         for name, path in MODULES.items()
         if name not in ("agentrunproof", "agentrunproof.__main__")]


@pytest.mark.parametrize(("name", "path"), FILES)
def test_a_room_imports_only_the_rooms_below_it(name: str, path: Path) -> None:
    allowed = MAY_IMPORT[_room(name)] | {_room(name)}
    above = [f"line {line}: {other}" for other, line in _ours(path)
             if _room(other) not in allowed]
    assert above == []


@pytest.mark.parametrize(("name", "path"), FILES)
def test_only_rooms_that_run_the_sdk_import_it(name: str, path: Path) -> None:
    names = {other.split(".")[0] for other, _ in _imports(path)}
    if _room(name) == "sdk":
        # the SDK brings openai and pydantic
        foreign = names - set(sys.stdlib_module_names) - {"agents", "openai", "pydantic"}
        assert foreign <= {"agentrunproof"}
    elif _room(name) == "suites" or name.startswith("recorders.agents"):
        return  # loaded when a suite is run, or when such a run is recorded
    else:
        assert "agents" not in names


@pytest.mark.parametrize(("name", "path"),
                         [param for param in FILES if _room(str(param.values[0])) == "sdk"])
def test_the_worker_needs_little_of_us(name: str, path: Path) -> None:
    needed = {other for other, _ in _ours(path) if _room(other) != "sdk"}
    assert needed <= WORKER_MAY_IMPORT


@pytest.mark.parametrize(("name", "path"), [
    param for param in FILES
    if _room(str(param.values[0])) in {"ablation", "localize", "attest", "canonical", "plan",
                                       "record", "contracts", "checker", "report", "shape",
                                       "errors"}])
def test_rooms_that_compute_have_no_effects(name: str, path: Path) -> None:
    used = {other.split(".")[0] for other, _ in _imports(path)} & EFFECTS
    if name in READS_AND_WRITES_FILES:
        used -= {"os"}
    if name in MAKES_SALTS:
        used -= {"secrets"}
    assert used == set()


@pytest.mark.parametrize(("name", "path"), FILES)
def test_only_the_command_line_prints_or_exits(name: str, path: Path) -> None:
    # The worker is a program of its own, and a plan may declare a tool that exits.
    if _room(name) == "cli" or name in ("sdk.worker", "sdk.tools"):
        return
    calls = [ast.unparse(node.func) for node in _nodes(path) if isinstance(node, ast.Call)]
    assert not {"print", "exit", "quit", "sys.exit", "os._exit", "sys.stdout.write"} & set(calls)


def test_only_canonical_imports_rfc8785() -> None:
    users = {name for name, path in MODULES.items()
             if "rfc8785" in {other for other, _ in _imports(path)}}
    assert users == {"agentrunproof.canonical"}


def test_imports_have_no_cycle() -> None:
    graph = {name.removeprefix("agentrunproof."): {
        other for other, _ in _ours(path)} for name, path in MODULES.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in sorted(graph.get(name, ())):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize("statement", [
    "import agentrunproof",
    "from agentrunproof.cli.commands import application; application()",
    "import agentrunproof.recorders",
    "from agentrunproof.cli.commands import run; run(['list-scenarios'])",
    "from agentrunproof.cli.commands import run; run(['check-certificate', 'missing.json'])",
    "from agentrunproof.cli.commands import run; run(['check', 'session', '--help'])",
])
def test_what_must_start_fast_imports_nothing_heavy(statement: str) -> None:
    heavy = ["agents", "openai", "pydantic", "rich", "jsonschema", "asyncio", "cryptography",
             "httpx", "distributed"]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{statement}\n"
         f"print('loaded:', *[name for name in {heavy!r} if name in sys.modules])"],
        capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_the_package_offers_the_names_of_the_api() -> None:
    from agentrunproof import api

    assert sorted(agentrunproof.__all__) == sorted([*api.__all__, "__version__"])
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_ours'"):
        _ = agentrunproof.nothing_of_ours
