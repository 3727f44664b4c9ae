"""All kubelets of a cluster as the API server reaches them: for logs, exec, attach and port-forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.api.errors import ApiError, BadRequest, NotFound
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.runtime import Forward, LogOptions, LogStream, Session, Splice
from simcloud.kubernetes.kubelet.kubelet import Kubelet
from simcloud.kubernetes.kubelet.logs.streams import ContainerLogStream, NoBackend, log_container_id
from simcloud.kubernetes.kubelet.records import ContainerRecord, Sandbox
from simcloud.kubernetes.kubelet.streams.forwards import PortForward, refusal
from simcloud.kubernetes.kubelet.streams.sessions import ContainerSession
from simcloud.kubernetes.kubelet.streams.splices import PortSplice
from simcloud.kubernetes.nodes import KUBELET_PORT
from simcloud.machine.network import Connection, HttpResponse, NetworkError
from simcloud.machine.process import Container

NAME_SERVER: Final = "172.18.0.1:53"
"""Whom the API server asks for the names of nodes."""


class Fleet:
    """The ``Runtime`` of a cluster: finds the kubelet of a pod's node, and asks it."""

    def __init__(self) -> None:
        self._kubelets: dict[str, Kubelet] = {}

    def add(self, kubelet: Kubelet) -> None:
        """A node's kubelet."""
        self._kubelets[kubelet.node.name] = kubelet

    def logs(self, pod: Object, options: LogOptions) -> LogStream:
        """Read a container's log."""
        metadata = pod["metadata"]
        path = f"containerLogs/{metadata['namespace']}/{metadata['name']}/{options.container}"
        kubelet = self._kubelet(pod, f'Get "https://{{address}}/{path}": ')
        status = kubelet.node.statuses.get(pod)
        wanted = log_container_id(pod, status, options)
        record = kubelet.node.runtime.find(metadata["uid"], wanted.removeprefix("containerd://"))
        missing = f"unable to retrieve container logs for {wanted}"
        kernel = kubelet.node.machine.kernel
        return ContainerLogStream(kernel, options, kubelet.node.machine.clock(), record, missing)

    def exec(
        self, pod: Object, container: str, argv: list[str], *, stdin: bool, stderr: bool, tty: bool
    ) -> Session:
        """Run a command in a container."""
        record, inside = self._open_for_exec(pod, container)
        return ContainerSession(
            inside,
            argv,
            stdin=stdin,
            stderr=stderr,
            tty=tty,
            uid=record.uid,
            gid=record.gid,
        )

    def check_exec(self, pod: Object, container: str) -> None:
        """Raise what ``exec`` would raise, and run nothing."""
        self._open_for_exec(pod, container)

    def _open_for_exec(self, pod: Object, container: str) -> tuple[ContainerRecord, Container]:
        if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            phase = pod["status"]["phase"]
            raise BadRequest(f"cannot exec into a container in a completed pod; current phase is {phase}")
        record = self._running(pod, container)
        if record is None or record.container is None:
            raise _NoContainer(f'container not found ("{container}")')
        return record, record.container

    def attach(self, pod: Object, container: str, *, stdin: bool, stderr: bool, tty: bool) -> Session:
        """Join a container's own process."""
        record = self._running(pod, container)
        if record is None or record.console is None or record.console.ended:
            name = f"{pod['metadata']['name']}_{pod['metadata']['namespace']}"
            raise _NoContainer(f"container {container} not found in pod {name}")
        return record.console.attach(stdin=stdin, stderr=stderr)

    def forward(self, pod: Object, port: int) -> Forward:
        """Connect to a port of a pod."""
        sandbox = self._sandbox(pod)
        return PortForward(sandbox.namespace, port, sandbox.id, sandbox.netns)

    def splice(self, pod: Object, port: int, near: Connection, on_end: Callable[[str], None]) -> Splice:
        """Join a connection with a port of a pod."""
        sandbox = self._sandbox(pod)

        def words(error: NetworkError, connected: bool) -> str:
            return refusal(port, sandbox.id, sandbox.netns, error, connected)

        return PortSplice(sandbox.namespace, port, near, words, on_end)

    def ask_node(self, name: str, port: str, path: str) -> HttpResponse:
        """Get a page of a node's kubelet, or of its health port."""
        kubelet = self._kubelet({"spec": {"nodeName": name}}, "error trying to reach service: ")
        if port not in ("", str(KUBELET_PORT)):
            address = f"{kubelet.node.address}:{port}"
            raise NoBackend(f"error trying to reach service: dial tcp {address}: connect: connection refused")
        return kubelet.server.serve(path)

    def _sandbox(self, pod: Object) -> Sandbox:
        kubelet = self._kubelet(pod, "error dialing backend: ")
        live = kubelet.node.runtime.pods.get(pod["metadata"]["uid"])
        if live is None or live.sandbox is None or not live.sandbox.ready:
            raise NotFound(kubelet.node.client.resource("pods"), pod["metadata"]["name"])
        return live.sandbox

    def _running(self, pod: Object, container: str) -> ContainerRecord | None:
        kubelet = self._kubelet(pod, "error dialing backend: ")
        live = kubelet.node.runtime.pods.get(pod["metadata"]["uid"])
        for record in live.containers if live is not None else ():
            lives = record.process is not None and record.process.alive
            if record.name == container and record.running and lives:
                return record
        return None

    def _kubelet(self, pod: Object, asking: str) -> Kubelet:
        name = pod["spec"].get("nodeName") or ""
        found = self._kubelets.get(name)
        if found is None:
            asked = asking.format(address=f"{name}:{KUBELET_PORT}")
            raise NoBackend(f"{asked}dial tcp: lookup {name} on {NAME_SERVER}: no such host")
        if not found.running:
            machine = found.node.machine
            address = f"{found.node.address}:{KUBELET_PORT}"
            why = "connect: connection refused" if machine.running else "connect: no route to host"
            raise NoBackend(f"{asking.format(address=address)}dial tcp {address}: {why}")
        return found


class _NoContainer(ApiError):
    """There is no such container on the node."""

    code, reason = 404, "NotFound"
