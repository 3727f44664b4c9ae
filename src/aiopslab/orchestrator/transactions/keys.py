"""Keys and settings of Redis before a command, and how they are restored by redis-cli.

A command of Redis names its keys, so only these are read and restored, with their type and their time to live.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Final

from aiopslab.generators import OperationFailed, Site

READERS: Final[Mapping[str, str]] = {
    "string": "GET {key}",
    "list": "LRANGE {key} 0 -1",
    "set": "SMEMBERS {key}",
    "hash": "HGETALL {key}",
    "zset": "ZRANGE {key} 0 -1 WITHSCORES",
}
WRITERS: Final[Mapping[str, str]] = {
    "string": "SET",
    "list": "RPUSH",
    "set": "SADD",
    "hash": "HSET",
    "zset": "ZADD",
}
NONE: Final = "none"
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER: Final = re.compile(r"-?\d+")


class KeyRecord:
    """Keys and settings of one Redis, as they were before the first command that changes them."""

    def __init__(self, site: Site, store: str) -> None:
        self.store = store
        self._site = site
        self._keys: dict[str, tuple[str, tuple[str, ...], int]] = {}
        """Type, values as redis-cli quotes them, and time to live in milliseconds, -1 for none."""
        self._settings: dict[str, str] = {}

    def record(self, keys: Sequence[str], setting: str) -> None:
        """Record keys and a setting, unless they are known; raises ``OperationFailed``."""
        for key in keys:
            if key not in self._keys:
                self._keys[key] = self._read(key)
        if setting and setting not in self._settings:
            values = _QUOTED.findall(self._ask(f"CONFIG GET {setting}"))
            if len(values) != 2:
                raise OperationFailed(f"{self.store} has no setting {setting}")
            self._settings[setting] = values[1]

    def restore(self) -> list[str]:
        """Write settings and keys as they were; return what could not be restored. A setting may forbid to write keys."""
        try:
            for name, value in self._settings.items():
                self._ask(f"CONFIG SET {name} {value}")
            for key, state in self._keys.items():
                if not _is_same(self._read(key), state):
                    self._write(key, *state)
            left = [key for key, state in self._keys.items() if not _is_same(self._read(key), state)]
        except OperationFailed as error:
            return [f"keys of {self.store}: {error}"]
        return [f"key {key} of {self.store}" for key in left]

    def _read(self, key: str) -> tuple[str, tuple[str, ...], int]:
        name = _quote_key(key)
        kind = self._ask(f"TYPE {name}").strip()
        if kind == NONE:
            return NONE, (), -1
        if kind not in READERS:
            raise OperationFailed(f"{key} is a {kind}, which cannot be recorded")
        values = tuple(_QUOTED.findall(self._ask(READERS[kind].format(key=name))))
        lifetime = _NUMBER.search(self._ask(f"PTTL {name}"))
        return kind, tuple(sorted(values)) if kind == "set" else values, int(lifetime[0]) if lifetime else -1

    def _write(self, key: str, kind: str, values: Sequence[str], lifetime_ms: int) -> None:
        name = _quote_key(key)
        self._ask(f"DEL {name}")
        if kind == NONE:
            return
        ordered = list(values)
        if kind == "zset":  # it is read as member and score, and written the other way round
            ordered = [part for pair in zip(values[1::2], values[::2], strict=True) for part in pair]
        self._ask(f"{WRITERS[kind]} {name} {' '.join(ordered)}")
        if lifetime_ms >= 0:
            self._ask(f"PEXPIRE {name} {lifetime_ms}")

    def _ask(self, line: str) -> str:
        """Run a command of Redis, whose quotation redis-cli understands on its standard input."""
        login = self._site.app.component(self.store).login
        command = f"exec -i --pod-running-timeout=1s deploy/{self.store} -- sh -c {quote(f'redis-cli --no-raw {login}')}"
        output = self._site.kubectl(f"{command} <<'END_OF_TEXT'\n{line}\nEND_OF_TEXT")
        if output.startswith(("(error)", "ERR", "Could not connect")):
            raise OperationFailed(output.strip())
        return output


def _is_same(now: tuple[str, tuple[str, ...], int], before: tuple[str, tuple[str, ...], int]) -> bool:
    """Whether a key is as it was; its time to live has become shorter meanwhile."""
    return now[:2] == before[:2] and (now[2] >= 0) == (before[2] >= 0)


def _quote_key(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
