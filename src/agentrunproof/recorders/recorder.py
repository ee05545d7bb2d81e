"""`record`: what an agent does, written to a run file while it does it."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from agentrunproof.recorders.calls import ModelCall, ToolCall, error_of
from agentrunproof.recorders.linking import Scope
from agentrunproof.recorders.tape import Tape

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def record(name: str = "run", *, file: str | Path | None = None, folder: str | Path | None = None,
           redact: Callable[[str], str] | None = None) -> Recorder:
    """Record what happens inside of a ``with`` block.

    Args:
        name: what the run is called; part of its file's name.
        file: the file to write; if it exists, a number is added to its name.
        folder: the folder to make the file in, if not that of all runs (`runs.folder`).
        redact: what is done to each text before it is written, besides taking out secrets of
            known shapes.

    Returns:
        The recorder. Nothing of it raises into the agent: if something cannot be recorded, that is
        told once (logger ``agentrunproof``), and the run is marked incomplete.
    """
    return Recorder(name, None if file is None else Path(file),
                    None if folder is None else Path(folder), redact)


def trace_processor(name: str = "", *, folder: str | Path | None = None,
                    redact: Callable[[str], str] | None = None) -> Any:
    """A processor for the tracing of the OpenAI Agents SDK: each trace becomes a run.

    Usage::

        from agents import add_trace_processor
        from agentrunproof.recorders import trace_processor
        add_trace_processor(trace_processor("inbox"))

    Args:
        name: what the runs are called; the workflow's name unless given.
        folder: the folder to make their files in, if not that of all runs (`runs.folder`).
        redact: as of `record`.
    """
    from agentrunproof.recorders.agents_traces import LiveCapture

    return LiveCapture(name, None if folder is None else Path(folder), redact)


class Recorder(Tape):
    """Records one run. Made by `record`."""

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 _: object) -> None:
        self.close("completed" if kind is None else "raised",
                   None if error is None else error_of(error))

    @contextlib.contextmanager
    def agent(self, name: str) -> Iterator[None]:
        """What happens inside is this agent's doing."""
        with self.within(Scope(name, self.scope().parent, self.next_id("a"))):
            yield

    def model_call(self, dialect: str, body: Mapping[str, Any]) -> ModelCall:
        """Record a request to a model.

        Usage::

            with rec.model_call("openai.chat", body) as call:
                reply = call.returned(my_model(body))

        Args:
            dialect: the API that `body` is a request of (`record.dialects`).
            body: the literal request.
        """
        return ModelCall(self, dialect, body)

    def tool_call(self, tool: str, arguments: Any, *, id: str = "") -> ToolCall:
        """Record a tool that runs, as `model_call` does a request.

        Args:
            tool: its name.
            arguments: what it is called with.
            id: the id that the model gave the call, where that is known.
        """
        return ToolCall(self, tool, arguments, id)

    def tool(self, function: F) -> F:
        """A decorator: record each call of a function as that of a tool of its name."""
        name = getattr(function, "__name__", type(function).__name__)

        def arguments_of(args: Any, kwargs: Any) -> Any:
            try:
                return dict(inspect.signature(function).bind(*args, **kwargs).arguments)
            except (TypeError, ValueError):
                return {"args": list(args), **kwargs} if args else kwargs

        def recorded(*args: Any, **kwargs: Any) -> Any:
            with self.tool_call(name, arguments_of(args, kwargs)) as call:
                return call.returned(function(*args, **kwargs))

        async def recorded_async(*args: Any, **kwargs: Any) -> Any:
            with self.tool_call(name, arguments_of(args, kwargs)) as call:
                return call.returned(await function(*args, **kwargs))

        is_async = inspect.iscoroutinefunction(function)
        return cast(F, functools.wraps(function)(recorded_async if is_async else recorded))

    def bind(self, function: F) -> F:
        """`function`, to be run by a thread pool as if it was called here."""
        context = contextvars.copy_context()

        def bound(*args: Any, **kwargs: Any) -> Any:
            return context.copy().run(function, *args, **kwargs)

        return cast(F, functools.wraps(function)(bound))

    def wrap(self, client: T) -> T:
        """Record the requests of an OpenAI or Anthropic client, or of one like them.

        Args:
            client: ``OpenAI``, ``AsyncOpenAI``, ``Anthropic``, ``AsyncAnthropic``, one of their
                kinds (Azure, a ``base_url`` of a local server), or an httpx client.

        Returns:
            The same client; it behaves as before.

        Raises:
            RecordError: ``RECORDER_CLIENT``: it is nothing of that kind.
        """
        from agentrunproof.recorders import clients

        clients.tap(self, client)
        return client

    def langchain(self) -> Any:
        """A callback handler for LangChain and LangGraph: ``config={"callbacks": [handler]}``."""
        from agentrunproof.recorders import langchain

        return langchain.handler(self)

    def agents_sdk(self, *agents: Any, run_config: Any = None) -> Any:
        """Record runs of the OpenAI Agents SDK.

        Args:
            agents: those whose models and tools are objects of their own, and all that they hand
                over to; they are as before when the run ends.
            run_config: the SDK's ``RunConfig`` to go by, or None for one of defaults.

        Returns:
            The ``RunConfig`` to run with: ``Runner.run(agent, ..., run_config=...)``.
        """
        from agentrunproof.recorders import agents_sdk

        return agents_sdk.run_config(self, agents, run_config)
