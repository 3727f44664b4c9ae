"""Debian's redis-server, for tests that compare."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

from simcloud.datastores.redis.replies import encode
from tests.simcloud.datastores.genuine_socket import PATIENCE_S, answer_to, wait_until_heard


class Genuine:
    """Debian's server behind a socket in a file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "socket"
        self.socket = str(self._path)
        command = [
            "redis-server",
            "--port",
            "0",
            "--unixsocket",
            str(self._path),
            "--dir",
            str(folder),
            "--save",
            "",
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until_heard(self._path, self.process)

    def ask(self, commands: list[list[bytes]], keep: bool = False) -> list[Any]:
        """The replies to commands over a new connection, the data of earlier ones gone unless it is kept."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(str(self._path))
            stream = connection.makefile("rwb")
            stream.write(encode([b"ping" if keep else b"flushall"]))
            stream.write(b"".join(encode(list(words)) for words in commands))
            stream.flush()
            read_reply(stream)
            return [read_reply(stream) for _ in commands]

    def bytes(self, data: bytes) -> bytes:
        """What is answered to bytes, until the server hangs up or has nothing more to say."""
        return answer_to(self._path, data)


def read_reply(stream: Any) -> Any:
    """One reply, in a form that compares well."""
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
    if kind == b"*":
        return "nil array" if rest == b"-1" else [read_reply(stream) for _ in range(int(rest))]
    return line
