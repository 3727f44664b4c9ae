"""Debian's redis-server, for tests that compare."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from aiopslab.service.datastores.redis.replies import encode


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
        give_up_at = monotonic() + 10
        while not self._path.exists() and monotonic() < give_up_at:
            sleep(0.005)

    def ask(self, commands: list[list[bytes]], keep: bool = False) -> list[Any]:
        """The replies to commands over a new connection, the data of earlier ones gone unless it is kept."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self._path))
            stream = connection.makefile("rwb")
            stream.write(encode([b"ping" if keep else b"flushall"]))
            stream.write(b"".join(encode(list(words)) for words in commands))
            stream.flush()
            read_reply(stream)
            return [read_reply(stream) for _ in commands]

    def bytes(self, data: bytes) -> bytes:
        """What is answered to bytes, until the server hangs up or has nothing more to say."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._path))
            connection.sendall(data)
            answer = b""
            connection.settimeout(0.3)
            try:
                while chunk := connection.recv(65536):
                    answer += chunk
            except (TimeoutError, ConnectionResetError):
                pass
            return answer


def read_reply(stream: Any) -> Any:
    """One reply, in a form that compares well."""
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
    if kind == b"*":
        return "nil array" if rest == b"-1" else [read_reply(stream) for _ in range(int(rest))]
    return line
