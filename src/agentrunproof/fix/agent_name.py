"""The user's agent, as a written test imports it."""

from __future__ import annotations

from dataclasses import dataclass

from agentrunproof.ablation.subject import AblationError
from agentrunproof.errors import said
from agentrunproof.rerun import python_model
from agentrunproof.shape import nearest

_FORM = "write --agent MODULE:ATTRIBUTE, as in --agent inbox.agents:assistant"


@dataclass(frozen=True)
class Named:
    """Where an agent is.

    Args:
        module: to import.
        attribute: in it.
        makes: whether that is a function which makes the agent.
    """

    module: str
    attribute: str
    makes: bool


def named(word: str, tool: str) -> Named:
    """The agent that a user names; its module is imported, from the current folder too.

    Args:
        word: ``MODULE:ATTRIBUTE``, with or without ``python:`` before it.
        tool: that it must have.

    Raises:
        AblationError: ``AGENT_FORM``, ``AGENT_IMPORT``, ``AGENT_TOOL``.
    """
    module, _, attribute = word.removeprefix("python:").partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        raise AblationError("AGENT_FORM", f"--agent {word!r} has no known form", _FORM)
    try:
        found = python_model.named(module, attribute)
    except Exception as error:
        raise AblationError("AGENT_IMPORT", f"--agent {word}: {type(error).__name__}: "
                            f"{said(error)}", _FORM) from error
    tools = getattr(found, "tools", None)
    if tools is None and not callable(found):
        raise AblationError("AGENT_FORM", f"--agent {word}: it is no agent of the Agents SDK, and "
                            "makes none", _FORM)
    names = [getattr(one, "name", "") for one in tools or ()]
    if tools is not None and tool not in names:
        raise AblationError("AGENT_TOOL", f"--agent {word}: it has no tool {tool!r}",
                            nearest(tool, names) or "its tools: " + (", ".join(names) or "none"))
    return Named(module, attribute, makes=tools is None)
