"""What stood for kubelets when the control plane was recorded: two nodes that nobody runs, and pods set to Running.

Pods whose image is named ``bad`` or ``nosuch`` stay in ImagePullBackOff; what is deleted is gone at once. It tells
no events, renews no leases and listens nowhere.
"""

from __future__ import annotations

from hashlib import sha256

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.kubelet.fleet import Fleet

NODES = ("kind-control-plane", "kind-worker")
RUN_S = 0.03
"""From a pod's having a node to its running, and from its being deleted to its end."""

FAILING = ("bad", "nosuch")
AMOUNTS = {"cpu": "8", "ephemeral-storage": "100Gi", "hugepages-2Mi": "0", "memory": "32Gi", "pods": "110"}
CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


class StandIn:
    """Plays the kubelets of both nodes."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._client = ComponentClient(api, "kubernetes-admin", "stand-in")
        self._addresses = 1

    def start(self) -> None:
        """Make the nodes, and see to their pods from now on."""
        for number, name in enumerate(NODES):
            self._client.create(self._node(name, number))
        self._client.follow("pods", self._see)
        self._api.runtime = Fleet()

    def _node(self, name: str, number: int) -> Object:
        now = self._api.timestamp()
        labels = {
            f"{prefix}kubernetes.io/{key}": value for prefix in ("beta.", "") for key, value in _PLATFORM
        }
        labels["kubernetes.io/hostname"] = name
        if number == 0:
            labels["node-role.kubernetes.io/control-plane"] = ""
        conditions = [
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
            }
            for kind, status, reason, message in CONDITIONS
        ]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"podCIDR": f"10.244.{number}.0/24", "podCIDRs": [f"10.244.{number}.0/24"]},
            "status": {
                "addresses": [
                    {"type": "InternalIP", "address": _address(name)},
                    {"type": "Hostname", "address": name},
                ],
                "capacity": dict(AMOUNTS),
                "allocatable": dict(AMOUNTS),
                "conditions": conditions,
                "nodeInfo": {
                    "architecture": "amd64",
                    "bootID": f"00000000-0000-0000-0000-{number:011}1",
                    "containerRuntimeVersion": "containerd://2.1.9",
                    "kernelVersion": "6.1.0",
                    "kubeProxyVersion": "",
                    "kubeletVersion": "v1.36.4",
                    "machineID": f"{number:032}",
                    "operatingSystem": "linux",
                    "osImage": "Debian GNU/Linux 12 (bookworm)",
                    "systemUUID": f"00000000-0000-0000-0000-{number:012}",
                },
            },
        }

    def _see(self, write: Revision) -> None:
        pod, later = write.object, self._api.kernel.call_later
        if write.change == "DELETED" or not pod["spec"].get("nodeName"):
            return
        if pod["metadata"].get("deletionTimestamp"):
            later(RUN_S, self._end, pod)
        elif not at(write.before, "spec", "nodeName"):
            later(RUN_S, self._run, pod)

    def _end(self, pod: Object) -> None:
        if self._client.refresh(pod) is not None:
            self._client.delete(pod, grace_s=0)

    def _run(self, pod: Object) -> None:
        try:
            self._client.edit(pod, self._write, "status")
        except ApiError:
            return  # it is gone

    def _write(self, pod: Object) -> None:
        self._addresses += 1
        node = pod["spec"]["nodeName"]
        address = f"10.244.{NODES.index(node)}.{self._addresses}"
        pulled = not any(word in one["image"] for one in pod["spec"]["containers"] for word in FAILING)
        status, now = pod["status"], self._api.timestamp()
        kept = [one for one in status.get("conditions") or () if one["type"] == "PodScheduled"]
        told = (("PodReadyToStartContainers", True), ("Initialized", True), ("Ready", pulled))
        status["conditions"] = [
            {
                "type": kind,
                "status": str(holds),
                "lastProbeTime": None,
                "lastTransitionTime": now,
                "observedGeneration": pod["metadata"]["generation"],
            }
            for kind, holds in (*told, ("ContainersReady", pulled))
        ] + copy(kept)
        status.update(
            phase="Running" if pulled else "Pending",
            hostIP=_address(node),
            hostIPs=[{"ip": _address(node)}],
            podIP=address,
            podIPs=[{"ip": address}],
            startTime=now,
            observedGeneration=pod["metadata"]["generation"],
            containerStatuses=[_container(one, pod, pulled, now) for one in pod["spec"]["containers"]],
        )


_PLATFORM = (("arch", "amd64"), ("os", "linux"))


def _address(node: str) -> str:
    return f"172.18.0.{NODES.index(node) + 2}"


def _container(container: Object, pod: Object, pulled: bool, now: str) -> Object:
    told: Object = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "lastState": {},
        "ready": pulled,
        "started": pulled,
        "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}},
    }
    if pulled:
        identity = sha256(f"{pod['metadata']['uid']}{container['name']}".encode()).hexdigest()
        repository, _, tag = container["image"].partition(":")
        image = f"docker.io/library/{repository}"
        told |= {
            "containerID": f"containerd://{identity}",
            "image": f"{image}:{tag or 'latest'}",
            "imageID": f"{image}@sha256:{sha256(image.encode()).hexdigest()}",
            "state": {"running": {"startedAt": now}},
        }
    return told
