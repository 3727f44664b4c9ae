"""What the parts of a node's kubelet share."""

from __future__ import annotations

from dataclasses import dataclass, field

from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.client import Client
from aiopslab.cluster.events import Recorder
from aiopslab.cluster.kubelet.backoff import Backoff
from aiopslab.cluster.kubelet.containerd import ContainerRuntime
from aiopslab.cluster.kubelet.dns import ClusterDns
from aiopslab.cluster.kubelet.environment import Environments
from aiopslab.cluster.kubelet.parts import Part
from aiopslab.cluster.kubelet.pulling import NodeImages
from aiopslab.cluster.kubelet.status_manager import StatusManager
from aiopslab.cluster.kubelet.volumes import VolumeManager
from aiopslab.cluster.network.pod_network import PodNetwork
from aiopslab.machine.computer import Machine


@dataclass(slots=True)
class Node:
    """A machine as its kubelet sees it."""

    api: Api
    client: Client
    recorder: Recorder
    machine: Machine
    network: PodNetwork
    runtime: ContainerRuntime
    images: NodeImages
    volumes: VolumeManager
    statuses: StatusManager
    environments: Environments
    dns: ClusterDns
    crashes: Backoff = field(default_factory=Backoff)

    @property
    def name(self) -> str:
        """The node's name: the machine's."""
        return self.machine.name

    @property
    def address(self) -> str:
        """The node's own address."""
        return self.machine.host.namespace.address

    def allocatable(self) -> Object:
        """What pods can be given of this node."""
        node = self.client.get("nodes", "", self.name)
        found: Object = ((node or {}).get("status") or {}).get("allocatable") or {}
        return found

    def tell(self, pod: Object, part: Part, kind: str, reason: str, message: str) -> None:
        """Record an event about a container."""
        self.recorder.event(pod, kind, reason, message, part.field_path)
