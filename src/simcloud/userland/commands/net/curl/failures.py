"""How curl tells that there was no response."""

from __future__ import annotations

from typing import Final

from simcloud.machine.network.http import HTTPS
from simcloud.userland.commands.net.exchange import ExchangeFailed, Failure, Url

WRONG_TLS: Final = "OpenSSL/3.0.15: error:0A00010B:SSL routines::wrong version number"


def failure_words(url: Url, failed: ExchangeFailed, elapsed_ms: int, total_s: float) -> tuple[int, str]:
    """The status and the sentence; ``total_s`` is the limit of --max-time, 0 for none."""
    failure = failed.failure
    connect = f"Failed to connect to {url.host} port {url.port} after {elapsed_ms} ms"
    if failure is Failure.CONNECT_TIMED_OUT:
        if total_s and elapsed_ms >= int(total_s * 1000):
            return 28, f"Connection timed out after {elapsed_ms} milliseconds"
        return 28, f"{connect}: Timeout was reached"
    if failure is Failure.MISUNDERSTOOD and url.scheme == HTTPS:
        return 35, WRONG_TLS
    words = {
        Failure.NO_HOST: (6, f"Could not resolve host: {url.host}"),
        Failure.REFUSED: (7, f"{connect}: Couldn't connect to server"),
        Failure.UNREACHABLE: (7, f"{connect}: Couldn't connect to server"),
        Failure.KERNEL_TIMED_OUT: (28, f"{connect}: Couldn't connect to server"),
        Failure.TIMED_OUT: (28, f"Operation timed out after {elapsed_ms} milliseconds with 0 bytes received"),
        Failure.MISUNDERSTOOD: (52, "Empty reply from server"),
        Failure.TALKATIVE: (1, "Received HTTP/0.9 when not allowed"),
        Failure.EMPTY: (52, "Empty reply from server"),
        Failure.REDIRECTS: (47, str(failed)),
        Failure.RESET: (56, f"Recv failure: {failed}"),
    }
    return words[failure]
