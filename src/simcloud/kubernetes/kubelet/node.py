"""What the parts of a kubelet share."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import Recorder
from simcloud.kubernetes.kubelet.containerd import ContainerRuntime
from simcloud.kubernetes.kubelet.image_store import NodeImages
from simcloud.kubernetes.kubelet.log import KubeletLog
from simcloud.kubernetes.kubelet.pods.backoff import Backoff
from simcloud.kubernetes.kubelet.pods.dns import ClusterDns
from simcloud.kubernetes.kubelet.pods.environment import Environments
from simcloud.kubernetes.kubelet.pods.parts import Part
from simcloud.kubernetes.kubelet.pods.status_manager import StatusManager
from simcloud.kubernetes.kubelet.volumes import VolumeManager
from simcloud.kubernetes.network.pod_network import PodNetwork
from simcloud.machine import Machine


class Node(Struct):
    """A machine as its kubelet sees it."""

    api: Api
    client: ComponentClient
    recorder: Recorder
    machine: Machine
    network: PodNetwork
    runtime: ContainerRuntime
    images: NodeImages
    volumes: VolumeManager
    statuses: StatusManager
    environments: Environments
    dns: ClusterDns
    log: KubeletLog
    crashes: Backoff = field(default_factory=Backoff)
    expose: Callable[[str], str] = lambda _part: ""
    """Formats the metrics of one part of the kubelet; given by whoever measures the cluster."""

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
