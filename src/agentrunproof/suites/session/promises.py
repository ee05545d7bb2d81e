"""What the cases hold a session to: sentences of the SDK's documentation, relations, and our own
expectations where the documentation is silent. The three are never mixed: every result says which.
"""

from __future__ import annotations

from dataclasses import dataclass

#: where sentences of the guide stand
_GUIDE = "https://openai.github.io/openai-agents-python/sessions/"


@dataclass(frozen=True)
class Promise:
    """Why a case may demand what it demands.

    Args:
        basis: ``documentation`` (the text is quoted), ``relation`` (two ways that must agree), or
            ``expectation`` (ours, with its reason).
        text: the sentence.
        source: where it stands: an object of the SDK whose docstring holds it, or a page; for
            what is not quoted, where the reason can be seen, or "".
    """

    basis: str
    text: str
    source: str = ""


def _documented(text: str, source: str) -> Promise:
    return Promise("documentation", text, source)


def _relation(text: str) -> Promise:
    return Promise("relation", text)


def _expected(text: str, source: str = "") -> Promise:
    return Promise("expectation", text, source)


PROTOCOL = _documented(
    "You can implement your own session memory by creating a class that structurally follows the "
    "Session protocol.", _GUIDE)
LATEST_N = _documented(
    "When specified, returns the latest N items in chronological order.",
    "agents.memory.session.Session.get_items")
SETTINGS_LIMIT = _documented(
    "If None, uses session_settings.limit.", "agents.memory.SQLiteSession.get_items")
POP = _documented(
    "The most recent item if it exists, None if the session is empty",
    "agents.memory.session.Session.pop_item")
CLEAR = _documented(
    "Clear all items for this session.", "agents.memory.session.Session.clear_session")
ADD = _documented(
    "Add new items to the conversation history.", "agents.memory.session.Session.add_items")
HISTORY = _documented(
    "Retrieve the conversation history for this session.",
    "agents.memory.session.Session.get_items")
SAME_STORE = _documented(
    "another instance configured with the same session ID and the same underlying storage backend",
    _GUIDE)
SEPARATE = _documented("Different sessions maintain separate conversation histories", _GUIDE)
RUN_READS = _documented(
    "The runner automatically retrieves the conversation history for the session and prepends it "
    "to the input items.", _GUIDE)
RUN_STORES = _documented(
    "All new items generated during the run (user input, assistant responses, tool calls, etc.) "
    "are automatically stored in the session.", _GUIDE)
RUN_LIMIT = _documented("retrieve only the most recent N items", _GUIDE)
RUN_OVERRIDES = _documented(
    "each non-None value in RunConfig.session_settings overrides the corresponding default for "
    "that run", _GUIDE)
COMPACTED = _documented(
    "It wraps an underlying session and can automatically compact after each turn based on "
    "should_trigger_compaction.", _GUIDE)

READ_BACK = _relation(
    "What is read is what was written, in the order in which it was written.")
KEPT_OR_REFUSED = _relation(
    "A value is read back as it was written, or the write is refused.")
SAME_READ_TWICE = _relation(
    "Two reads with no write between them are equal, whatever became of the objects.")
SAME_IN_BOTH_MODES = _relation("Runner.run and Runner.run_streamed do the same with a session.")
NOTHING_DOUBLED = _relation(
    "Items written by several at once are all there afterwards, each once, each batch in order.")
POPPED_ONCE = _relation("An item that was removed once is not returned by another pop_item.")

WHOLE_BATCH = _expected(
    "One add_items is one write: a run's call and output must not be torn apart.",
    "openai/openai-agents-python#4212")
FAILED_WRITE = _expected(
    "A write that failed leaves nothing behind, neither now nor with the next write.",
    "openai/openai-agents-python#4163")
NO_EFFECT = _expected(
    "A call that changes nothing in the history changes nothing in the storage.",
    "openai/openai-agents-python#4111, #4190")
UNREADABLE = _expected(
    "Every session of the SDK skips a row that cannot be read, and counts those that can.",
    "openai/openai-agents-python#3305, #4001")
CLOSED = _expected(
    "A session that refuses some calls once it is closed refuses all of them.",
    "openai/openai-agents-python#4231")
PAIRED = _expected(
    "The Responses API refuses an output without its call, and a call without its output.",
    "openai/openai-agents-python#4324")
COMPACTION_FAILED = _expected(
    "A compaction that cannot be written leaves the history as it was.",
    "openai/openai-agents-python#3117, #4298")
COMPACTION_MEANWHILE = _expected(
    "Items added while a compaction is under way are not lost.", "openai-agents 0.22.1")
