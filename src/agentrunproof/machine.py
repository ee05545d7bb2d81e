"""What several rooms need of the world around them: the folder of caches, a Dask cluster."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from agentrunproof.errors import LabError


def cache_folder() -> Path:
    """Where what can be made again is kept.

    ``$AGENTRUNPROOF_CACHE``, else ``agentrunproof`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``.
    """
    if own := os.environ.get("AGENTRUNPROOF_CACHE"):
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).absolute() if shared else Path.home() / ".cache") / "agentrunproof"


def cluster_of(uri: str | None) -> str | None:
    """The address in the ``dask://HOST:PORT`` of ``--executor``; None for this machine.

    Raises:
        LabError: ``EXECUTOR_UNKNOWN``.
    """
    if uri is None or uri == "local":
        return None
    scheme, separator, address = uri.partition("://")
    if scheme == "dask" and separator and address:
        return address
    raise LabError("EXECUTOR_UNKNOWN", f"--executor {uri!r} is not known",
                   "write local, or dask://HOST:PORT")


def dask(address: str) -> tuple[Any, Any]:
    """The module ``distributed``, and a client of the cluster whose scheduler is at `address`.

    Raises:
        LabError: ``EXECUTOR_UNUSABLE``.
    """
    try:
        module: Any = importlib.import_module("distributed")
    except ImportError:
        raise LabError("EXECUTOR_UNUSABLE", "dask is not installed beside agentrunproof",
                       "pip install 'agentrunproof[dask]'") from None
    try:
        return module, module.Client(f"tcp://{address}")
    except (OSError, ValueError) as error:
        raise LabError("EXECUTOR_UNUSABLE", f"no Dask scheduler answers at {address}",
                       "check host and port") from error
