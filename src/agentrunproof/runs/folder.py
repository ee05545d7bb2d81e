"""Where recorded runs are kept, and how a user's word becomes one of them.

Runs are kept in ``.agentrunproof/runs`` below the current folder, or in the folder that
``AGENTRUNPROOF_RUNS`` names. A file's name begins with the time at which its run started (UTC),
so that names sort by time, and ends with random digits:
``20260301T142530.123456Z-inbox-5f0c1a.jsonl``.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentrunproof.errors import RecordError
from agentrunproof.record.run import Run
from agentrunproof.shape import nearest

VARIABLE = "AGENTRUNPROOF_RUNS"
SUFFIX = ".jsonl"
#: No run file is read beyond this size: it is kept in memory as a whole.
MAX_BYTES = 2 * 2**30

_HOW = 'record one: with agentrunproof.recorders.record("name")'


def default() -> Path:
    """The folder of runs."""
    return Path(os.environ.get(VARIABLE) or Path(".agentrunproof", "runs"))


def make(folder: Path) -> None:
    """Make a folder of runs, which nobody but its owner may read, unless it is there.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")  # runs hold private data


def files(folder: Path | None = None) -> list[Path]:
    """The run files of a folder, the latest last; none if there is no folder.

    Raises:
        RecordError: ``RUNS_FOLDER``: it cannot be read.
    """
    folder = folder or default()
    try:
        return sorted(path for path in folder.iterdir()
                      if path.name.endswith(SUFFIX) and path.is_file())
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise RecordError("RUNS_FOLDER", f"{folder}: {(problem.strerror or '').lower()}",
                          f"name a folder of runs in {VARIABLE}") from None


def find(word: str, folder: Path | None = None) -> Path:
    """The file that a user means.

    Args:
        word: a path; or of a run in the folder its name, the beginning of that, what the run was
            called (the latest such run), or ``last``.
        folder: where to look, `default` unless given.

    Raises:
        RecordError: ``RUN_NOT_FOUND``, ``RUN_AMBIGUOUS``, ``RUNS_FOLDER``.
    """
    if os.sep in word or word.endswith((SUFFIX, ".json")) or os.path.lexists(word):
        path = Path(word)
        if os.path.lexists(path) or os.sep in word:
            return path
    folder = folder or default()
    known = files(folder)
    if not known:
        raise RecordError("RUN_NOT_FOUND", f"{word}: there is no such file, and no recorded run in "
                          f"{folder}", _HOW)
    if word == "last":
        return known[-1]
    begun = [path for path in known if word and path.name.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise RecordError("RUN_AMBIGUOUS", f"{word}: {len(begun)} runs in {folder} begin so",
                          f"the latest is {begun[-1].stem}")
    called = [path for path in known if label_of(path) == word]
    if called:
        return called[-1]
    words = {"last", *(path.stem for path in known), *map(label_of, known)}
    raise RecordError("RUN_NOT_FOUND", f"{word}: no file, and no run in {folder}, is called so",
                      nearest(word, words) or f"the latest is {known[-1].stem}")


def label_of(path: Path) -> str:
    """What a run was called, by its file's name."""
    parts = path.stem.split("-")
    return "-".join(parts[1:-1]) if len(parts) > 2 else path.stem


def load(path: Path, *, skip_bad: bool = False) -> Run:
    """Read a run file.

    Raises:
        RecordError: what `record.store.read` and `record.run_reader.read` say.
    """
    # Recorders, which need the rest of this module, run where only their library is installed.
    from agentrunproof.record import run_reader, store

    return run_reader.read(store.read(path, max_bytes=MAX_BYTES), str(path), skip_bad=skip_bad)
