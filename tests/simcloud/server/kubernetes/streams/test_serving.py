"""WebSockets as bare as a client can make them: refusals, rights, broken messages and pressure."""

from __future__ import annotations

import base64
import json
import ssl
import time
from contextlib import AbstractContextManager
from http.client import HTTPSConnection
from pathlib import Path

import pytest
import websocket
import yaml
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from simcloud.kubernetes.api.access.users import User
from simcloud.kubernetes.kubelet.streams.sessions import ContainerSession
from simcloud.server.kubernetes.streams.channels import MESSAGE_BYTES
from simcloud.server.kubernetes.streams.flow import HIGH_BYTES
from tests.simcloud.server.kubernetes.served import PATIENCE_S
from tests.simcloud.server.kubernetes.streams.conftest import World
from tests.simcloud.server.kubernetes.streams.world import make_world, put, serving

POD = "/api/v1/namespaces/default/pods/ok"
WAIT_FOR_RELEASE = "command=sh&command=-c&command=until+rm+/tmp/go+2>/dev/null;do+sleep+0.01;done"


def dial(
    world: World, path: str, *protocols: str, token: str | None = None
) -> AbstractContextManager[ClientConnection]:
    text = (world.folder / "kubeconfig").read_text()
    authority = yaml.safe_load(text)["clusters"][0]["cluster"]["certificate-authority-data"]
    trust = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    # This client reads in a thread and writes in another, which older Pythons do not guard against each other. TLS 1.3 sends
    # tickets after its handshake: an answer has been lost, probably because these were read beside the first write.
    trust.maximum_version = ssl.TLSVersion.TLSv1_2
    token = world.server.token if token is None else token
    return connect(
        world.server.url.replace("https", "wss") + path,
        ssl=trust,
        subprotocols=list(protocols) or None,
        additional_headers={"Authorization": f"Bearer {token}"} if token else {},
        compression=None,
        max_size=None,
        open_timeout=PATIENCE_S,
    )


def refusal(
    world: World, path: str, *protocols: str, token: str | None = None
) -> tuple[int, dict[str, object]]:
    """The HTTP answer to a handshake."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    connection = HTTPSConnection("127.0.0.1", world.server.port, timeout=PATIENCE_S, context=trusting)
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": ", ".join(protocols),
        "Authorization": f"Bearer {world.server.token if token is None else token}",
    }
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    document = json.loads(response.read())
    connection.close()
    return response.status, document


def talk(socket: ClientConnection) -> dict[int, bytes]:
    """All that comes, by channel, until the server closes."""
    heard: dict[int, bytearray] = {}
    try:
        while True:
            message = socket.recv(PATIENCE_S)
            assert isinstance(message, bytes)
            heard.setdefault(message[0], bytearray()).extend(message[1:])
    except ConnectionClosed:
        return {channel: bytes(data) for channel, data in heard.items()}


def release(world: World) -> None:
    """End the command that waits for it."""
    with dial(world, f"{POD}/exec?command=touch&command=/tmp/go&stdout=1", "v5.channel.k8s.io") as socket:
        talk(socket)


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
def test_the_channels_of_a_command(world: World, protocol: str) -> None:
    path = f"{POD}/exec?command=sh&command=-c&command=echo+out;echo+err+>%262;exit+3&stdout=1&stderr=1"
    with dial(world, path, protocol) as socket:
        assert socket.subprotocol == protocol
        heard = talk(socket)
        assert socket.close_code == 1000
    status = json.loads(heard.pop(3))
    assert heard == {1: b"out\n", 2: b"err\n"}
    assert status["details"] == {"causes": [{"reason": "ExitCode", "message": "3"}]}


def test_the_first_message_says_that_the_connection_stands(world: World) -> None:
    with dial(world, f"{POD}/exec?command=true&stderr=1", "v4.channel.k8s.io") as socket:
        assert socket.recv(PATIENCE_S) == b"\2"


def test_base64_is_text(world: World) -> None:
    with dial(world, f"{POD}/exec?command=cat&stdin=1&stdout=1", "base64.channel.k8s.io") as socket:
        assert socket.recv(PATIENCE_S) == "1"
        socket.send("0" + base64.b64encode(b"hello").decode())
        assert socket.recv(PATIENCE_S) == "1" + base64.b64encode(b"hello").decode()


def test_one_who_names_no_variant_gets_bare_sentences(world: World) -> None:
    with dial(world, f"{POD}/exec?command=false&stdout=1") as socket:
        assert socket.subprotocol is None
        heard = talk(socket)
    assert heard[3] == b"command terminated with non-zero exit code: command terminated with exit code 1"


def test_what_is_not_wanted_is_not_sent(world: World) -> None:
    path = f"{POD}/exec?command=sh&command=-c&command=echo+out;echo+err+>%262&stderr=1"
    with dial(world, path, "v4.channel.k8s.io") as socket:
        assert set(talk(socket)) == {2, 3}


def test_input_that_was_not_asked_for_and_strange_channels_are_passed_over(world: World) -> None:
    with dial(world, f"{POD}/exec?{WAIT_FOR_RELEASE}&stdout=1", "v5.channel.k8s.io") as socket:
        for message in (
            b"\0hello",
            b"\x09?",
            b"",
            b"\4not json",
            b'\4{"Width": -1, "Height": 1}',
            b"\xff\x07",
            "text",
        ):
            socket.send(message)
        release(world)
        assert json.loads(talk(socket)[3])["status"] == "Success"


def test_a_terminal_is_resized(world: World) -> None:
    with dial(world, f"{POD}/exec?command=cat&stdin=1&stdout=1&tty=1", "v5.channel.k8s.io") as socket:
        socket.send(b'\4{"Width":132,"Height":43}')
        socket.send(b"\0hi\r")
        socket.send(b"\0\x04")
        assert talk(socket)[1] == b"hi\r\nhi\r\n"
    session = world.runtime.sessions[-1]
    assert isinstance(session, ContainerSession)
    assert session.size == (132, 43)


@pytest.mark.parametrize(
    ("protocol", "message", "code"),
    [
        ("v4.base64.channel.k8s.io", "0!!!", 1007),
        ("v4.channel.k8s.io", bytes(MESSAGE_BYTES + 1), 1009),
    ],
)
def test_broken_messages_end_the_connection_and_tell_the_process(
    world: World, protocol: str, message: bytes | str, code: int
) -> None:
    with dial(world, f"{POD}/exec?command=cat&stdin=1&stdout=1", protocol) as socket:
        socket.send(message)
        talk_or_text(socket)
        assert socket.close_code == code
    assert stopped(world)


def test_noise_in_a_tunnel_ends_it(world: World) -> None:
    noisy = websocket.create_connection(
        world.server.url.replace("https", "wss") + f"{POD}/portforward",
        header=[
            "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io",
            f"Authorization: Bearer {world.server.token}",
        ],
        sslopt={"cert_reqs": ssl.CERT_NONE},
        timeout=PATIENCE_S,
    )
    noisy.send_binary(b"GET / HTTP/1.1\r\n\r\n")
    opcode, data = noisy.recv_data()
    noisy.shutdown()
    assert (opcode, int.from_bytes(data[:2], "big")) == (websocket.ABNF.OPCODE_CLOSE, 1002)


@pytest.mark.parametrize(
    ("path", "code", "sentence"),
    [
        (f"{POD}/exec?command=ls", 400, "you must specify at least 1 of stdin, stdout, stderr"),
        (f"{POD}/exec?command=ls&stdout=1&container=x", 400, "container x is not valid for pod ok"),
        ("/api/v1/namespaces/default/pods/no/exec?command=ls&stdout=1", 404, 'pods "no" not found'),
        ("/api/v1/namespaces/default/pods/crash/attach?stdout=1", 404, 'container not found ("crash")'),
        (
            "/api/v1/namespaces/default/pods/bigcpu/exec?command=ls&stdout=1",
            400,
            "pod bigcpu does not have a host assigned",
        ),
        (
            "/api/v1/namespaces/default/pods/two/exec?command=ls&stdout=1",
            400,
            "a container name must be specified for pod two, choose one of: [app side]",
        ),
        (f"{POD}/portforward", 400, 'query parameter "port" is required'),
        (f"{POD}/nosuch", 404, "the server could not find the requested resource"),
    ],
)
def test_refusals_are_answers_to_the_handshake(world: World, path: str, code: int, sentence: str) -> None:
    answered, status = refusal(world, path, "v4.channel.k8s.io")
    assert (answered, status["kind"], status["message"], status["code"]) == (code, "Status", sentence, code)


def test_an_unknown_variant_is_refused(world: World) -> None:
    answered, status = refusal(world, f"{POD}/exec?command=ls&stdout=1", "v9.channel.k8s.io")
    assert answered == 400
    assert str(status["message"]).startswith("requested protocol(s) are not supported: [v9.channel.k8s.io]; ")


def test_a_token_that_is_not_known(world: World) -> None:
    assert refusal(world, f"{POD}/exec?command=ls&stdout=1", "v4.channel.k8s.io", token="no")[0] == 401


def test_a_browser_hides_its_token_among_the_protocols(world: World) -> None:
    hidden = base64.urlsafe_b64encode(world.server.token.encode()).decode().rstrip("=")
    offered = (f"base64url.bearer.authorization.k8s.io.{hidden}", "v4.channel.k8s.io")
    with dial(world, f"{POD}/exec?command=id&stdout=1", *offered, token="") as socket:
        assert socket.subprotocol == "v4.channel.k8s.io"
        assert talk(socket)[1].startswith(b"uid=0")


@pytest.mark.parametrize(("verbs", "missing"), [([], "get"), (["create"], "get"), (["get"], "create")])
def test_both_verbs_are_needed(world: World, verbs: list[str], missing: str) -> None:
    user = grant(world, verbs)
    answered, status = refusal(world, f"{POD}/exec?command=ls&stdout=1", "v4.channel.k8s.io", token=user)
    assert (answered, status["reason"]) == (403, "Forbidden")
    assert str(status["message"]).startswith(
        f'pods "ok" is forbidden: User "{user}" cannot {missing} resource "pods/exec" in API group "" in the '
        'namespace "default"'
    )


def test_both_verbs_are_enough(world: World) -> None:
    user = grant(world, ["get", "create"])
    with dial(world, f"{POD}/exec?command=id&stdout=1", "v4.channel.k8s.io", token=user) as socket:
        assert talk(socket)[1].startswith(b"uid=0")


def test_a_process_that_does_not_read_holds_its_client_back(world: World) -> None:
    with dial(world, f"{POD}/exec?{WAIT_FOR_RELEASE}&stdin=1&stdout=1", "v5.channel.k8s.io") as socket:
        session = world.runtime.sessions[-1]
        piece = b"\0" + bytes(HIGH_BYTES)
        for _ in range(4):
            socket.send(piece)
        time.sleep(0.2)
        assert session.pending_bytes <= 2 * HIGH_BYTES
        release(world)
        assert json.loads(talk(socket)[3])["status"] == "Success"


def test_a_client_that_does_not_read_holds_its_process_back(world: World) -> None:
    size = 20_000_000
    path = f"{POD}/exec?command=head&command=-c&command={size}&command=/dev/zero&stdout=1&stderr=1"
    with dial(world, path, "v5.channel.k8s.io") as socket:
        session = world.runtime.sessions[-1]
        assert isinstance(session, ContainerSession)
        deadline = time.monotonic() + PATIENCE_S
        while session.process is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.5)  # in which it could write all of it
        assert session.process is not None
        assert session.process.alive
        assert len(talk(socket)[1]) == size


def test_a_client_that_goes_while_it_is_held_back_is_noticed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simcloud.server.kubernetes.streams.flow.PROBE_S", 0.05)
    with dial(world, f"{POD}/exec?command=sleep&command=60&stdin=1&stdout=1", "v5.channel.k8s.io") as socket:
        socket.send(b"\0" + bytes(2 * HIGH_BYTES))
        time.sleep(0.1)
    assert stopped(world)


def test_a_server_that_stops_ends_its_streams(tmp_path: Path) -> None:
    api, runtime = make_world()
    with serving(tmp_path, api) as server:
        other = World(api, runtime, server, tmp_path)
        dialled = dial(other, f"{POD}/exec?command=cat&stdin=1&stdout=1", "v5.channel.k8s.io")
        socket = dialled.__enter__()
        assert socket.recv(PATIENCE_S) == b"\1"
    talk(socket)
    assert stopped(other)


def talk_or_text(socket: ClientConnection) -> None:
    try:
        while True:
            socket.recv(PATIENCE_S)
    except ConnectionClosed:
        pass


def stopped(world: World) -> bool:
    """Whether the last session is told soon that its client has gone."""
    session = world.runtime.sessions[-1]
    deadline = time.monotonic() + PATIENCE_S
    while session.on_end is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    return session.on_end is None


def grant(world: World, verbs: list[str]) -> str:
    """A user, whose name is also their token, with these verbs on exec."""
    name = f"user-{'-'.join(verbs) or 'nothing'}"
    group = "rbac.authorization.k8s.io"
    world.api.tokens.accept(name, User(name))
    rules = [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": verbs}] if verbs else []
    kinds = {"apiVersion": f"{group}/v1", "metadata": {"name": name}}
    subject = {"kind": "User", "apiGroup": group, "name": name}
    role = {"kind": "ClusterRole", "apiGroup": group, "name": name}
    put(world.api, "clusterroles", {**kinds, "kind": "ClusterRole", "rules": rules})
    put(
        world.api,
        "clusterrolebindings",
        {**kinds, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": role},
    )
    return name
