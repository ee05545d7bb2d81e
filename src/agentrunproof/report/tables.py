"""What `report.text` says in words, as JSON tables for ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrunproof.shape import encode

if TYPE_CHECKING:
    from agentrunproof.errors import AgentRunProofError
    from agentrunproof.record.certificate import Certificate


def outcome_table(certificate: Certificate, id: str, label: str) -> dict[str, Any]:
    """One probed scenario; the arguments are those of `report.text.outcome_lines`."""
    return {"scenario": certificate.scenario, "verdict": certificate.verdict,
            "certificate_id": id, "profile": certificate.profile,
            "sdk": {"version": certificate.producer.sdk.version, "label": label},
            "python": certificate.producer.python, "network": certificate.producer.network,
            "missing": list(certificate.observation.missing),
            "checks": encode(certificate.checks)}


def error_table(error: AgentRunProofError) -> dict[str, str]:
    """An error by its parts."""
    return {"code": error.code, "message": error.message, "hint": error.hint}
