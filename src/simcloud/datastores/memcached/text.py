"""Memcached's text protocol.

Like the genuine server, a session holds responses back while the data of a command is incomplete, and reads
exactly the announced number of bytes as data, whatever they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from simcloud.datastores.memcached.cache import Cache, CacheError, TooLarge
from simcloud.datastores.memcached.settings import Settings
from simcloud.datastores.memcached.slabs import Item
from simcloud.datastores.memcached.stats import Connections, key_dump, statistics

KEY_MAX_BYTES: Final = 250
LINE_MAX_BYTES: Final = 2048
GET_LINE_MAX_BYTES: Final = 1 << 20
OUTPUT_MAX_BYTES: Final = 16 << 20
MAX_32: Final = (1 << 32) - 1
MAX_64: Final = (1 << 64) - 1
INT_MAX: Final = (1 << 31) - 1

ERROR: Final = "ERROR"
BAD_FORMAT: Final = "CLIENT_ERROR bad command line format"
BAD_CHUNK: Final = "CLIENT_ERROR bad data chunk"
BAD_EXPIRY: Final = "CLIENT_ERROR invalid exptime argument"
DELETE_USAGE: Final = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]"


class Announced(Struct):
    """A storage command whose data has not arrived yet; without a key the data is discarded."""

    verb: str
    key: bytes | None
    flags: int
    expiry: int
    length: int
    quiet: bool


class TextSession:
    """A connection in the text protocol. ``closed`` is set when the server closes it."""

    def __init__(self, cache: Cache, settings: Settings, connections: Connections) -> None:
        self.closed = False
        self.commands = 0
        self._cache = cache
        self._settings = settings
        self._connections = connections
        self._buffer = b""
        self._at = 0
        self._output: list[bytes] = []
        self._output_bytes = 0
        self._announced: Announced | None = None

    def feed(self, data: bytes) -> bytes:
        """Take what came over the connection; what is to be sent back, if anything yet."""
        self._buffer = self._buffer[self._at :] + data if self._at < len(self._buffer) else data
        self._at = 0
        while not self.closed and self._step():
            pass
        if self._announced is not None and not self.closed:
            return b""
        output, self._output, self._output_bytes = b"".join(self._output), [], 0
        return output

    def _step(self) -> bool:
        if self._announced is not None:
            return self._take_data(self._announced)
        end = self._buffer.find(b"\n", self._at)
        line = self._buffer[self._at : end if end >= 0 else None]
        if end < 0:
            is_get = line.lstrip(b" ").startswith((b"get ", b"gets "))
            self.closed = len(line) > (GET_LINE_MAX_BYTES if is_get else LINE_MAX_BYTES)
            return False
        self._at = end + 1
        self.commands += 1
        self._run(line[:-1] if len(line) > 1 and line.endswith(b"\r") else line)
        return True

    def _take_data(self, command: Announced) -> bool:
        wanted = command.length + 2
        here = len(self._buffer) - self._at
        if command.key is None:
            self._at += min(wanted, here)
            command.length -= min(wanted, here)
            self._announced = command if wanted > here else None
            return wanted <= here
        if here < wanted:
            return False
        data = self._buffer[self._at : self._at + wanted]
        self._at += wanted
        self._announced = None
        self._say(self._store_data(command, command.key, data), command.quiet)
        return True

    def _store_data(self, command: Announced, key: bytes, data: bytes) -> str:
        if not data.endswith(b"\r\n"):
            return BAD_CHUNK
        try:
            return self._cache.store(command.verb, key, data[:-2], command.flags, command.expiry)
        except CacheError as error:
            return str(error)

    def _say(self, line: str, quiet: bool = False) -> None:
        if not quiet:
            self._put(line.encode() + b"\r\n")

    def _put(self, data: bytes) -> None:
        """Queue a response; a client whose pending responses exceed the memory limit is disconnected."""
        self._output.append(data)
        self._output_bytes += len(data)
        if self._output_bytes > OUTPUT_MAX_BYTES:
            self.closed = True

    # -- commands ------------------------------------------------------------------------------

    def _run(self, line: bytes) -> None:
        words = [word for word in line.partition(b"\0")[0].split(b" ") if word]
        handler = HANDLERS.get(words[0]) if words else None
        if handler is not None:
            handler(self, words)
        elif len(words) >= 2 and words[-1].startswith(b"HTTP/"):
            self.closed = True
        else:
            self._say(ERROR)

    def _get(self, words: list[bytes]) -> None:
        keys, with_cas = words[1:], words[0] == b"gets"
        if not keys:
            self._say(ERROR)
            return
        if any(len(key) > KEY_MAX_BYTES for key in keys):
            self._say(BAD_FORMAT)
            return
        for key in keys:
            if self.closed:
                return
            item = self._cache.get(key)
            if item is not None:
                self._put(_value(item, with_cas))
        self._put(b"END\r\n")

    def _store(self, words: list[bytes]) -> None:
        if len(words) not in (5, 6):
            self._say(ERROR)
            return
        quiet = words[-1] == b"noreply"
        flags, expiry, length = _natural(words[2]), _integer(words[3]), _integer(words[4])
        if len(words[1]) > KEY_MAX_BYTES or flags is None or expiry is None or length is None:
            self._say(BAD_FORMAT, quiet)
            return
        if not 0 <= length <= INT_MAX - 2:
            self._say(BAD_FORMAT, quiet)
            return
        flags &= MAX_32
        key: bytes | None = words[1]
        if not self._cache.fits(words[1], flags, length):
            self._say(str(TooLarge()), quiet)
            self._cache.refuse_too_large(words[1] if words[0] == b"set" else None)
            key = None
        self._announced = Announced(words[0].decode(), key, flags, expiry, length, quiet)

    def _delete(self, words: list[bytes]) -> None:
        if not 2 <= len(words) <= 4:
            self._say(ERROR)
            return
        quiet = len(words) > 2 and words[-1] == b"noreply"
        if len(words[1]) > KEY_MAX_BYTES:
            self._say(BAD_FORMAT, quiet)
        elif len(words) > 2 and words[2] != b"0" and not (len(words) == 3 and quiet):
            self._say(DELETE_USAGE, quiet)
        else:
            self._say("DELETED" if self._cache.delete(words[1]) else "NOT_FOUND", quiet)

    def _flush_all(self, words: list[bytes]) -> None:
        if len(words) > 3:
            self._say(ERROR)
            return
        quiet = words[-1] == b"noreply"
        delay = 0
        if len(words) == (3 if quiet else 2):
            given = _integer(words[1])
            if given is None:
                self._say(BAD_EXPIRY, quiet)
                return
            delay = given
        self._cache.flush(delay)
        self._say("OK", quiet)

    def _version(self, words: list[bytes]) -> None:
        self._say(f"VERSION {self._settings.version}")

    def _quit(self, words: list[bytes]) -> None:
        self.closed = True

    def _stats(self, words: list[bytes]) -> None:
        answer = statistics(self._cache, self._settings, self._connections, words[1:])
        self._put(answer)

    def _crawler(self, words: list[bytes]) -> None:
        if words[1:] == [b"metadump", b"all"]:
            self._put(key_dump(self._cache))
        else:
            self._say(ERROR)


Handler = Callable[[TextSession, list[bytes]], None]
HANDLERS: Final[dict[bytes, Handler]] = {
    b"get": TextSession._get,
    b"gets": TextSession._get,
    **dict.fromkeys((b"set", b"add", b"replace"), TextSession._store),
    b"delete": TextSession._delete,
    b"flush_all": TextSession._flush_all,
    b"version": TextSession._version,
    b"quit": TextSession._quit,
    b"stats": TextSession._stats,
    b"lru_crawler": TextSession._crawler,
}


def _value(item: Item, with_cas: bool) -> bytes:
    unique = b" %d" % item.cas if with_cas else b""
    return b"VALUE %s %d %d%s\r\n%s\r\n" % (item.key, item.flags, len(item.value), unique, item.value)


def _integer(word: bytes) -> int | None:
    """Return a signed number as strtol reads it, cut to 32 bits."""
    digits = word[1:] if word[:1] in (b"-", b"+") else word
    if not digits.isdigit() or len(digits) > 19 or int(digits) >= 1 << 63:
        return None
    number = -int(digits) if word.startswith(b"-") else int(digits)
    return ((number + INT_MAX + 1) & MAX_32) - INT_MAX - 1


def _natural(word: bytes) -> int | None:
    """Return an unsigned number of 64 bits."""
    digits = word.removeprefix(b"+")
    if not digits.isdigit() or len(digits) > 20:
        return None
    number = int(digits)
    return number if number <= MAX_64 else None
