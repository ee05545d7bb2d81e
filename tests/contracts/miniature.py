"""What a miniature is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.contracts.damage import Damage
from tests.contracts.worlds import World


@dataclass(frozen=True)
class Miniature:
    """A world, what is broken in it, and the check and code that must tell."""

    check: str
    code: str
    world: Callable[[], World]
    damage: Damage | None = None
    also: dict[str, str] = field(default_factory=dict)

    @property
    def flips(self) -> dict[str, str]:
        return {self.check: self.code} | self.also
