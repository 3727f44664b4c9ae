"""``curl -sS URL`` as recorded lines use it, for machines that have none.

It waits until somebody listens: on a busy machine a port-forward may take longer than the line allows for.
"""

from __future__ import annotations

import socket
import sys
import time
from typing import Final
from urllib.parse import urlsplit

PATIENCE_S: Final = 120.0
PAUSE_S: Final = 0.05


def main() -> int:
    """Print the body of an answer; the exit code is curl's."""
    url = urlsplit(sys.argv[-1])
    host, port = url.hostname or "", url.port or 80
    with connect(host, port) as connection:
        connection.sendall(
            f"GET {url.path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    if not answer:
        sys.stderr.write("curl: (52) Empty reply from server\n")
        return 52
    sys.stdout.buffer.write(answer.partition(b"\r\n\r\n")[2])
    return 0


def connect(host: str, port: int) -> socket.socket:
    """A connection, once it is taken."""
    give_up_at = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection((host, port), PATIENCE_S)
        except ConnectionRefusedError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    sys.exit(main())
