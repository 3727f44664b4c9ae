"""A pod's volumes: what each kind holds, and how it reaches the pod's containers."""

from simcloud.kubernetes.kubelet.volumes.errors import VolumeError
from simcloud.kubernetes.kubelet.volumes.manager import PodVolume, VolumeManager

__all__ = ["PodVolume", "VolumeError", "VolumeManager"]
