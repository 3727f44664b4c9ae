"""Shapes of clusters by their number of nodes: machines, images, and how system components run.

The clusters of one and two nodes match the recordings that ours is compared with: system components are processes of
the nodes, and no additional pods run. Clusters of three or more nodes are built as by kind, with the system pods that
an operator expects.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.images.standard import LOCAL_PATH_HELPER, PAUSE
from simcloud.machine import GIB
from simcloud.machine.proc import KERNEL_RELEASE

KIB: Final = 1024


class MachineFacts(Struct, frozen=True):
    """One machine of a cluster. Without a ``machine_id`` it has one of its own, made of its name."""

    cores: int = 4
    memory_bytes: int = 8_131_980 * KIB
    disk_bytes: int = 41_020_640 * KIB
    kernel_release: str = KERNEL_RELEASE
    cgroup_version: int = 2
    machine_id: str = ""


class Shape(Struct, frozen=True):
    """A kind of cluster."""

    machine: MachineFacts = field(default_factory=MachineFacts)
    runtime_version: str = "2.1.9"
    """Of containerd."""
    images: tuple[str, ...] = ()
    """On every node from the start."""
    system_pods: bool = True
    """Whether DNS, the service proxy and the control plane are pods; else they are processes of the nodes."""
    reserved_control_plane: bool = True
    """Whether the control plane's node is kept for pods that tolerate its taint."""


KIND: Final = Shape(images=(PAUSE, LOCAL_PATH_HELPER))

SINGLE_NODE: Final = Shape(
    MachineFacts(
        cores=2,
        memory_bytes=24_682_740 * KIB,
        disk_bytes=264_212_084 * KIB,
        kernel_release="6.18.44-fc-v310",
        cgroup_version=1,
        machine_id="3d1219c7c4c5404aaa1f6d2a48adfda4",
    ),
    runtime_version="2.1.9+unknown",
    images=("busybox:1.36", "nginx:1.19", PAUSE),
    system_pods=False,
    reserved_control_plane=False,
)

TWO_NODES: Final = Shape(
    MachineFacts(cores=8, memory_bytes=32 * GIB, disk_bytes=100 * GIB, kernel_release="6.1.0"),
    images=SINGLE_NODE.images,
    system_pods=False,
    reserved_control_plane=False,
)


def shape_of(nodes: int) -> Shape:
    """The kind of cluster for a number of nodes."""
    return {1: SINGLE_NODE, 2: TWO_NODES}.get(nodes, KIND)
