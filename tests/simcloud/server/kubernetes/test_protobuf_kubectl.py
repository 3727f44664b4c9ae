"""Genuine kubectl against a server that keeps what it is sent and answers in JSON or in protobuf."""

from __future__ import annotations

import base64
import json
import shlex
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from simcloud.kubernetes.api.errors import NoSuchPath
from simcloud.server.kubernetes.protobuf import decode, encode, encode_watch_event
from tests.simcloud.server.kubernetes.served import CLIENTS, PATIENCE_S

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"

pytestmark = pytest.mark.differential("kubectl")

HERE = Path(__file__)
RECORDED = [
    json.loads(line) for line in HERE.with_name("test_protobuf_bodies.jsonl").read_text().splitlines()
]
OBJECTS = {
    obj["kind"]: obj
    for obj in map(json.loads, HERE.with_name("test_protobuf_objects.jsonl").read_text().splitlines())
}
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

CONTAINER = {
    "name": "c",
    "image": "i",
    "livenessProbe": {"httpGet": {"port": "http", "path": "/"}},
    "resources": {"limits": {"cpu": "0.5", "memory": "1Gi"}},
    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": False}}}],
    "securityContext": {"runAsUser": 0, "capabilities": {"drop": ["ALL"]}},
}
POD_SPEC = {
    "restartPolicy": "Never",
    "containers": [CONTAINER],
    "volumes": [{"name": "e", "emptyDir": {}}, {"name": "h", "hostPath": {"path": "/x"}}],
    "securityContext": {"supplementalGroups": [1, 2000]},
    "terminationGracePeriodSeconds": 0,
}
THERE = {
    "/apis/batch/v1/namespaces/default/cronjobs/x": {
        "kind": "CronJob",
        "apiVersion": "batch/v1",
        "metadata": {"name": "x", "namespace": "default", "uid": "u"},
        "spec": {
            "schedule": "* * * * *",
            "jobTemplate": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"backoffLimit": 0, "template": {"spec": POD_SPEC}},
            },
        },
    },
    "/apis/apps/v1/namespaces/default/deployments/web": {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"spec": {"containers": [CONTAINER]}},
        },
    },
}
RBAC = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r, labels: {a: b}}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
- {nonResourceURLs: ["/metrics"], verbs: [get]}
"""


class Recorder(ThreadingHTTPServer):
    """Holds objects by path and keeps the bodies it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.there: dict[str, dict[str, Any]] = dict(THERE)
        self.watched: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self.in_protobuf = False
        self.sent_in_protobuf = 0


class Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path in {"/api", "/apis"}:
            self.send(200, json.dumps(discovery(core=path == "/api")).encode(), DISCOVERY)
        elif "watch=true" in query:
            frames = [encode_watch_event("ADDED", obj) for obj in self.server.watched]
            self.send(200, b"".join(frames), f"{CONTENT_TYPE};stream=watch")
        elif path in self.server.there:
            self.answer(200, self.server.there[path])
        else:
            self.answer(404, NoSuchPath().status())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        self.answer(201, decode(body))

    def answer(self, code: int, obj: dict[str, Any]) -> None:
        if self.server.in_protobuf and CONTENT_TYPE in self.headers.get("Accept", ""):
            self.server.sent_in_protobuf += 1
            self.send(code, encode(obj), CONTENT_TYPE)
        else:
            self.send(code, json.dumps(obj).encode(), "application/json")

    def send(self, code: int, body: bytes, content_type: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def discovery(core: bool) -> dict[str, Any]:
    groups = json.loads((files("simcloud.kubernetes.api") / "data" / "resources.json").read_text())
    items = [
        {"metadata": {"name": group["group"]} if group["group"] else {}, "versions": group["versions"]}
        for group in groups
        if (group["group"] == "") is core
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


@pytest.fixture
def server() -> Iterator[Recorder]:
    server = Recorder()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "b.bin").write_bytes(bytes(range(256)))
    (tmp_path / "env").write_text("A=1\nB=two\n")
    (tmp_path / "rbac.yaml").write_text(RBAC)
    return tmp_path


def kubectl(server: Recorder, home: Path, line: str) -> subprocess.CompletedProcess[str]:
    program = CLIENTS / "kubectl-1.36.4"
    address = f"--server=http://127.0.0.1:{server.server_address[1]}"
    environment = {"HOME": str(home), "KUBECONFIG": str(home / "none"), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [program, address, *shlex.split(line)],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_every_generator_sends_a_body_that_decodes_to_what_it_prints(server, home):
    for one in RECORDED:
        server.bodies.clear()
        command = one["cmd"]
        has_schema = command.startswith("create ") and not command.startswith("create token")
        output = kubectl(server, home, f"--validate=false {command}" if has_schema else command)
        assert len(server.bodies) == 1, (command, output.stderr)
        assert decode(server.bodies[0]) == one["object"], command
        assert encode(one["object"]) == server.bodies[0] == base64.b64decode(one["body"]), command


@pytest.mark.parametrize("kind", ["Pod", "Node", "Job", "Service"])
def test_an_answer_in_protobuf_reads_like_one_in_json(server, home, kind):
    obj = OBJECTS[kind]
    group, _, version = obj["apiVersion"].rpartition("/")
    name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace")
    where = f"namespaces/{namespace}/" if namespace else ""
    root = f"apis/{group}" if group else "api"
    server.there[f"/{root}/{version}/{where}{kind.lower()}s/{name}"] = obj
    pods = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [OBJECTS["Pod"]]}
    server.there["/api/v1/pods"] = pods  # those of the node
    outputs = []
    for server.in_protobuf in (False, True):
        output = kubectl(
            server, home, f"describe {kind} {name} -n {namespace or 'default'} --show-events=false"
        )
        assert output.returncode == 0, output.stderr
        outputs.append(output.stdout)
    assert server.sent_in_protobuf > 0
    assert outputs[0] == outputs[1]
    assert name in outputs[0]


def test_a_watch_in_protobuf(server, home):
    server.watched = [
        {**OBJECTS["Event"], "message": message} for message in ("first of two", "second of two")
    ]
    output = kubectl(server, home, f"events --watch -n {OBJECTS['Event']['metadata']['namespace']}")
    assert [line.split("   ")[-1].strip() for line in output.stdout.splitlines()[1:]] == [
        "first of two",
        "second of two",
    ]
