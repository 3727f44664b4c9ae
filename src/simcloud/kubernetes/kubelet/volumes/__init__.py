"""A pod's volumes: what each kind holds, and how it reaches the pod's containers."""

from simcloud.kubernetes.kubelet.volumes.manager import PodVolume, VolumeManager
from simcloud.kubernetes.kubelet.volumes.sources import VolumeError

__all__ = ["PodVolume", "VolumeError", "VolumeManager"]
