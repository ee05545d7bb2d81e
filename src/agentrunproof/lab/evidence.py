"""Canonical evidence on disk: the conditions it demands, and a folder that is whole or nothing."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import agentrunproof
from agentrunproof import canonical, shape
from agentrunproof.attest.sums import COVERED
from agentrunproof.checker.bundle import CERTIFICATES
from agentrunproof.errors import LabError, ShapeError
from agentrunproof.lab import locks
from agentrunproof.record import bundle, store
from agentrunproof.record.bundle import MARKER, Bundle, BundleProducer, Conditions, Environment
from agentrunproof.record.certificate import Producer
from agentrunproof.record.matrix import version_order

#: The name of the record that the bundle is about.
RECORD = "matrix.json"


def clean_commit(checkout: Path) -> str:
    """The commit that a checkout is at, if it is exactly that.

    Raises:
        LabError: ``COMMIT_UNKNOWN`` without git, ``CHECKOUT_CHANGED`` for one with changes.
    """
    if _git(checkout, "rev-parse", "--show-prefix").strip():  # unpacked in someone's repository
        raise LabError("COMMIT_UNKNOWN", f"{checkout}: only a part of a git checkout",
                       "make evidence in a clone")
    changed = _git(checkout, "status", "--porcelain", "--untracked-files=normal")
    if changed:
        raise LabError("CHECKOUT_CHANGED", f"{checkout}: {changed.splitlines()[0].strip()}"
                       " is not committed", "commit or remove it: evidence names a commit")
    return _git(checkout, "rev-parse", "HEAD").strip()


def conditions(producers: list[Producer], homes: list[Path]) -> Conditions:
    """The conditions under which certificates were made, if they are the canonical ones.

    Args:
        producers: of all certificates.
        homes: the environments that they were made in.

    Raises:
        LabError: ``CONDITIONS_NOT_CANONICAL``, saying which.
    """
    def one(values: set[str]) -> str:
        return " and ".join(sorted(values))

    found = {"system": sys.platform, "machine": platform.machine(),
             "implementation": one({_implementation(home) for home in homes}),
             "python": one({made_by.python for made_by in producers}),
             "environments": "fresh", "network": one({made_by.network for made_by in producers}),
             "acquisition": "index-before-runs"}
    try:
        made: Conditions = shape.decode(Conditions, found)
    except ShapeError as error:
        raise LabError("CONDITIONS_NOT_CANONICAL", f"not canonical: {error.message}",
                       "it is made on Linux x86_64 and CPython 3.12, off the network") from error
    return made


def describe(commit: str, where: Conditions, lock_folder: Path, releases: list[str],
             members: Mapping[str, bytes]) -> Bundle:
    """The bundle of some files.

    Args:
        commit: of the checkout that made them.
        where: the conditions.
        lock_folder: the locks of the environments.
        releases: of the SDK, one for each environment.
        members: content by name, `RECORD` among them.
    """
    environments = []
    for sdk in sorted(releases, key=version_order):
        path = lock_folder / locks.file_name(sdk)
        environments.append(Environment(sdk=sdk, wheel=locks.read(path).sdk.digest,
                                        lock=canonical.digest_bytes(store.read(path))))
    return Bundle(producer=BundleProducer(version=agentrunproof.__version__, commit=commit),
                  conditions=where, environments=tuple(environments), record=RECORD,
                  members={name: canonical.digest_bytes(data) for name, data in members.items()})


def replace(folder: Path, members: Mapping[str, bytes], whole: Bundle | None) -> None:
    """Put files in place of what a folder holds.

    The marker goes first and comes last, so that at no moment half of the files pass for all.

    Args:
        folder: the evidence; made if need be.
        members: content by name.
        whole: the bundle, written last; None leaves the files without one.

    Raises:
        LabError: ``FOLDER_NOT_EVIDENCE`` for one with other things in it, ``FOLDER_UNWRITABLE``.
        RecordError: a file cannot be written.
    """
    ours = {MARKER, RECORD, CERTIFICATES.rstrip("/")}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = sorted(path.name for path in folder.iterdir() if path.name not in ours)
        if foreign:
            raise LabError("FOLDER_NOT_EVIDENCE", f"{folder}: {foreign[0]} is no evidence",
                           "name a new folder")
        (folder / MARKER).unlink(missing_ok=True)
        (folder / RECORD).unlink(missing_ok=True)
        if (folder / CERTIFICATES).exists():
            shutil.rmtree(folder / CERTIFICATES)
        for name in members:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError("FOLDER_UNWRITABLE", f"{folder}: {error.strerror or error}") from error
    for name, data in members.items():
        store.write(folder / name, data)
    if whole is not None:
        store.write(folder / MARKER, bundle.FORM.to_bytes(whole))


def files_in(folder: Path) -> list[str]:
    """The relative names of all files in a folder, hidden ones and links too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")
                  if path.is_symlink() or not path.is_dir())


def covered(root: Path) -> list[str]:
    """The names of all files in the folders that ``SHA256SUMS`` covers."""
    return [f"{folder}/{name}" for folder in COVERED for name in files_in(root / folder)]


def checksum(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal digits, as ``SHA256SUMS`` has it."""
    return canonical.digest_bytes(store.read(path)).removeprefix("sha256:")


def _implementation(home: Path) -> str:
    """What the environment was made of, as its ``pyvenv.cfg`` says."""
    said = (home / "pyvenv.cfg").read_text("utf-8")
    match: Any = re.search(r"^implementation *= *(\w+)$", said, re.MULTILINE)
    return match[1].lower() if match else "unknown"


def _git(checkout: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(checkout), *words], capture_output=True, text=True,
                              check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError("COMMIT_UNKNOWN", f"{checkout}: git does not tell its commit",
                       "make evidence in a clone") from error
    return done.stdout
