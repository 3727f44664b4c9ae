"""A pod's volumes: what each kind holds, and how it reaches the pod's containers."""

from aiopslab.cluster.kubelet.volumes.errors import VolumeError
from aiopslab.cluster.kubelet.volumes.manager import PodVolume, VolumeManager

__all__ = ["PodVolume", "VolumeError", "VolumeManager"]
