"""The checker: re-judges a certificate from its bytes alone, without the SDK."""

from agentrunproof.checker.judgement import Judgement
from agentrunproof.checker.procedure import check

__all__ = ["Judgement", "check"]
