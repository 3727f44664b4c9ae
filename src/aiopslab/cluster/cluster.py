"""A Kubernetes on machines: the API with what every cluster has, its loops, and a node for each machine.

A new cluster is a control plane that has been installed and not yet started: its objects are there
and nothing moves. ``start`` brings it to life.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiopslab.cluster import nodes
from aiopslab.cluster.addons.images import system_images
from aiopslab.cluster.addons.objects import system_objects
from aiopslab.cluster.api.access.users import MASTERS_GROUP, User
from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.bootstrap import ClusterFacts, default_objects
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.options import Caller
from aiopslab.cluster.controllers import start_controllers
from aiopslab.cluster.images import ImageRegistry, standard_registry
from aiopslab.cluster.kubelet.dns import ClusterDns
from aiopslab.cluster.kubelet.fleet import Fleet
from aiopslab.cluster.kubelet.kubelet import Kubelet
from aiopslab.cluster.network.networking import install_network
from aiopslab.cluster.network.pod_network import ClusterNetwork
from aiopslab.cluster.scheduler import Scheduler
from aiopslab.machine.computer import EPOCH_S, Machine
from aiopslab.machine.network.stub_resolver import DnsSettings
from aiopslab.sim import Kernel

API_SERVER = Caller(User("system:apiserver", groups=(MASTERS_GROUP,)), "kube-apiserver")
OUTSIDE = DnsSettings(nameservers=("172.18.0.1",))
"""How the nodes themselves find names: by their gateway."""

INSTALLER = Caller(User("kubernetes-admin", groups=(MASTERS_GROUP,)), "kubeadm")


class Cluster:
    """The embedded Kubernetes. ``api`` is the door to everything in it."""

    def __init__(self, kernel: Kernel, machines: Sequence[Machine] = (), epoch_s: float = EPOCH_S) -> None:
        self.api = Api(kernel, epoch_s)
        self._machines = list(machines)
        self.kubelets: dict[str, Kubelet] = {}
        for obj in default_objects(self.api.catalogue, ClusterFacts(now_s=self.api.now_s)):
            self._create(obj, API_SERVER)
        for number, machine in enumerate(machines):
            nodes.register(self.api, machine, machine.host.namespace.address, number)

    def start(self, registry: ImageRegistry | None = None, system: bool = True) -> None:
        """Start the control loops, the scheduler, the network and a kubelet on every machine.

        ``registry`` has the images that pods may run; ``system`` installs what an operator expects to
        see in kube-system, cluster DNS among it.
        """
        start_controllers(self.api)
        Scheduler(self.api).start()
        if not self._machines:
            return
        registry = registry or standard_registry()
        network = install_network(self.api, self._machines[0].network)
        images = system_images(self.api, network.pods, network.services)
        for reference, image in images.items():
            registry.add(reference, image)
        self._start_kubelets(registry, network.pods, list(images))
        if system:
            listed = self.api.list(self.api.catalogue.named("nodes"), None)["items"]
            for obj in system_objects(listed):
                self._create(obj, INSTALLER)

    def _start_kubelets(self, registry: ImageRegistry, network: ClusterNetwork, delivered: list[str]) -> None:
        """Every machine gets a kubelet, and the system's images come with it."""
        fleet = Fleet()
        for machine in self._machines:
            kubelet = Kubelet(self.api, machine, registry, network, dns=ClusterDns(host=OUTSIDE))
            for reference in delivered:
                kubelet.node.images.preload(reference)
            kubelet.start()
            fleet.add(kubelet)
            self.kubelets[machine.name] = kubelet
        self.api.runtime = fleet

    def _create(self, obj: Object, caller: Caller) -> None:
        resource = self.api.catalogue.of_kind(obj["apiVersion"], obj["kind"])
        if resource is None:
            raise LookupError(f"{obj['apiVersion']} {obj['kind']} is not served")
        self.api.create(resource, obj["metadata"].get("namespace", ""), obj, caller)
