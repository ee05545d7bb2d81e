"""Secrets are taken out before anything is written.

Replaced are tokens of known shapes anywhere in a text, the values of keys that say what they are
(``authorization``, ``api_key``, ``password``...), and keys and passwords in URLs. The text that
takes their place says what stood there and keeps nothing of it. A shape that nobody told us of is
not found: that is what the ``redact`` hook is for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

#: Known shapes: what it is, the letters by which a text that may hold one is told, a pattern.
SHAPES = tuple((name, sign, re.compile(pattern)) for name, sign, pattern in (
    ("private key", "PRIVATE KEY-", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?"
                                    r"(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("API key", "sk-", r"\bsk-[A-Za-z0-9_\-]{16,}"),
    ("API key", "_live_", r"\b[srp]k_live_[A-Za-z0-9]{16,}"),
    ("API key", "_test_", r"\b[srp]k_test_[A-Za-z0-9]{16,}"),
    *(("GitHub token", sign, rf"\b{sign}[A-Za-z0-9]{{30,}}")
      for sign in ("gho_", "ghp_", "ghr_", "ghs_", "ghu_")),
    ("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
    ("GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_\-]{20,}"),
    ("AWS key", "AKIA", r"\bAKIA[A-Z0-9]{16}\b"),
    ("AWS key", "ASIA", r"\bASIA[A-Z0-9]{16}\b"),
    ("Google key", "AIza", r"\bAIza[A-Za-z0-9_\-]{35}"),
    ("Google token", "ya29.", r"\bya29\.[A-Za-z0-9_\-]{20,}"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"),
    ("Slack token", "xapp-", r"\bxapp-[A-Za-z0-9\-]{10,}"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_\-]{50,}"),
    ("JWT", "eyJ", r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*"),
    ("authorization", "earer ", r"(?<=[Bb]earer )[A-Za-z0-9_\-.~+/]{16,}=*"),
    ("authorization", "asic ", r"(?<=[Bb]asic )(?=\S*[0-9=])[A-Za-z0-9+/]{16,}=*"),
    # scheme://user:password@host, and keys in a query
    ("password", "://", r"(?<=://)[^\s/:@\"']*:[^\s/@\"']+(?=@)"),
    ("key", "=", r"(?<=[?&])(?:[\w\-]*(?:key|token|secret|password|signature)|sig|code)"
                 r"=[^&\s\"'<>#\\]+"),
))
#: Keys that say that their value is secret; written with _, - or nothing between the words.
_KEYS = tuple(
    key.replace("_", between) for between in ("_", "-", "")
    for key in ("authorization", "api_key", "access_token", "refresh_token", "auth_token",
                "secret_key", "secret_access_key", "client_secret", "private_key", "password",
                "passwd", "cookie"))
#: What stands behind such a key inside of a text: ``"password": "..."``, ``password=...``.
#: Behind a bare colon a word of prose is not taken for a secret: that one has a digit.
_SEPARATOR = re.compile(r"[:=]")
_VALUE = re.compile(r"(\s*\\?[\"']\s*|\s*(?=[^\s\"',;&]*[0-9]))(?!\[secret|[Bb]earer |[Bb]asic )"
                    r"[^\s\"'\\,;&{}\[\]()<>]{6,}")
_LONGEST = max(map(len, _KEYS)) + 4


class Scrubber:
    """Takes secrets out of JSON values.

    Args:
        redact: what else is to be done to each text, or None. A text for which it fails is not
            recorded at all.
        failed: told of such a failure.
    """

    def __init__(self, redact: Callable[[str], str] | None,
                 failed: Callable[[Exception], None]) -> None:
        self._redact = redact
        self._failed = failed

    def __call__(self, value: Any) -> Any:
        """The value without secrets: itself if it has none."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._text(key): f"[secret: {key.lower()}]"
                    if inner and isinstance(inner, str) and _says_secret(key) else self(inner)
                    for key, inner in value.items()}
        if isinstance(value, list):
            return [self(inner) for inner in value]
        return value

    def _text(self, text: str) -> str:
        text = _scrub_again(text) if len(text) < _SHORT else scrub(text)
        if self._redact is not None:
            try:
                text = str(self._redact(text))
            except Exception as error:
                self._failed(error)
                return "[not recorded: redact failed]"
        return text


def scrub(text: str) -> str:
    """A text without secrets of known shapes."""
    if len(text) < 8:
        return text
    for name, sign, pattern in SHAPES:
        if sign in text:
            text = pattern.sub(f"[secret: {name}]", text)
    return _scrub_keys(text) if "=" in text or ":" in text else text


#: Short texts come again and again: keys of tables, names, types.
_SHORT = 40
_scrub_again = functools.lru_cache(maxsize=4096)(scrub)


@functools.lru_cache(maxsize=4096)
def _says_secret(key: str) -> bool:
    """Whether a key says that its value is secret."""
    return key.lower().endswith(_KEYS)


def _scrub_keys(text: str) -> str:
    """A text without the values of keys that say that these are secret."""
    parts, done = [], 0
    for separator in _SEPARATOR.finditer(text):
        at = separator.start()
        key = text[max(0, at - _LONGEST):at].rstrip(" \\\"'").lower()
        if key.endswith(_KEYS):
            value = _VALUE.match(text, at + 1)
            if value is not None:
                parts += [text[done:value.end(1)], "[secret]"]
                done = value.end()
    return "".join((*parts, text[done:])) if parts else text
