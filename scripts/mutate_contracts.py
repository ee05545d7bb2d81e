"""Breaks the contracts in every small way there is, and tells which break the tests would miss.

    uv run --group mutation python scripts/mutate_contracts.py [MODULE...] [--diff] [--write]

The changes are mutmut's operators over the functions of `agentrunproof.contracts`. A mutant is
*killed* when what the tests hold fast changes: that faithful runs pass, that each miniature flips
exactly its checks (tests/contracts), and that the certificates under evidence/ are judged as they
say (tests/test_evidence.py). Mutants under which nothing changes but the words of a message are
counted apart, for no test binds wording. The others *survive*: each is one the tests should learn
to see, or it stands with its reason in tests/contracts/survivors.toml. Everything is judged in one
process, which is some hundred times faster than a run of pytest for each mutant.

`--write` makes docs/mutation.md from a run over all modules. Exit 1: a module has less than 90%
killed, or a survivor has no reason.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import multiprocessing
import signal
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import libcst
from mutmut.mutation.file_mutation import create_mutations

from agentrunproof import canonical
from agentrunproof.contracts import registry
from agentrunproof.contracts.base import CheckResult, Contract, judge_one
from agentrunproof.errors import AgentRunProofError
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate
from agentrunproof.record.observation import Observation

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = ROOT / "src" / "agentrunproof" / "contracts"
REASONS = ROOT / "tests" / "contracts" / "survivors.toml"
PAGE = ROOT / "docs" / "mutation.md"
BAR = 90  # per cent killed, of every module

#: What is no promise: how contracts are listed and put together.
LEFT_OUT = {"__init__", "base", "registry"}
LISTED = "CONTRACT"  # in place of a function: what is in none
TIMEOUT = 2  # seconds of CPU for one world: a mutant that needs more never ends


@dataclass(frozen=True)
class Mutant:
    """One change: the function it is in, and its lines in the manner of a patch."""

    module: str
    function: str
    change: str
    source: str
    wording: bool = False  # within the words of a violation, so that nothing else can change


@dataclass(frozen=True)
class Fate:
    mutant: Mutant
    name: str  # killed, wording or survived


def modules() -> list[str]:
    return sorted(path.stem for path in CONTRACTS.glob("*.py") if path.stem not in LEFT_OUT)


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of the functions of a module, in the order of the source."""
    path = CONTRACTS / f"{module}.py"
    text = path.read_text("utf-8")
    tree, mutations, *_ = create_mutations(str(path), text)
    words = _Words()
    tree.visit(words)
    for mutation in mutations:
        inside = mutation.contained_by_top_level_function
        if inside is None and not isinstance(mutation.original_node, libcst.Lambda):
            continue  # names, promises and codes: the tests compare them with the docs
        inside = inside if isinstance(inside, libcst.FunctionDef) else None
        around = inside or tree  # to copy one function is much faster
        changed = around.deep_replace(mutation.original_node, mutation.mutated_node)
        source = text.replace(tree.code_for_node(around), tree.code_for_node(changed), 1)
        yield Mutant(module, inside.name.value if inside is not None else LISTED,
                     _difference(text, source), source,
                     mutation.original_node in words.nodes)


class _Words(libcst.CSTVisitor):
    """The nodes of what violations say in words: their last argument."""

    def __init__(self) -> None:
        self.nodes: set[libcst.CSTNode] = set()

    def visit_Call(self, node: libcst.Call) -> None:
        if isinstance(node.func, libcst.Name) and node.func.value in ("Violation", "Unobserved"):
            self._add(node.args[-1])

    def _add(self, node: libcst.CSTNode) -> None:
        self.nodes.add(node)
        for child in node.children:
            self._add(child)


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


# --- what the tests hold fast

Seen = tuple[Plan, Observation]


@cache
def worlds() -> tuple[Seen, ...]:
    """Faithful runs, miniatures, and the observations of the committed certificates."""
    sys.path.insert(0, str(ROOT))
    from tests.contracts.miniatures import MINIATURES
    from tests.contracts.test_contracts import FAITHFUL

    found = [make() for make in FAITHFUL.values()]
    for miniature in MINIATURES:
        plan, seen = miniature.world()
        found.append((plan, miniature.damage(seen) if miniature.damage else seen))
    return tuple(world for world in (*found, *_certified()) if not world[1].missing)


def _certified() -> Iterator[Seen]:
    """Of each committed certificate what was seen, once for a plan and a release.

    One that the present format no longer reads says nothing of the contracts.
    """
    known: list[Any] = []
    for path in sorted((ROOT / "evidence").glob("*/certificates/**/*.json")):
        try:
            record = certificate.from_json(canonical.parse(path.read_bytes()))
        except AgentRunProofError:
            continue
        subject = (record.plan, record.producer)
        if subject not in known:
            known.append(subject)
            yield record.plan, record.observation


@dataclass(frozen=True)
class Sound:
    """What a contract says of a world when nothing is changed, and which functions it asked."""

    result: CheckResult | None
    asked: frozenset[tuple[str, str]]  # module and function


@cache
def sound(contract: str) -> tuple[Sound, ...]:
    """For each world."""
    found = registry.find(contract)
    assert found is not None
    results = []
    for plan, seen in worlds():
        codes: set[types.CodeType] = set()

        def note(frame: types.FrameType, *_: object, into: set[types.CodeType] = codes) -> None:
            into.add(frame.f_code)

        sys.setprofile(note)
        result = judge_one(found, plan, seen)
        sys.setprofile(None)
        results.append(Sound(result, frozenset().union(*map(_function, codes))))
    return tuple(results)


@cache
def _function(code: types.CodeType) -> frozenset[tuple[str, str]]:
    """The function of a contract, or the method, that a piece of code is in."""
    path = Path(code.co_filename)
    if path.parent != CONTRACTS:
        return frozenset()
    top = ast.parse(path.read_text("utf-8")).body
    places: list[ast.FunctionDef] = [node for node in top if isinstance(node, ast.FunctionDef)]
    places += [node for kind in top if isinstance(kind, ast.ClassDef)
               for node in kind.body if isinstance(node, ast.FunctionDef)]
    return frozenset((path.stem, node.name) for node in places if min(
        node.lineno, *(part.lineno for part in node.decorator_list), node.lineno)
        <= code.co_firstlineno <= (node.end_lineno or 0))


def _without_words(result: CheckResult | None) -> tuple[Any, ...]:
    return (result.verdict, result.code, result.where, result.also) if result else ()


def _listing(contract: Contract) -> tuple[Any, ...]:
    return contract.name, contract.promise, contract.source, contract.codes


def _stop(*_: object) -> None:
    raise TimeoutError


def fate(mutant: Mutant, order: list[int]) -> Fate:
    """What becomes of a mutant.

    Args:
        mutant: the change.
        order: positions of the worlds, those first that are most likely to tell. What tells this
            one is moved to the front, for it will tell others like it.
    """
    signal.signal(signal.SIGVTALRM, _stop)
    name, place = "survived", order[0]
    try:
        with replaced(mutant) as contracts:
            if [*map(_listing, contracts)] != [*map(_listing, judges(_users(mutant.module)))]:
                return Fate(mutant, "killed")  # the tests compare it with the docs
            for place in order:
                asked = [contract for contract in contracts if mutant.function == LISTED or (
                    mutant.module, mutant.function) in sound(contract.name)[place].asked]
                signal.setitimer(signal.ITIMER_VIRTUAL, TIMEOUT)
                told = _told(asked, place)
                if told == "killed":
                    name = told
                    break
                name = told or name
    except Exception:  # whatever it raises, a test would have raised it
        name = "killed"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if name == "killed":
        order.remove(place)
        order.insert(0, place)
    return Fate(mutant, name)


def _told(contracts: list[Contract], place: int) -> str:
    """What these contracts say of a mutant in one world: killed, wording or nothing."""
    name = ""
    for contract in contracts:
        before, now = sound(contract.name)[place].result, judge_one(contract, *worlds()[place])
        if now != before:
            if _without_words(now) != _without_words(before):
                return "killed"
            name = "wording"
    return name


class replaced:
    """The contracts as they are with the mutant in the place of its module.

    Modules take each other's functions by name, so all that might use the module are made anew.
    """

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.before: dict[str, types.ModuleType] = {}

    def __enter__(self) -> tuple[Contract, ...]:
        names = _users(self.mutant.module)
        for name in names:
            full = f"agentrunproof.contracts.{name}"
            self.before[full] = sys.modules[full]
            made = types.ModuleType(full)
            made.__file__ = str(CONTRACTS / f"{name}.py")
            sys.modules[full] = made
            exec(_code(name) if name != self.mutant.module
                 else compile(self.mutant.source, f"<mutant of {name}>", "exec"), made.__dict__)
        return tuple(sys.modules[contract_module(contract)].CONTRACT for contract in judges(names))

    def __exit__(self, *_: object) -> None:
        sys.modules.update(self.before)


def judges(names: Iterable[str]) -> list[Contract]:
    """The contracts that these modules hold."""
    return [contract for contract in registry.CONTRACTS if contract.name in names]


def contract_module(contract: Contract) -> str:
    return f"agentrunproof.contracts.{contract.name}"


@cache
def _code(name: str) -> types.CodeType:
    path = CONTRACTS / f"{name}.py"
    return compile(path.read_text("utf-8"), str(path), "exec")


@cache
def _imports(name: str) -> frozenset[str]:
    """The modules of the package that a module of it imports."""
    text = (CONTRACTS / f"{name}.py").read_text("utf-8")
    return frozenset(
        other for other in modules() if other != name and any(
            line.startswith(f"from agentrunproof.contracts.{other} ") or (
                line.startswith("from agentrunproof.contracts import") and other in line)
            for line in text.splitlines()))


@cache
def _users(module: str) -> tuple[str, ...]:
    """The module and those that depend on it, each after what it imports."""
    found = [module]
    for name in sorted(modules(), key=_depth):
        if name != module and _imports(name) & set(found):
            found.append(name)
    return tuple(found)


@cache
def _depth(name: str) -> int:
    return 1 + max(map(_depth, _imports(name)), default=0)


# --- the account

@dataclass(frozen=True)
class Row:
    """The account of one module."""

    module: str
    killed: int
    wording: int
    survivors: tuple[Mutant, ...]

    @property
    def judged(self) -> int:
        return self.killed + len(self.survivors)

    @property
    def share(self) -> float:
        return 100 * self.killed / self.judged if self.judged else 100.0


def row(module: str) -> Row:
    contracts = judges(_users(module))
    for contract in contracts:
        sound(contract.name)  # before anything is changed
    order = sorted(range(len(worlds())), key=lambda place: sum(
        sound(contract.name)[place].result is not None for contract in contracts), reverse=True)
    fates = [Fate(mutant, "wording") if mutant.wording else fate(mutant, order)
             for mutant in mutants(module)]
    names = [one.name for one in fates]
    return Row(module, names.count("killed"), names.count("wording"),
               tuple(one.mutant for one in fates if one.name == "survived"))


def reasons() -> dict[tuple[str, str, str], str]:
    """Why a survivor is none that a test could tell, by module, function and change.

    Several changes of a function may share a reason.
    """
    listed = tomllib.loads(REASONS.read_text("utf-8")).get("survivor", [])
    return {(one["module"], one["function"], change.strip()): one["reason"]
            for one in listed for change in one["changes"]}


def page(rows: list[Row]) -> str:
    known = reasons()
    lines = [
        "# How the contracts' tests were tested", "",
        "<!-- Written by scripts/mutate_contracts.py --write. -->", "",
        "Every function of every contract was changed in each small way that",
        "[mutmut](https://mutmut.readthedocs.io/) knows. A change is killed when a faithful run no",
        "longer passes, a miniature no longer flips exactly its checks, or a committed certificate",
        "is judged otherwise, or a promise or code no longer is what the docs say. Changes of",
        "nothing but a message's words are not counted. A module with fewer changes than thirty",
        "says little by its percentage.", "",
        "```bash", "uv run --group mutation python scripts/mutate_contracts.py --write", "```", "",
        "| module | changes | killed | share | words only |", "|---|---|---|---|---|"]
    lines += [f"| `{one.module}` | {one.judged} | {one.killed} | {one.share:.1f}% | {one.wording} |"
              for one in rows]
    total, killed = sum(one.judged for one in rows), sum(one.killed for one in rows)
    lines += [f"| all | {total} | {killed} | {100 * killed / total:.1f}% | "
              f"{sum(one.wording for one in rows)} |", "", "## Survivors", ""]
    for one in rows:
        for mutant in one.survivors:
            reason = known.get(_key(mutant), "no reason yet")
            lines += [f"`{one.module}.{mutant.function}`: {reason}", "", "```diff",
                      mutant.change, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _key(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.module, mutant.function, mutant.change.strip()


def _start() -> None:
    for name in modules():
        importlib.import_module(f"agentrunproof.contracts.{name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("modules", nargs="*", help="of agentrunproof.contracts; all if none")
    parser.add_argument("--diff", action="store_true", help="show the survivors")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    known, rows = reasons(), []
    with multiprocessing.get_context("spawn").Pool(options.jobs, _start) as pool:
        for found in pool.imap_unordered(row, options.modules or modules()):
            rows.append(found)
            print(f"{found.module:32} {found.killed:4}/{found.judged:<4} {found.share:5.1f}%  "
                  f"{found.wording} of words", flush=True)
            if options.diff:
                for mutant in found.survivors:
                    mark = "" if _key(mutant) in known else "  (no reason)"
                    print(f"  {mutant.function}{mark}\n    "
                          + mutant.change.replace("\n", "\n    "), flush=True)
    rows.sort(key=lambda one: one.module)
    if options.write:
        PAGE.write_text(page(rows), "utf-8")
    weak = [one.module for one in rows if one.share < BAR]
    unknown = [mutant for one in rows for mutant in one.survivors if _key(mutant) not in known]
    print(f"{len(weak)} modules below {BAR}%, {len(unknown)} survivors without a reason")
    return 1 if weak or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
