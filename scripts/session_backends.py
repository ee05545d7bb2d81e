"""Backends for ``agentrunproof check session``: sessions of the SDK and of other packages.

    cd scripts && agentrunproof check session session_backends:sqlite_file

Each name is a `Backend` that is made when it is asked for, because most need packages of their
own; `check_sessions.py` has them all. What fails on 0.24.0 is declared,
with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrunproof.suites.session import Backend
from agentrunproof.suites.session import backends as own
from agentrunproof.suites.session.backends import CLOSED, STORED, Files
from agentrunproof.suites.session.fake_openai import FakeOpenAI

_MADE: dict[str, Callable[[], Backend]] = {
    "sqlite_file": own.sqlite_file, "conversations": own.conversations}
#: names of the SDK's own, and of other packages'
OWN = ("sqlite_memory", "sqlite_file", "advanced_sqlite", "async_sqlite", "sqlalchemy", "redis",
       "encrypted", "conversations", "compaction")
OTHERS = ("session_redis", "session_dynamodb", "local_compaction", "local_window", "citadel")


_ZERO = dict.fromkeys(("limit-zero", "run-limit"), "a limit of 0 slices from -0: everything")
_SETTINGS = {"limit-from-settings": "get_items() does not look at session_settings"}
_UNREADABLE = dict.fromkeys(("unreadable-read", "unreadable-limit", "unreadable-pop"),
                            "a row that is no JSON ends the call")


def _named(make: Callable[[], Backend]) -> Callable[[], Backend]:
    _MADE[make.__name__.removeprefix("_")] = make
    return make


def __getattr__(name: str) -> Backend:
    if name not in _MADE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _MADE[name]()


@_named
def _sqlite_memory() -> Backend:
    from agents import SQLiteSession

    return Backend(SQLiteSession, frozenset({"settings", "close"}))


@_named
def _advanced_sqlite() -> Backend:
    from agents.extensions.memory import AdvancedSQLiteSession

    files = Files()
    return Backend(lambda id: AdvancedSQLiteSession(
        session_id=id, db_path=files.path(id), create_tables=True), CLOSED,
        damage=files.damage, effects=files.effects)


@_named
def _async_sqlite() -> Backend:
    from agents.extensions.memory import AsyncSQLiteSession

    files = Files()
    return Backend(lambda id: AsyncSQLiteSession(id, files.path(id)), CLOSED, damage=files.damage,
                   effects=files.effects)


@_named
def _sqlalchemy() -> Backend:
    from agents.extensions.memory import SQLAlchemySession

    files = Files()
    return Backend(
        lambda id: SQLAlchemySession.from_url(
            id, url=f"sqlite+aiosqlite:///{files.path(id)}", create_tables=True),
        STORED, damage=files.damage, effects=files.effects,
        dispose=lambda session: session.engine.dispose())


def _fake_redis() -> Callable[[], Any]:
    """Gives clients of one server in memory."""
    import fakeredis

    server = fakeredis.FakeServer()
    return lambda: fakeredis.FakeAsyncRedis(server=server)


@_named
def _redis() -> Backend:
    from agents.extensions.memory import RedisSession

    client = _fake_redis()

    async def spoil(session: Any) -> None:
        await client().lset(f"agents:session:{session.session_id}:messages", -1, "{")

    async def keys(_: Any) -> Any:
        return sorted(await client().keys())

    return Backend(lambda id: RedisSession(id, redis_client=client()), STORED, damage=spoil,
                   effects=keys)


@_named
def _encrypted() -> Backend:
    from agents import SQLiteSession
    from agents.extensions.memory import EncryptedSession

    files = Files()
    return Backend(
        lambda id: EncryptedSession(id, SQLiteSession(id, files.path(id)), "a key of these tests"),
        STORED,
        {"other-values": "datetime and the like become text (json.dumps with default=str)"},
        damage=lambda session: files.damage(session, '{"not": "encrypted"}'),
        effects=files.effects)


@_named
def _compaction() -> Backend:
    from agents import SQLiteSession
    from agents.memory import OpenAIResponsesCompactionSession

    files, client = Files(), FakeOpenAI()
    return Backend(
        lambda id: OpenAIResponsesCompactionSession(
            id, SQLiteSession(id, files.path(id)), client=client),  # type: ignore[arg-type]
        STORED, {"limit-from-settings": "its settings do not reach the session that it wraps"},
        damage=files.damage, effects=files.effects)


@_named
def _session_redis() -> Backend:
    """openai-agents-session 0.1.0"""
    from openai_agents_session import RedisSession

    client = _fake_redis()

    async def spoil(session: Any) -> None:
        await client().lset(f"openai_agents_session:{session.session_id}", -1, "{")

    async def keys(_: Any) -> Any:
        return sorted(await client().keys())

    return Backend(lambda id: RedisSession(id, client()), STORED, _ZERO | _SETTINGS | _UNREADABLE,
                   damage=spoil, effects=keys)


class _FakeDynamoDB:
    def __init__(self) -> None:
        self.items: dict[str, Any] = {}

    async def get_item(self, Key: Any, **_: Any) -> Any:
        found = self.items.get(Key["session_id"]["S"])
        return {"Item": found} if found else {}

    async def put_item(self, Item: Any, **_: Any) -> None:
        self.items[Item["session_id"]["S"]] = Item

    async def delete_item(self, Key: Any, **_: Any) -> None:
        self.items.pop(Key["session_id"]["S"], None)


@_named
def _session_dynamodb() -> Backend:
    """openai-agents-session 0.1.0"""
    from openai_agents_session import DynamoDBSession

    client = _FakeDynamoDB()
    return Backend(lambda id: DynamoDBSession(id, client, "sessions"), STORED, _ZERO | _SETTINGS,
                   effects=lambda _: sorted(client.items))


def _local(**options: Any) -> Backend:
    from agents import SQLiteSession
    from openai_agents_context_compaction import LocalCompactionSession

    files = Files()
    return Backend(lambda id: LocalCompactionSession(
        SQLiteSession(id, files.path(id)), **options), STORED, _SETTINGS,
        damage=files.damage, effects=files.effects)


@_named
def _local_compaction() -> Backend:
    """openai-agents-context-compaction 0.3.0, without a window"""
    return _local()


@_named
def _local_window() -> Backend:
    """openai-agents-context-compaction 0.3.0, with a window larger than any case's history"""
    return _local(window_size=1000)


class _Embedder:
    """Puts every text at one place: ranking is not what is asked about."""

    dim, metric, model_id = 4, "cosine", "one-place"

    def embed_with_cancel(self, texts: Any, _: Any) -> Any:
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


@_named
def _citadel() -> Backend:
    """citadeldb-openai-agents"""
    from citadeldb_openai_agents import CitadelSession

    files = Files()
    return Backend(lambda id: CitadelSession(id, str(files.path(id)), "a key",
                                             embedder=_Embedder()), STORED)
