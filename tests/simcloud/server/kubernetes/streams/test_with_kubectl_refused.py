"""kubectl asks again by SPDY when a WebSocket was refused: what it prints must be the reason all the same."""

from __future__ import annotations

import pytest

from tests.simcloud.server.kubernetes.served import Served


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("exec", "crash", "--", "ls"), 'unable to upgrade connection: container not found ("crash")'),
        (("attach", "crash"), 'unable to upgrade connection: container not found ("crash")'),
        (
            ("exec", "bigcpu", "--", "ls"),
            "unable to upgrade connection: pod bigcpu does not have a host assigned",
        ),
    ],
)
def test_the_reason_is_what_the_genuine_server_gives(
    client: Served, arguments: tuple[str, ...], sentence: str
) -> None:
    done = client.kubectl(*arguments)
    assert (done.stderr.splitlines()[-1], done.exit) == (f"error: {sentence}", 1)
