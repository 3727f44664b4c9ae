"""What had happened at the recorded clusters before the first line was typed."""

from __future__ import annotations

from msgspec.structs import replace

from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.images import Host, HostState, ImageRegistry, standard_registry
from simcloud.kubernetes.shapes import TWO_NODES
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World
from tests.simcloud.replay.images import serve_recorded_images
from tests.simcloud.replay.stand_in import StandIn


def young(world: World) -> Cluster:
    """One node, two seconds old, whose images have not been looked at yet."""
    cluster = add_cluster(world, 1)
    cluster.shape = replace(cluster.shape, images=())
    cluster.start(_registry())
    world.run_for(1.86)
    return cluster


def without_kubelets(world: World) -> Cluster:
    """An API for seven seconds; then the control plane's loops and two nodes that a stand-in plays."""
    cluster = Cluster(world.kernel, (), world.epoch_s, TWO_NODES)
    world.run_for(7)
    cluster.start_control_plane()
    StandIn(cluster.api).start()
    world.run_for(12)
    return cluster


def used(world: World) -> Cluster:
    """One node at which another session was typed: it left a volume, and the kubelet was stopped for a while."""
    cluster = add_cluster(world, 1)
    cluster.start(_registry())
    world.run_for(60)
    client = ComponentClient(cluster.api, "kubernetes-admin", "kubectl")
    namespace = client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    amount = {"storage": "2Gi"}
    volume = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": amount,
        "hostPath": {"path": "/data/pv1"},
    }
    metadata = {"name": "pv1"}
    client.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": volume})
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": amount}, "storageClassName": ""}
    metadata = {"name": "data", "namespace": "lab"}
    client.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": wanted})
    world.run_for(30)
    client.delete(namespace)
    world.run_for(510)
    (kubelet,) = cluster.kubelets.values()
    kubelet.stop()
    world.run_for(65)
    kubelet.start()
    world.run_for(100)
    return cluster


def _registry() -> ImageRegistry:
    """Two images were others than their tags say; two registries asked for a password that the node did not have."""
    registry = standard_registry()
    serve_recorded_images(registry)
    for host in ("registry.invalid.example:5555", "myregistry.example.com"):
        registry.hosts[host] = Host(HostState.DENIES)
    return registry
