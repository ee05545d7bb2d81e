"""Rules in a model's place, as ``--model python:tests.fix.stand_in:NAME`` names them."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.fix.inbox import ARGUMENTS, rate

_CHANCE = random.Random(11)
_FORWARD = {"tool_calls": [{"name": "forward_email", "arguments": ARGUMENTS}]}
_DRAFT = {"tool_calls": [{"name": "draft_reply", "arguments": {}}]}


def sometimes(body: dict[str, Any]) -> dict[str, Any]:
    """Forwards at the rate of the rule."""
    return _FORWARD if _CHANCE.random() < rate(body) else _DRAFT


def always(body: dict[str, Any]) -> dict[str, Any]:
    """Forwards unless the rule never does."""
    return _FORWARD if rate(body) else _DRAFT


def stubborn(body: dict[str, Any]) -> dict[str, Any]:
    """Forwards whatever it is told."""
    return _FORWARD


def good(body: dict[str, Any]) -> dict[str, Any]:
    """Never forwards."""
    return _DRAFT


def interrupted(body: dict[str, Any]) -> dict[str, Any]:
    """Is interrupted once it is asked anything else than what was recorded."""
    if "Be nice." in json.dumps(body):
        raise KeyboardInterrupt
    return _FORWARD


def broken(body: dict[str, Any]) -> dict[str, Any]:
    """Breaks once it is asked anything else than what was recorded."""
    if "Be nice." in json.dumps(body):
        raise RuntimeError("out of order")
    return _FORWARD


always.deterministic = True  # type: ignore[attr-defined]
