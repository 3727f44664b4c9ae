"""The social network when something is wrong: the words of each part, and that it recovers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from aiopslab.cloud.apps import CHARTS
from tests.aiopslab.apps.socialnet.living import Living

REFUSED = (500, "compost_post failure: connect() failed: Connection refused\n")
BARE = "jq 'del(.metadata.uid, .metadata.resourceVersion, .status)'"
CHART = f"{CHARTS}/social-network"
UPGRADE = f"helm upgrade social-network {CHART} -n test-social-network --reuse-values --set"


@pytest.fixture(scope="module")
def living() -> Any:
    return Living()


@pytest.fixture(autouse=True)
def well(living: Living) -> Any:
    yield
    living.world.run_for(45)
    assert written(living)[-1] == (200, "Successfully upload post\n")


def written(living: Living, times: int = 3) -> list[tuple[int, str]]:
    """Several posts, one after the other: connections that were made before serve once more."""
    return [living.compose(7, "hello @username_8 http://a.example") for _ in range(times)]


def target_port(living: Living, service: str, port: int) -> None:
    patch = f'[{{"op":"replace","path":"/spec/ports/0/targetPort","value":{port}}}]'
    living.typed(f"k patch svc {service} --type=json -p='{patch}'")
    living.world.run_for(12)


@pytest.mark.parametrize("service", ["user-service", "text-service"])
def test_a_wrong_target_port_is_refused_and_told_by_the_caller(living: Living, service: str) -> None:
    written(living, 1)
    target_port(living, service, 9999)
    try:
        assert written(living)[-1] == REFUSED
        thrift, boost = living.logs("compose-post-service", 2)
        assert thrift.startswith("Thrift: Mon Jan  5 09:0")
        assert thrift.endswith(f"TSocket::open() connect() <Host: {service} Port: 9090>: Connection refused")
        assert boost.endswith(f"<error>: (ClientPool.h:114:Pop) Failed to connect {service}-client")
        [line] = living.logs("nginx-thrift", 1)
        assert re.search(r"\[error\] (\d+)#\1: \*", line)
        words = "[lua] compose.lua:62: ComposePost(): compost_post failure: connect() failed: Connection refused, client: "
        assert words in line
        assert all(" 1/1 " in pod for pod in living.typed("k get pods --no-headers").splitlines())
    finally:
        target_port(living, service, 9090)


def test_posts_cannot_be_read_while_their_service_has_a_wrong_target_port(living: Living) -> None:
    target_port(living, "post-storage-service", 9999)
    try:
        for _ in range(2):
            home, user = living.read("home", 7), living.read("user", 7)
        assert home == (500, "Get home-timeline failure: connect() failed: Connection refused\n")
        assert user == (500, "Get user-timeline failure: connect() failed: Connection refused\n")
        assert written(living)[-1] == REFUSED
    finally:
        target_port(living, "post-storage-service", 9090)


def test_a_service_scaled_to_nothing_is_refused(living: Living) -> None:
    living.typed("k scale deploy user-service --replicas 0")
    living.world.run_for(45)
    assert written(living)[-1] == REFUSED
    names = {"user_name": "username_1", "followee_name": "username_2"}
    for verb in ("unfollow", "follow"):
        status, body = living.posted(f"/wrk2-api/user/{verb}", names)
        assert (status, body) == (500, f"{verb.capitalize()} Failed: connect() failed: Connection refused\n")
    *_, refused, logged = living.logs("social-graph-service", 3)
    assert refused.endswith(" <error>: (ClientPool.h:114:Pop) Failed to connect social-graph")
    place = "(SocialGraphHandler.h:888:FollowWithUsername)"
    assert logged.endswith(f" <warning>: {place} connect() failed: Connection refused")
    living.typed("k scale deploy user-service --replicas 1")


def test_without_the_first_service_nginx_answers_with_its_own_page(living: Living) -> None:
    living.typed("k scale deploy compose-post-service --replicas 0")
    living.world.run_for(45)
    status, body = written(living)[-1]
    assert status == 500
    assert "<center><h1>500 Internal Server Error</h1></center>\r\n<hr><center>openresty/" in body
    connect, aborted, *stack = living.logs("nginx-thrift", 12)
    assert "connect() failed (111: Connection refused), client: 10.244.0.1" in connect
    host = "compose-post-service.test-social-network.svc.cluster.local:9090"
    assert "lua entry thread aborted: runtime error: " in aborted
    assert f"TTransportException: Could not connect to {host} (connection refused)" in aborted
    assert stack[0] == "stack traceback:"
    frames = [re.fullmatch(r"\t(\S+):(\d+): in function '(\w+)'", frame) for frame in stack[3:-1]]
    assert [frame[3] for frame in frames if frame] == [
        "terror", "open", "init", "createClient", "connection", "ComposePost",
    ]  # fmt: skip
    assert stack[-2].startswith("\t...al/openresty/nginx/lua-scripts/wrk2-api/post/compose.lua:40: ")
    for frame, called in zip(
        frames, ("error", "terror", "open", "init", "createClient", "connection"), strict=True
    ):
        assert frame is not None
        path = frame[1].replace("...al", "/usr/local")
        line = living.typed(f"k exec deploy/nginx-thrift -- sh -c 'sed -n {frame[2]}p {path}'")
        assert f"{called}(" in line
    assert ":3: in main chunk, client: " in stack[-1]
    living.typed("k scale deploy compose-post-service --replicas 1")


def test_a_service_whose_name_is_gone_cannot_be_resolved(living: Living) -> None:
    living.typed(f"k get svc media-service -o json | {BARE} > media.json; k delete svc media-service")
    living.world.run_for(30)
    assert written(living)[-1] == (500, "compost_post failure: Could not resolve host for client socket.\n")
    thrift, _ = living.logs("compose-post-service", 2)
    assert thrift.endswith(
        "TSocket::open() getaddrinfo() <Host: media-service Port: 9090>Name or service not known"
    )
    living.typed("k apply -f media.json")


def test_a_node_that_is_not_there(living: Living) -> None:
    selector = '.spec.template.spec.nodeSelector = {"kubernetes.io/hostname": "extra-node"}'
    living.typed(
        f"k get deploy user-service -o json | {BARE} > user.json; jq '{selector}' user.json > lost.json"
    )
    living.typed("k delete deploy user-service; k apply -f lost.json")
    living.world.run_for(45)
    assert " Pending " in living.typed("k get pods -l service=user-service --no-headers")
    assert "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." in living.typed(
        "k get events"
    )
    assert written(living)[-1] == REFUSED
    living.typed("k delete deploy user-service; k apply -f user.json")


def test_tls_required_of_a_database_whose_client_has_none(living: Living) -> None:
    for name, text in living.app.chart_files.items():
        path = f"{CHART}/{name}"
        files = living.terminal.machine.host.files
        files.mkdir(path.rpartition("/")[0], parents=True)
        files.put(path, text.encode())
    told = living.typed(f"{UPGRADE} url-shorten-mongodb.tls.mode=requireTLS")
    assert "has been upgraded. Happy Helming!" in told
    living.typed("k rollout restart deploy url-shorten-mongodb")
    living.world.run_for(45)
    assert written(living)[-1] == (500, "compost_post failure: Failed to insert urls to MongoDB\n")
    mongo, upload = living.logs("url-shorten-service", 2)
    words = "No suitable servers found: `serverSelectionTimeoutMS` expired: [connection closed calling ismaster on"
    assert f"MongoDB error: {words} 'url-shorten-mongodb:27017']" in mongo
    assert upload.endswith("Failed to upload shortened urls from MongoDB")
    living.typed("k delete pod -l service=url-shorten-service")
    living.world.run_for(60)
    assert written(living)[-1] == REFUSED
    index, again = living.logs("url-shorten-service", 2)
    assert "(utils_mongodb.h:76:CreateIndex) Error in createIndexes: No suitable servers found: " in index
    assert again.endswith(
        "<error>: (UrlShortenService.cpp:65:main) Failed to create mongodb index, try again"
    )
    assert " 1/1 " in living.typed("k get pods -l service=url-shorten-service --no-headers")
    assert "only allow SSL connections" in living.typed("k logs deploy/url-shorten-mongodb --tail 5")
    living.typed(
        f"{UPGRADE} url-shorten-mongodb.tls.mode=disabled; k rollout restart deploy url-shorten-mongodb"
    )
