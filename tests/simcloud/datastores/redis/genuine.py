"""Debian's redis-server, for tests that compare."""

from __future__ import annotations

import io
import socket
import subprocess
from pathlib import Path
from typing import Any

from simcloud.datastores.redis.resp import encode
from tests.genuine import answer, as_bytes, as_text
from tests.simcloud.datastores.genuine_socket import PATIENCE_S, answer_to, wait_until_heard


class Genuine:
    """Debian's server behind a socket in a file, started when there is no recording of what it answers."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "socket"
        self._process: subprocess.Popen[bytes] | None = None
        snapshot = folder / "dump.rdb"
        self._snapshot = snapshot.read_bytes() if snapshot.exists() else b""

    @property
    def socket(self) -> str:
        """Where it listens."""
        if self._process is None:
            folder = self._path.parent
            command = ["redis-server", "--port", "0", "--unixsocket", str(self._path), "--dir", str(folder)]
            self._process = subprocess.Popen(
                [*command, "--save", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            wait_until_heard(self._path, self._process)
        return str(self._path)

    def stop(self) -> None:
        """End it, if it was started."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def ask(self, commands: list[list[bytes]], keep: bool = False) -> list[Any]:
        """The replies to commands over a new connection, the data of earlier ones gone unless it is kept."""
        shown = " | ".join(as_text(b" ".join(words)) for words in commands)
        replies = answer(shown, [commands, keep, self._snapshot], lambda: self._replies(commands, keep))
        stream = io.BytesIO(as_bytes(replies))
        return [read_reply(stream) for _ in commands]

    def _replies(self, commands: list[list[bytes]], keep: bool) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(self.socket)
            stream = _Heard(connection.makefile("rwb"))
            stream.write(encode([b"ping" if keep else b"flushall"]))
            stream.write(b"".join(encode(list(words)) for words in commands))
            stream.flush()
            read_reply(stream)
            stream.heard.clear()
            for _ in commands:
                read_reply(stream)
            return as_text(bytes(stream.heard))

    def bytes(self, data: bytes) -> bytes:
        """What is answered to bytes, until the server hangs up or has nothing more to say."""
        replies = answer(as_text(data), data, lambda: as_text(answer_to(Path(self.socket), data)))
        return as_bytes(replies)


class _Heard:
    """A stream that keeps what was read from it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.write, self.flush = stream.write, stream.flush
        self.heard = bytearray()

    def readline(self) -> bytes:
        line: bytes = self._stream.readline()
        self.heard += line
        return line

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self.heard += data
        return data


def read_reply(stream: Any) -> Any:
    """One reply, in a form that compares well."""
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
    if kind == b"*":
        return "nil array" if rest == b"-1" else [read_reply(stream) for _ in range(int(rest))]
    return line
