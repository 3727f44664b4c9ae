"""Nothing of the host through kubectl and helm: not its files, its environment, its clock, nor its network."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

CANARY = "canary-of-the-host-4711"
READERS = (
    "kubectl apply -f {path}",
    "kubectl create -f file://{path}",
    "kubectl apply -R -f {folder}",
    "kubectl apply -k {folder}",
    "kubectl kustomize {folder}",
    "kubectl diff -f {path}",
    "kubectl replace --raw /api/v1 -f {path}",
    "kubectl get pods --kubeconfig={path}",
    "KUBECONFIG={path} kubectl config view --raw",
    "kubectl config view --raw --kubeconfig ../../../../../..{path}",
    "kubectl get ns --token=$(cat {path})",
    "kubectl create configmap c --from-file={path} --dry-run=client -o yaml",
    "kubectl create configmap c --from-file={folder} --dry-run=client -o yaml",
    "kubectl create configmap c --from-env-file={path} --dry-run=client -o yaml",
    "kubectl create secret generic s --from-file=x={path} --dry-run=client -o yaml",
    "kubectl create secret tls s --cert={path} --key={path} --dry-run=client -o yaml",
    "kubectl patch deploy/web --patch-file={path}",
    "kubectl get ns -o go-template-file={path}",
    "kubectl get ns -o jsonpath-file={path}",
    "kubectl get ns -o custom-columns-file={path}",
    'kubectl run p --image=busybox:1.36 --overrides="$(cat {path})" --dry-run=client -o yaml',
    "kubectl cp {path} client:/tmp/x && kubectl exec client -- cat /tmp/x",
    "kubectl cp client:{path} /root/got && cat /root/got",
    "kubectl cp client:../../../../../../..{path} /root/got && cat /root/got",
    "kubectl exec client -- cat {path}",
    "kubectl exec client -- sh -c 'cat /proc/1/root{path} /proc/self/root{path}'",
    "kubectl exec client -- sh -c 'ln -s {path} /l; cat /l'",
    "kubectl debug node/kind-worker --image=busybox:1.36 -- cat /host{path}",
    "helm template x {folder}",
    "helm template x /root/chart -f {path}",
    "helm template x /root/chart --set-file a={path}",
    "cat {path}; ls {folder}; < {path} cat",
)
DIALLERS = (
    "kubectl apply -f http://127.0.0.1:{port}/x.yaml",
    "kubectl apply -f http://localhost:{port}/x.yaml",
    "kubectl get ns --server=http://127.0.0.1:{port}",
    "kubectl get ns -s https://localhost:{port}",
    "kubectl exec client -- wget -q -T 2 -O - http://127.0.0.1:{port}/",
    "kubectl exec client -- wget -q -T 2 -O - http://172.18.0.1:{port}/",
    "curl -m 2 -s http://127.0.0.1:{port}/; curl -m 2 -s http://0.0.0.0:{port}/",
    "helm install x http://127.0.0.1:{port}/chart.tgz",
    "kubectl port-forward pod/client 18{port}:80 & sleep 1; curl -m 2 -s localhost:{port}",
)


@pytest.fixture(scope="module")
def terminal() -> Terminal:
    world = World(5)
    cluster = add_cluster(world, 4)
    cluster.start()
    world.run_for(40)
    terminal = Terminal(world, cluster)
    terminal.run("mkdir -p chart; printf 'apiVersion: v2\\nname: x\\nversion: 0.1.0\\n' > chart/Chart.yaml")
    terminal.run(
        "kubectl run client --image=busybox:1.36 -- sleep 100000; kubectl wait --for=condition=Ready pod/client"
    )
    return terminal


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the host, readable by everybody, and the same word in its environment."""
    monkeypatch.setenv("CANARY", CANARY)
    path = tmp_path / "kustomization.yaml"
    path.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {CANARY}}}\n")
    return path


@pytest.fixture(scope="module")
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A server of the host on its loopback, and what it was told."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                heard.append(b"a connection")
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], heard
        ended.set()
        thread.join()


@pytest.mark.parametrize("line", READERS)
def test_no_file_of_the_host_is_read(line: str, terminal: Terminal, canary: Path) -> None:
    done = terminal.run(line.format(path=canary, folder=canary.parent))
    assert CANARY.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize("line", DIALLERS)
def test_no_socket_of_the_host_is_reached(
    line: str, terminal: Terminal, listening: tuple[int, list[bytes]]
) -> None:
    port, heard = listening
    terminal.run(line.format(port=port))
    assert not heard


def test_nothing_else_of_the_host_shows(terminal: Terminal, canary: Path, hosts_own: str) -> None:
    looks = "env; kubectl exec client -- env; kubectl exec client -- cat /proc/self/environ /proc/1/cmdline; uname -a; id; ps aux"
    told = terminal.run(looks).stdout.decode()
    assert CANARY not in told
    assert str(os.getpid()) not in [word for line in told.splitlines() for word in line.split()[1:2]]
    assert "python" not in told
    assert hosts_own not in told


def test_what_is_written_stays_in_the_world(terminal: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "written"
    for line in (
        f"mkdir -p {tmp_path}; echo x > {target}",
        f"kubectl cp client:/etc/passwd {target}",
        f"kubectl cluster-info dump --output-directory={target}",
        f"kubectl config set-context c --kubeconfig={target}",
        f"helm pull http://127.0.0.1/x --destination {tmp_path}",
    ):
        terminal.run(line)
    assert not target.exists()
    assert list(tmp_path.iterdir()) == []
