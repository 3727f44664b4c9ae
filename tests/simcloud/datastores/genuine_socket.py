"""The socket in a file at which a genuine server is asked."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from time import monotonic, sleep
from typing import Final

PATIENCE_S: Final = 120.0
"""A server that does not answer for so long hangs; it is no measure of how fast one is."""


def wait_until_heard(path: Path, server: subprocess.Popen[bytes]) -> None:
    """Until the server takes connections: its file is there a moment before."""
    give_up_at = monotonic() + PATIENCE_S
    while True:
        assert server.poll() is None, f"{server.args} ended with code {server.returncode}"
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(path))
                return
            except OSError:
                assert monotonic() < give_up_at, f"{server.args} does not listen"
        sleep(0.005)


def answer_to(path: Path, data: bytes) -> bytes:
    """All that a server answers to bytes after which nothing more comes, until it hangs up."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path))
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has hung up already
        answer = b""
        try:
            while chunk := connection.recv(65536):
                answer += chunk
        except ConnectionResetError:
            pass  # it hung up without reading the rest
        return answer
