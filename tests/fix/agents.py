"""What looks like agents of the SDK, as far as naming one goes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Tool:
    name: str


@dataclass
class Agent:
    tools: list[Tool]


agent = Agent([Tool("forward_email")])
other = Agent([Tool("forward_mail")])


def build() -> Agent:
    return agent
