"""The databases of stores: a SQLite file, or a schema of a PostgreSQL database (extra ``postgresql``).

Both understand the same statements, with ``%s`` for each value. Every statement is a transaction of its own.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

BUSY_S: Final = 30.0
CONNECT_S: Final = 10
SCHEMA: Final = "aiopslab"
"""Schema of the tables in a PostgreSQL database, which may hold other things."""
LOCK: Final = 7_146_105
"""Number of the advisory lock under which tables are created: two benchmarks may begin at the same time."""

_URL: Final = re.compile(
    r"(?P<scheme>postgres(?:ql)?://)(?:(?P<user>[^:/?#@\s]*)(?::[^:/?#@\s]*)?(?P<at>@))?"
    r"(?P<place>[^/?#@\s]*(?:/[^/?#@\s]*)?)(?:\?(?P<query>[^#\s]*))?"
)
_SECRET_PARAMETERS: Final = (
    "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"
)  # fmt: skip


class DatabaseFailed(Exception):
    """A database cannot be opened, read or written; the message says why, without a password."""


class Database(Protocol):
    """An open database."""

    def create_tables(self, statements: Sequence[str]) -> None:
        """Create the tables of stores, unless they exist; raises ``DatabaseFailed``."""

    def read(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises ``DatabaseFailed``."""

    def change(self, statement: str, values: Sequence[object] = ()) -> int:
        """Change rows and return their number once they are stored; raises ``DatabaseFailed``."""

    def close(self) -> None:
        """Close the database."""


class SqliteDatabase:
    """A SQLite file."""

    def __init__(self, path: Path) -> None:
        try:
            self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        except sqlite3.Error as error:
            raise DatabaseFailed(str(error)) from None

    def create_tables(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self._execute(statement)

    def read(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._execute(statement, values)[0]

    def change(self, statement: str, values: Sequence[object] = ()) -> int:
        return self._execute(statement, values)[1]

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> tuple[list[tuple[Any, ...]], int]:
        try:
            done = self._connection.execute(statement.replace("%s", "?"), values)
            return done.fetchall(), done.rowcount
        except sqlite3.Error as error:
            raise DatabaseFailed(str(error)) from None

    def close(self) -> None:
        self._connection.close()


class PostgresDatabase:
    """A schema of a PostgreSQL database, over one connection."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise DatabaseFailed(
                "the package psycopg is missing: pip install 'aiopslab-in-a-box[postgresql]'"
            ) from None
        self._error = psycopg.Error
        try:
            self._connection = psycopg.connect(
                url, autocommit=True, connect_timeout=CONNECT_S, application_name="aiopslab"
            )
        except psycopg.Error as error:
            raise DatabaseFailed(
                f"{_describe(error)}; check the URL and the server, and set PGPASSWORD if it needs a password"
            ) from None
        self._execute(f"SET search_path TO {SCHEMA}")

    def create_tables(self, statements: Sequence[str]) -> None:
        try:
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
                if self.read("SELECT to_regclass('episodes')") != [(None,)]:
                    return
                # A user who may not create schemas can have theirs created by an administrator.
                if not self.read("SELECT 1 FROM pg_namespace WHERE nspname = %s", [SCHEMA]):
                    self._connection.execute(f"CREATE SCHEMA {SCHEMA}")
                for statement in statements:
                    self._connection.execute(statement)
        except self._error as error:
            raise DatabaseFailed(_describe(error)) from None

    def read(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._execute(statement, values).fetchall()
        return rows

    def change(self, statement: str, values: Sequence[object] = ()) -> int:
        return int(self._execute(statement, values).rowcount)

    def _execute(self, statement: str, values: Sequence[object] = ()) -> Any:
        try:
            return self._connection.execute(statement, values)
        except self._error as error:
            raise DatabaseFailed(_describe(error)) from None

    def close(self) -> None:
        self._connection.close()


def _describe(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def is_url(text: str) -> bool:
    """Whether a text is meant as the URL of a PostgreSQL database."""
    return text.startswith(("postgresql:/", "postgres:/"))


def remove_password(url: str) -> str:
    """Return a URL without its password, for files and messages; raises ``DatabaseFailed`` if it is not valid."""
    match = _URL.fullmatch(url)
    if match is None:  # where a password begins and ends is not certain, so that nothing of it is shown
        raise DatabaseFailed(
            "the URL is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE; "
            "in user and password, write %40 for @, %3A for : and %2F for /"
        )
    parameters = [
        part for part in (match["query"] or "").split("&") if part.partition("=")[0] not in _SECRET_PARAMETERS
    ]
    query = "&".join(part for part in parameters if part)
    user = f"{match['user']}@" if match["at"] else ""
    return f"{match['scheme']}{user}{match['place']}{'?' + query if query else ''}"
