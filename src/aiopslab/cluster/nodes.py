"""Nodes as a kubelet first registers them: a machine's own facts in a Node object."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from aiopslab.cluster.api.access.users import NODES_GROUP, User
from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.objects import Object, copy
from aiopslab.cluster.api.options import Caller
from aiopslab.machine.computer import Machine
from aiopslab.machine.proc.system import KERNEL_RELEASE

KUBELET_VERSION: Final = "v1.36.4"
KUBELET_PORT: Final = 10250
MOST_PODS: Final = 110

_CONDITIONS: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


CONTROL_PLANE: Final = "kind-control-plane"
_ROLE: Final = "node-role.kubernetes.io/control-plane"


def node_names(count: int) -> list[str]:
    """The names of a cluster's nodes, the control plane first: as kind names them."""
    workers = [f"kind-worker{number if number > 1 else ''}" for number in range(1, count)]
    return [CONTROL_PLANE, *workers]


def register(api: Api, machine: Machine, address: str, number: int) -> Object:
    """Make a Node for a machine, and tell its state; ``number`` chooses its range of pod addresses."""
    caller = Caller(User(f"system:node:{machine.name}", groups=(NODES_GROUP,)), "kubelet")
    nodes = api.catalogue.named("nodes")
    api.create(nodes, "", _node(machine.name, number), caller)
    if machine.name == CONTROL_PLANE:
        _give_role(api)
    told: Object = copy(api.get(nodes, "", machine.name))
    told["status"] = _status(api, machine, address)
    return api.update(nodes, "", machine.name, told, caller, subresource="status")


def _node(name: str, number: int) -> Object:
    pods = f"10.244.{number}.0/24"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
            },
        },
        "spec": {"podCIDR": pods, "podCIDRs": [pods]},
    }


def _give_role(api: Api) -> None:
    """A kubelet may not give itself a role: whoever set up the cluster does."""
    nodes = api.catalogue.named("nodes")
    node: Object = copy(api.get(nodes, "", CONTROL_PLANE))
    node["metadata"]["labels"][_ROLE] = ""
    api.update(nodes, "", CONTROL_PLANE, node, Caller(manager="kubeadm"))


def _status(api: Api, machine: Machine, address: str) -> Object:
    now = api.timestamp()
    capacity = {
        "cpu": str(machine.cpu.cores),
        "ephemeral-storage": f"{machine.disk.capacity_bytes // 1024}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{machine.memory_bytes // 1024}Ki",
        "pods": str(MOST_PODS),
    }
    identity = sha256(machine.name.encode()).hexdigest()[:32]
    return {
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": machine.name},
        ],
        "capacity": capacity,
        "allocatable": dict(capacity),
        "conditions": [
            {
                "type": kind,
                "status": status,
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
                "reason": reason,
                "message": message,
            }
            for kind, status, reason, message in _CONDITIONS
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": api.new_uid(),
            "containerRuntimeVersion": "containerd://2.1.9",
            "kernelVersion": KERNEL_RELEASE,
            "kubeProxyVersion": "",
            "kubeletVersion": KUBELET_VERSION,
            "machineID": identity,
            "operatingSystem": "linux",
            "osImage": "Debian GNU/Linux 12 (bookworm)",
            "systemUUID": identity,
        },
    }
