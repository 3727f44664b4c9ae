"""Node objects as a kubelet registers them, from the properties of a machine."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from simcloud.kubernetes.api.access.users import NODES_GROUP, User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.options import Caller
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.shapes import KIND, Shape
from simcloud.machine import Machine
from simcloud.machine.proc import vary

KUBELET_VERSION: Final = "v1.36.4"
KUBELET_PORT: Final = 10250
MOST_PODS: Final = 110

CONDITIONS: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
"""Type, status, reason and message of the conditions of a healthy node."""
_DECLARED_FEATURES: Final = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
_HANDLER_FEATURES: Final = {"recursiveReadOnlyMounts": True, "userNamespaces": True}

CONTROL_PLANE: Final = "kind-control-plane"
_ROLE: Final = "node-role.kubernetes.io/control-plane"
_OUT_OF_BALANCERS: Final = "node.kubernetes.io/exclude-from-external-load-balancers"


def node_names(count: int) -> list[str]:
    """The names of a cluster's nodes, the control plane first: as kind names them."""
    workers = [f"kind-worker{number if number > 1 else ''}" for number in range(1, count)]
    return [CONTROL_PLANE, *workers]


def register(
    api: Api, machine: Machine, address: str, number: int | None = None, shape: Shape = KIND
) -> Object:
    """Make a Node for a machine, and tell its state.

    Its range of pod addresses is the control plane's to give; ``number`` chooses it where there is none.
    """
    caller = Caller(User(f"system:node:{machine.name}", groups=(NODES_GROUP,)), "kubelet")
    nodes = api.catalogue.find("nodes")
    api.create(nodes, "", _node(machine.name, number, shape), caller)
    if machine.name == CONTROL_PLANE:
        _give_role(api, shape)
    node: Object = copy(api.get(nodes, "", machine.name))
    node["status"] = _status(api, machine, address, shape)
    return api.update(nodes, "", machine.name, node, caller, subresource="status")


def _node(name: str, number: int | None, shape: Shape) -> Object:
    pods = f"10.244.{number}.0/24"
    spec: Object = {"podCIDR": pods, "podCIDRs": [pods]} if number is not None else {}
    if shape.system_pods:
        spec["providerID"] = f"kind://docker/kind/{name}"
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
        "spec": spec,
    }


def _give_role(api: Api, shape: Shape) -> None:
    """A kubelet may not give itself a role: whoever set up the cluster does, and keeps others' pods off it."""
    nodes = api.catalogue.find("nodes")
    node: Object = copy(api.get(nodes, "", CONTROL_PLANE))
    node["metadata"]["labels"][_ROLE] = ""
    if shape.reserved_control_plane:
        node["metadata"]["labels"][_OUT_OF_BALANCERS] = ""
        node["spec"].setdefault("taints", []).append({"key": _ROLE, "effect": "NoSchedule"})
    api.update(nodes, "", CONTROL_PLANE, node, Caller(manager="kubeadm"))


def _status(api: Api, machine: Machine, address: str, shape: Shape) -> Object:
    now = api.timestamp()
    # A node of kind is ready when its network plug-in runs.
    ready = rfc3339(api.now_s + 11 + 8 * vary(f"{machine.name}/ready")) if shape.system_pods else now
    capacity = {
        "cpu": str(machine.cpu.cores),
        "ephemeral-storage": f"{machine.disk.capacity_bytes // 1024}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{machine.memory_bytes // 1024}Ki",
        "pods": str(MOST_PODS),
    }
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
                "lastTransitionTime": ready if kind == "Ready" else now,
                "reason": reason,
                "message": message,
            }
            for kind, status, reason, message in CONDITIONS
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "declaredFeatures": list(_DECLARED_FEATURES),
        "features": {"supplementalGroupsPolicy": True},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": str(UUID(machine.boot_id)),
            "containerRuntimeVersion": f"containerd://{shape.runtime_version}",
            "kernelVersion": machine.kernel_release,
            "kubeProxyVersion": "",
            "kubeletVersion": KUBELET_VERSION,
            "machineID": machine.machine_id,
            "operatingSystem": "linux",
            "osImage": "Debian GNU/Linux 12 (bookworm)",
            "systemUUID": shape.machine.machine_id or api.new_uid(),
        },
        "runtimeHandlers": [{"features": dict(_HANDLER_FEATURES), "name": name} for name in ("", "runc")],
    }
