"""Requests for streams that are no WebSockets."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from simcloud.kubernetes.api.api import Api
from simcloud.server.kubernetes.app import KubernetesApp
from simcloud.server.kubernetes.live import Live
from simcloud.server.kubernetes.streams import needs_websocket
from tests.simcloud.server.kubernetes.streams.world import PodRuntime, make_world

WEBSOCKET_ONLY = (
    "this server streams over WebSocket only and the client asked for SPDY; use kubectl 1.31 or newer"
)


@pytest.fixture(scope="module")
def made() -> tuple[Api, PodRuntime]:
    return make_world()


def answer(
    made: tuple[Api, PodRuntime], path: str, query: str = "", upgrade: str = "SPDY/3.1"
) -> tuple[int, str]:
    api, _ = made
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/api/v1/namespaces/default/pods/{path}",
        "query_string": query.encode(),
        "headers": [(b"upgrade", upgrade.encode())] if upgrade else [],
        "server": ("localhost", 443),
        "scheme": "https",
    }
    refused = needs_websocket(Request(scope), KubernetesApp(api, Live(api.kernel)))
    return refused.code, refused.message


def test_one_who_asks_for_no_upgrade_is_told_that_one_is_needed(made: tuple[Api, PodRuntime]) -> None:
    assert answer(made, "ok/exec", "command=id&stdout=1", upgrade="") == (400, "Upgrade request required")


@pytest.mark.parametrize(
    ("path", "query", "code", "sentence"),
    [
        ("ok/exec", "command=id&stdout=1", 400, WEBSOCKET_ONLY),
        ("ok/portforward", "", 400, WEBSOCKET_ONLY),
        ("crash/exec", "command=id&stdout=1", 404, 'container not found ("crash")'),
        ("crash/attach", "stdout=1", 404, 'container not found ("crash")'),
        ("bigcpu/exec", "command=id&stdout=1", 400, "pod bigcpu does not have a host assigned"),
        ("bigcpu/portforward", "", 400, "pod bigcpu does not have a host assigned"),
        ("nosuch/exec", "command=id&stdout=1", 404, 'pods "nosuch" not found'),
        ("ok/exec", "command=id", 400, "you must specify at least 1 of stdin, stdout, stderr"),
    ],
)
def test_one_who_asks_for_spdy_hears_first_what_a_websocket_would_hear(
    made: tuple[Api, PodRuntime], path: str, query: str, code: int, sentence: str
) -> None:
    assert answer(made, path, query) == (code, sentence)


def test_nothing_is_run_for_one_who_is_refused(made: tuple[Api, PodRuntime]) -> None:
    api, runtime = made
    answer(made, "ok/exec", "command=touch&command=/tmp/touched&stdout=1&stdin=1")
    api.kernel.run_for(5)
    assert not runtime.machine.containers["ok/web"].files.exists("/tmp/touched")
