"""Every kind of record that is judged from one file: which it is, and by which procedure."""

from __future__ import annotations

import json
from collections.abc import Callable

from agentrunproof.checker import ablation, fix, localization, procedure
from agentrunproof.checker.judgement import Judgement
from agentrunproof.record import ablation as ablations
from agentrunproof.record import fix as fixes
from agentrunproof.record import localization as localizations

_CHECKS: dict[str, Callable[[bytes], Judgement]] = {
    ablations.FORM.name: ablation.check, fixes.FORM.name: fix.check,
    localizations.FORM.name: localization.check}


def check(data: bytes, *, reproduced: bool | None = False) -> Judgement:
    """Check the bytes of a record: an ablation, a fix, a localization, or else a certificate.

    Args:
        data: the content of the file.
        reproduced: of certificates, see `procedure.check`.
    """
    if any(name.encode() in data for name in _CHECKS):  # else there is no need to look closer
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None  # the procedure says what is wrong
        schema = value.get("schema") if isinstance(value, dict) else None
        if isinstance(schema, str) and schema in _CHECKS:
            return _CHECKS[schema](data)
    return procedure.check(data, reproduced=reproduced)
