"""Which model answers the reruns: the recorded one, unless a user names another."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from agentrunproof.record.run import Call, Run
from agentrunproof.rerun.http_model import HttpModel
from agentrunproof.rerun.model import Body, Model, Tell, silent
from agentrunproof.rerun.python_model import PREFIX, PythonModel
from agentrunproof.rerun.servers import server_of


@dataclass(frozen=True)
class ModelOptions:
    """What a user may say about the model.

    Args:
        model: its name at the API, or ``python:MODULE:ATTRIBUTE`` or ``python:FILE.py:ATTRIBUTE``;
            None for the recorded one.
        base_url: of the API (``http://localhost:11434/v1``); None for the recorded server, else
            ``OPENAI_BASE_URL`` or ``ANTHROPIC_BASE_URL``, else the provider's own.
        key_variable: the environment variable that holds the key, if it is not
            ``OPENAI_API_KEY`` or ``ANTHROPIC_API_KEY``.
        deterministic: whether one rerun tells everything; None to go by temperature 0, or by
            what a Python model declares.
        retries: how often a request is tried again that may succeed later.
        timeout: seconds to wait for one reply.
        patience: seconds for which a server that cannot be reached is tried again.
    """

    model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    deterministic: bool | None = None
    retries: int = 5
    timeout: int = 300
    patience: int = 60


class Models:
    """The models of many calls, each made once, so that its connections are shared.

    Args:
        options: what the user says about them.
        tell: takes what is to be said while waiting.
    """

    def __init__(self, options: ModelOptions, tell: Tell = silent) -> None:
        self._options, self._tell = options, tell
        self._made: dict[tuple[str, str, bool], Model] = {}
        self._lock = threading.Lock()

    def of(self, run: Run, call: Call) -> Model:
        """The model for the reruns of a recorded call; see `model_of`."""
        model = model_of(run, call, self._options, self._tell)
        with self._lock:
            return self._made.setdefault((model.name, model.identity, model.deterministic), model)

    def close(self) -> None:
        """Give up all that is under way."""
        with self._lock:
            for model in self._made.values():
                model.close()


def model_of(run: Run, call: Call, options: ModelOptions | None = None,
             tell: Tell = silent) -> Model:
    """The model for the reruns of a recorded call.

    Args:
        run: the recorded run.
        call: one of its calls.
        options: what the user says about the model.
        tell: takes what is to be said while waiting.

    Raises:
        ModelError: it cannot be had; nothing has been asked yet.
        RecordError: ``RUN_LOST``: the request stands in lines that were left out.
    """
    return model_for(call.dialect, run.body(call), options, tell, endpoint=call.endpoint)


def model_for(dialect: str, body: Body, options: ModelOptions | None = None,
              tell: Tell = silent, *, endpoint: str = "") -> Model:
    """The same for a request that stands by itself.

    Args:
        dialect: the API that `body` is a request of.
        body: the recorded request.
        options: what the user says about the model.
        tell: takes what is to be said while waiting.
        endpoint: the URL that was recorded, if it was.
    """
    options = options or ModelOptions()
    if options.model is not None and options.model.startswith(PREFIX):
        return PythonModel(options.model, deterministic=options.deterministic)
    model = options.model or str(body.get("model") or "")
    server = server_of(dialect, endpoint=endpoint, base_url=options.base_url,
                       key_variable=options.key_variable)
    deterministic = options.deterministic
    if deterministic is None:
        deterministic = body.get("temperature") == 0
    return HttpModel(dialect, model, server, deterministic, options.retries, options.timeout,
                     options.patience, tell)
