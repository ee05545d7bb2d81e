"""Which releases, Pythons and pins a user means: the words of ``--sdk``, ``--python``, ``--with``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from agentrunproof.errors import LabError
from agentrunproof.lab import releases
from agentrunproof.record import sdk_releases
from agentrunproof.record.matrix import Column, MinorPython, Pin
from agentrunproof.shape import Text, nearest

_OPERATORS = ("~=", ">=", "<=", "==", "!=", ">", "<")
_RANGE = re.compile(r"([a-z]*)\s*((?:~=|[<>]=?|[=!]=).*)")


def releases_of(spec: str) -> tuple[str, ...]:
    """The releases that a specification names, oldest first.

    Parts are separated by commas and united: ``all``; ``latest``; ``minors``, the last release of
    each minor version; ``certified``; a release number; or a group of consecutive comparisons
    such as ``>=0.8,<0.12`` that must all hold. A group right after a word, as in
    ``minors>=0.8,<0.12``, chooses among the releases of that word.

    Args:
        spec: such as ``minors>=0.8,latest`` or ``0.7.0,>=0.20``.

    Raises:
        LabError: ``RELEASE_UNKNOWN``, ``RELEASE_SYNTAX``, or ``RELEASE_NONE`` where no release is
            in a range.
    """
    chosen = {release for part in _parts(spec) for release in _named(part)}
    return tuple(sorted(chosen, key=releases.parse))


@cache
def matcher(spec: str) -> Callable[[str], bool]:
    """Whether a release is within a conjunction of comparisons such as ``>=0.8,<0.12``.

    They mean what they mean in PEP 440, pre-releases included.

    Raises:
        LabError: ``RELEASE_SYNTAX``.
    """
    try:
        within = SpecifierSet(spec, prereleases=True)
    except InvalidSpecifier:
        raise LabError("RELEASE_SYNTAX", f"{spec!r} is no range of releases",
                       "write it like '>=0.20' or '>=0.8,<0.12'") from None
    return lambda version: within.contains(releases.parse(version))


def pythons_of(spec: str) -> tuple[str, ...]:
    """The Python versions of a list such as ``3.10,3.13``, oldest first.

    Raises:
        LabError: ``PYTHON_SYNTAX``.
    """
    versions = {part.strip() for part in spec.split(",")}
    for version in versions:
        if not _matches(MinorPython, version):
            raise LabError("PYTHON_SYNTAX", f"--python {version!r} is not a Python version that "
                           "can run plans", "write them like 3.10,3.13")
    return tuple(sorted(versions, key=releases.parse))


def pins_of(specs: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Every combination of the wanted versions of the SDK's dependencies.

    Args:
        specs: each ``name=version,version``, a version being ``lowest``, ``latest`` or a number.

    Returns:
        One tuple of pins for each combination; one empty tuple if nothing is specified.

    Raises:
        LabError: ``PIN_SYNTAX`` or ``PIN_TWICE``.
    """
    choices: dict[str, list[str]] = {}
    for spec in specs:
        name, _, versions = spec.partition("=")
        name = re.sub(r"[-_.]+", "-", name.strip().lower())
        pins = [f"{name}={version.strip().lower()}" for version in versions.split(",")]
        if not all(_matches(Pin, pin) for pin in pins):
            raise LabError("PIN_SYNTAX", f"--with {spec!r} is not understood",
                           "write it like openai=lowest,latest or openai=2.9.0")
        if name == releases.DISTRIBUTION:
            raise LabError("PIN_SYNTAX", f"--with {spec!r}: the SDK's release is not a pin",
                           "choose it with --sdk")
        if name in choices:
            raise LabError("PIN_TWICE", f"--with names {name} twice",
                           f"give its versions in one list: {name}=lowest,latest")
        choices[name] = list(dict.fromkeys(pins))
    return tuple(tuple(sorted(pins)) for pins in itertools.product(*choices.values()))


def columns_of(sdk: str, python: str, pins: Iterable[str]) -> tuple[Column, ...]:
    """The columns that the three options span, in the order of the matrix."""
    columns = [Column(sdk=release, python=version, pins=combination)
               for release in releases_of(sdk) for version in pythons_of(python)
               for combination in pins_of(pins)]
    return tuple(sorted(columns, key=lambda column: column.order))


def shard_of(columns: Sequence[Column], shard: str) -> tuple[Column, ...]:
    """Every n-th column from the k-th on, for ``k/n``.

    Neighbouring releases go to different shards, so that shards take equally long.

    Raises:
        LabError: ``SHARD_SYNTAX``.
    """
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", shard)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise LabError("SHARD_SYNTAX", f"--shard {shard!r} is not one of so many",
                       "write it like 3/8, counting from 1")
    return tuple(columns[int(match[1]) - 1::int(match[2])])


def _parts(spec: str) -> Iterable[str]:
    """The parts of a specification, consecutive comparisons together in one."""
    parts: list[str] = []
    for part in spec.split(","):
        if part.strip().startswith(_OPERATORS) and parts and _RANGE.fullmatch(parts[-1]):
            parts[-1] += "," + part.strip()
        else:
            parts.append(part.strip())
    return parts


def _named(part: str) -> Iterable[str]:
    known = list(releases.known())
    if ranged := _RANGE.fullmatch(part):
        return _in_range(ranged[2], list(_named(ranged[1] or "all")))
    if part == "all":
        return known
    if part == "latest":
        return known[-1:]
    if part == "minors":
        return list({releases.parse(version).release[:2]: version for version in known}.values())
    if part == "certified":
        return [version for version in known if version in sdk_releases.known()]
    if not part[:1].isdigit():
        words = ("all", "latest", "minors", "certified")
        raise LabError("RELEASE_SYNTAX", f"--sdk: {part!r} is neither a release nor a word for "
                       "some", nearest(part, words) or "write releases like 0.24.0, ranges like "
                       f"'>=0.20', or {', '.join(words)}")
    if part not in known and releases.parse(part) <= releases.parse(known[-1]):
        raise releases.unknown(part)
    return [part]


def _in_range(spec: str, among: Sequence[str]) -> list[str]:
    within = matcher(spec)
    chosen = [version for version in among if within(version)]
    if not chosen:
        raise LabError("RELEASE_NONE", f"--sdk: no release is within {spec!r}",
                       f"there are {among[0]} to {among[-1]}")
    return chosen


def _matches(annotation: object, value: str) -> bool:
    (constraint,) = annotation.__metadata__  # type: ignore[attr-defined]
    assert isinstance(constraint, Text)
    return re.fullmatch(constraint.pattern, value) is not None
