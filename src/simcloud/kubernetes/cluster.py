"""A Kubernetes cluster on machines: the API with its initial objects, the control loops, and a node for each machine.

A new cluster is installed but not started: its objects exist and nothing runs. ``start`` starts the control loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from simcloud.kubernetes import nodes
from simcloud.kubernetes.addons.host import dns_objects, start_on_hosts
from simcloud.kubernetes.addons.images import SYSTEM_USERS, system_images
from simcloud.kubernetes.addons.objects import metrics_objects, system_objects
from simcloud.kubernetes.api.access.users import MASTERS_GROUP, User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.bootstrap import ClusterFacts, default_objects
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller
from simcloud.kubernetes.controllers import start_controllers
from simcloud.kubernetes.controllers.volumes.provisioner import NAME as PROVISIONER
from simcloud.kubernetes.host import ClusterPki, install_files, install_tools
from simcloud.kubernetes.images import ImageRegistry, standard_registry
from simcloud.kubernetes.kubelet.fleet import Fleet
from simcloud.kubernetes.kubelet.kubelet import Kubelet
from simcloud.kubernetes.kubelet.pods.dns import ClusterDns
from simcloud.kubernetes.leadership import Leadership
from simcloud.kubernetes.network.gateway import ADDRESS as GATEWAY, install_gateway
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.kubernetes.network.router import install_network
from simcloud.kubernetes.network.webhook_calls import WebhookCalls
from simcloud.kubernetes.scheduler import Scheduler
from simcloud.kubernetes.shapes import KIND, Shape
from simcloud.machine import EPOCH_S, Machine
from simcloud.machine.network import DnsSettings
from simcloud.sim import Kernel

API_SERVER = Caller(User("system:apiserver", groups=(MASTERS_GROUP,)), "kube-apiserver")
OUTSIDE = DnsSettings(nameservers=(GATEWAY,))
"""How the nodes themselves find names: by their gateway."""

RESTART_S = 1.0
"""So long after its death a kubelet is started again by its machine."""

INIT_S = 23.0
"""So long before workers join it, a control plane gets its certificates."""

INSTALLER = Caller(User("kubernetes-admin", groups=(MASTERS_GROUP,)), "kubeadm")


class Cluster:
    """The embedded Kubernetes. ``api`` is the door to everything in it."""

    def __init__(
        self,
        kernel: Kernel,
        machines: Sequence[Machine] = (),
        epoch_s: float = EPOCH_S,
        shape: Shape = KIND,
    ) -> None:
        self.api = Api(kernel, epoch_s)
        self.shape = shape
        self.machines = list(machines)
        self.kubelets: dict[str, Kubelet] = {}
        self.registry = standard_registry()
        self._start_kubelet: Callable[[Machine], None] | None = None
        self.expose: Callable[[Kubelet, str], str] | None = None
        """Formats the metrics of a kubelet; for whoever measures the cluster to give."""
        facts = ClusterFacts(now_s=self.api.now_s)
        if machines:
            first = machines[0]
            self.pki = ClusterPki(self.api, first.name, first.host.namespace.address, first.clock() - INIT_S)
            if shape.system_pods:
                authority, proxy = (
                    self.pki.sign(name).certificate.decode() for name in ("ca", "front-proxy-ca")
                )
                facts = replace(facts, client_ca=authority, front_proxy_ca=proxy)
        for obj in default_objects(self.api.catalogue, facts):
            self._create(obj, API_SERVER)
        for machine in machines:
            self._register(machine)

    def start(self, registry: ImageRegistry | None = None, metrics: bool = True) -> None:
        """Start the control plane, the network, a kubelet on every machine, and the system's own programs.

        ``registry`` has the images that pods may run; ``metrics`` installs a metrics server where the
        system runs as pods.
        """
        self.start_control_plane()
        if not self.machines:
            return
        self.registry = registry = registry or self.registry
        install_gateway(self.machines[0].network)
        network = install_network(self.api, self.machines[0].network, self.machines)
        self.api.webhooks = WebhookCalls(self.api, self.machines[0].host.namespace)
        images = system_images(self.api, network.pods, network.services)
        for reference, image in images.items():
            registry.add(reference, image, user=SYSTEM_USERS.get(reference, ""))
        delivered = [*self.shape.images, *(images if self.shape.system_pods else ())]
        self._start_kubelets(registry, network.pods, delivered)
        if self.shape.system_pods:
            listed = self.api.list(self.api.catalogue.find("nodes"), None)["items"]
            installed = system_objects(listed) + (metrics_objects(listed) if metrics else [])
        else:
            start_on_hosts(self.api, self.machines, network.services)
            installed = dns_objects(self.machines[0].host.namespace.address)
        for obj in installed:
            self._create(obj, INSTALLER)

    def start_control_plane(self) -> None:
        """Start the control loops and the scheduler: what a cluster without kubelets has."""
        host = self.machines[0].name if self.machines else nodes.CONTROL_PLANE
        loops = partial(start_controllers, self.api, without=(PROVISIONER,))
        Leadership(self.api, "kube-controller-manager", host).start(loops)
        Leadership(self.api, "kube-scheduler", host).start(Scheduler(self.api).start)

    def _start_kubelets(self, registry: ImageRegistry, network: ClusterNetwork, delivered: list[str]) -> None:
        """Every machine gets a kubelet, and the system's images come with it."""
        self.api.runtime = fleet = Fleet()
        first = self.machines[0]

        def start_kubelet(machine: Machine) -> None:
            kubelet = Kubelet(
                self.api, machine, registry, network, dns=ClusterDns(host=OUTSIDE), restart_s=RESTART_S
            )
            for reference in delivered:
                kubelet.node.images.preload(reference)
            is_control_plane = machine is first and self.shape.system_pods
            install_files(kubelet.node, self.pki, is_control_plane, plugin=self.shape.system_pods)
            install_tools(kubelet.node, self.pki, is_control_plane)
            kubelet.start()
            fleet.add(kubelet)
            if self.expose is not None:
                kubelet.node.expose = partial(self.expose, kubelet)
            self.kubelets[machine.name] = kubelet

        for machine in self.machines:
            start_kubelet(machine)
        self._start_kubelet = start_kubelet

    def join(self, machine: Machine) -> None:
        """Add a node to a started cluster whose system components are pods."""
        if self._start_kubelet is None:
            raise RuntimeError("Start the cluster before a node joins it.")
        self.machines.append(machine)
        self._register(machine)
        self._start_kubelet(machine)

    def _register(self, machine: Machine) -> None:
        nodes.register(self.api, machine, machine.host.namespace.address, shape=self.shape)

    def _create(self, obj: Object, caller: Caller) -> None:
        resource = self.api.catalogue.of_kind(obj["apiVersion"], obj["kind"])
        if resource is None:
            raise LookupError(f"{obj['apiVersion']} {obj['kind']} is not served")
        namespace, name = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
        created = self.api.create(resource, namespace, obj, caller)
        if obj["kind"] == "FlowSchema":  # the API server itself reports whether the priority level exists
            found = {**created, "status": obj["status"]}
            self.api.update(resource, namespace, name, found, caller, subresource="status")
