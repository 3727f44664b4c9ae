"""Storage that all nodes of a cluster share: a file server's export, mounted at the same path on each node.

A hostPath volume is a folder of the node that a pod runs on. With several workers, a database that moves to another node would
find an empty folder. So the folders of databases are mounted from a file server, which is not affected when a node
loses power. The server is not a machine of the world and never fails by itself, but its disk can be made to fail.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes import Cluster
from simcloud.machine import GIB, Machine
from simcloud.machine.files import Disk, Volume
from simcloud.world.world import World

SERVER: Final = "storage"
CAPACITY_BYTES: Final = 100 * GIB
FSTYPE: Final = "nfs4"
ADDRESS: Final = "172.18.0.1"


class SharedVolume(Volume):
    """A volume that several machines mount."""

    def power_loss(self) -> None:
        """Do nothing: a client's power loss does not affect the server's data."""


def _options(node: Machine) -> str:
    """The options of a mount as an NFS client shows them."""
    limits = "rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys"
    return (
        f"relatime,vers=4.2,{limits},clientaddr={node.host.namespace.address},local_lock=none,addr={ADDRESS}"
    )


def share_folder(world: World, cluster: Cluster, folder: str) -> Disk:
    """Mount one shared volume at a folder of every node, unless it is mounted already; return its disk."""
    nodes = [world.machines[name] for name in cluster.kubelets]
    for node in nodes:
        if node.host.files.exists(folder):
            found = node.host.files.find(folder)[0].volume
            if isinstance(found, SharedVolume):
                return found.disk
    volume = SharedVolume(Disk(SERVER, CAPACITY_BYTES), nodes[0].clock, name=f"{SERVER}:{folder}")
    for node in nodes:
        node.host.files.mkdir(folder, 0o755, parents=True)
        node.host.files.mount(
            folder, volume, source=f"{SERVER}:{folder}", fstype=FSTYPE, options=_options(node)
        )
    return volume.disk
