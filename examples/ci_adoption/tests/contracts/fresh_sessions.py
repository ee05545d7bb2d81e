"""What the plans in this folder name as their session: the library's, over a new file each."""

from __future__ import annotations

import tempfile
from pathlib import Path

from jsonfile_session import JsonFileSession


def fresh(session_id: str) -> JsonFileSession:
    """A session without items; one is made for each way a plan is run."""
    return JsonFileSession(session_id, Path(tempfile.mkdtemp()) / "items.json")
