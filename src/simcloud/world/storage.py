"""Storage that all nodes of a cluster share: an export of a file server, mounted at the same place on each of them.

A hostPath volume is a folder of whatever node a pod comes to. On a cluster with one worker that is always the same; with
more of them, a database that moves would find an empty folder. So the folders where databases live are mounted from a
server of their own, which keeps its power when a node loses it. The server is no machine of the world: it does not fail
by itself, but its disk can be made to.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.cluster import Cluster
from simcloud.machine.computer import GIB
from simcloud.machine.files import Disk, Volume
from simcloud.world.world import World

SERVER: Final = "storage"
CAPACITY_BYTES: Final = 100 * GIB
FSTYPE: Final = "nfs4"


class SharedVolume(Volume):
    """A volume that several machines mount."""

    def power_loss(self) -> None:
        """One of those that mount it is gone; what the server has been given stays."""


def share_folder(world: World, cluster: Cluster, folder: str) -> Disk:
    """Mount one and the same volume at a folder of every node, unless that was done before; returns its disk."""
    nodes = [world.machines[name] for name in cluster.kubelets]
    for node in nodes:
        if node.host.files.exists(folder):
            found = node.host.files.find(folder)[0].volume
            if isinstance(found, SharedVolume):
                return found.disk
    volume = SharedVolume(Disk(SERVER, CAPACITY_BYTES), nodes[0].clock, name=f"{SERVER}:{folder}")
    for node in nodes:
        node.host.files.mkdir(folder, 0o755, parents=True)
        node.host.files.mount(folder, volume, source=f"{SERVER}:{folder}", fstype=FSTYPE)
    return volume.disk
