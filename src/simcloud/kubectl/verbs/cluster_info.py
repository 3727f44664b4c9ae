"""``kubectl cluster-info``: the addresses of the cluster and its services."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.transport import Unreachable
from simcloud.kubernetes.api import Object

FURTHER: Final = "To further debug and diagnose cluster problems, use 'kubectl cluster-info dump'."
SERVICE: Final = "kubernetes.io/cluster-service=true"


@command("cluster-info", "Show where the cluster answers", examples=("kubectl cluster-info",))
async def cluster_info(kubectl: Kubectl) -> None:
    """The address of the control plane and of the services of the system."""
    try:
        connection = await kubectl.connect()
    except Unreachable:
        await kubectl.out(f"\n{FURTHER}\n")
        raise
    server = kubectl.config.server
    lines = [f"Kubernetes control plane is running at {server}"]
    services = await connection.list(connection.resource("services"), "kube-system", labels=SERVICE)
    lines += [f"{_name(service)} is running at {_link(server, service)}" for service in services]
    lines += ["", FURTHER]
    await kubectl.out("\n".join(lines) + "\n")


def _name(service: Object) -> str:
    metadata = service["metadata"]
    named: str = (metadata.get("labels") or {}).get("kubernetes.io/name") or metadata["name"]
    return named


def _link(server: str, service: Object) -> str:
    metadata = service["metadata"]
    ports = service["spec"].get("ports") or []
    port = f":{ports[0]['name']}" if ports and ports[0].get("name") else ""
    return f"{server}/api/v1/namespaces/{metadata['namespace']}/services/{metadata['name']}{port}/proxy"
