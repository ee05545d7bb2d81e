"""Trying again what may succeed later, and saying why and for how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from agentrunproof.rerun.model import ModelError, Tell

T = TypeVar("T")

#: The longest that is waited between two tries unless the server asks for more, in seconds.
_LONGEST = 30
#: A server that asks for a longer wait is not waited for.
_PATIENT = 300
#: Between two tries to reach a server, at most.
_RECONNECT = 8


class Later(Exception):
    """A try failed, and another may succeed.

    Args:
        reason: why, for people.
        wait: seconds that the server asks for, if it does.
        unreachable: whether the server could not be reached at all.
    """

    def __init__(self, reason: str, wait: float | None = None, *,
                 unreachable: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.wait, self.unreachable = reason, wait, unreachable


class Stop:
    """Waits that can be ended from another thread, and the time that they go by."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.now: Callable[[], float] = time.monotonic

    def set(self) -> None:
        """End all waits, those to come too."""
        self._event.set()

    @property
    def ended(self) -> bool:
        """Whether all waits are over."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait; whether it was ended."""
        return self._event.wait(seconds)


@dataclass(frozen=True)
class Retrying:
    """How often and how long a request is tried again.

    Args:
        host: who is asked.
        retries: tries after the first, where the server can be reached.
        patience: seconds for which one that cannot is tried.
        tell: takes the reasons.
        stop: ends waiting.
    """

    host: str
    retries: int
    patience: int
    tell: Tell
    stop: Stop

    def until(self, attempt: Callable[[], T]) -> T:
        """What `attempt` gives, once it succeeds.

        Args:
            attempt: raises `Later` where another try may succeed.

        Raises:
            ModelError: ``MODEL_UNREACHABLE``, ``MODEL_SPENT``, ``MODEL_STOPPED``.
        """
        failed = lost = 0
        since = self.stop.now()
        while True:
            try:
                return attempt()
            except Later as later:
                if self.stop.ended:
                    raise self._stopped() from None
                if later.unreachable:
                    lost += 1
                    wait = self._reconnect(later, lost, self.stop.now() - since)
                else:
                    failed, lost = failed + 1, 0
                    wait = self._again(later, failed)
            if self.stop.wait(wait):
                raise self._stopped()
            if not lost:
                since = self.stop.now()

    def _stopped(self) -> ModelError:
        return ModelError("MODEL_STOPPED", f"{self.host}: given up")

    def _reconnect(self, later: Later, lost: int, seconds: float) -> float:
        if seconds >= self.patience:
            raise ModelError("MODEL_UNREACHABLE", f"{self.host} cannot be reached: {later.reason}",
                             "is the server running, and the address right?")
        self.tell(f"{self.host} cannot be reached ({later.reason}), trying again" if lost == 1
                  else f"{self.host}: still unreachable after {seconds:.0f} s")
        return float(min(2 ** (lost - 1), _RECONNECT))

    def _again(self, later: Later, failed: int) -> float:
        wait = min(2.0 ** (failed - 1), _LONGEST) if later.wait is None else later.wait
        if failed > self.retries:
            raise ModelError("MODEL_SPENT", f"{self.host}: {later.reason}"
                             + (f", {self.retries + 1} times" if self.retries else ""),
                             "try later, or with fewer --workers")
        if wait > _PATIENT:
            raise ModelError("MODEL_SPENT", f"{self.host}: {later.reason}, and asks to wait "
                             f"{wait:,.0f} s", "try again then")
        self.tell(f"{later.reason}, again in {wait:.3g} s ({failed} of {self.retries})")
        return wait
