"""What any `Session` backend is held to: as a class of tests, or by ``check session``.

    from agentrunproof.suites.session import SessionSuite
"""

from agentrunproof.suites.session.case import SUPPORTS, Backend, Case, Result
from agentrunproof.suites.session.promises import Promise
from agentrunproof.suites.session.pytest_class import SessionSuite
from agentrunproof.suites.session.suite import CASES, SuiteError, run

__all__ = ["CASES", "SUPPORTS", "Backend", "Case", "Promise", "Result", "SessionSuite",
           "SuiteError", "run"]
