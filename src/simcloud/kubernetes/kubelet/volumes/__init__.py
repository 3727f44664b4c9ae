"""Volumes of pods: their content, and how they are mounted into containers."""

from simcloud.kubernetes.kubelet.volumes.manager import PodVolume, VolumeManager
from simcloud.kubernetes.kubelet.volumes.sources import VolumeError

__all__ = ["PodVolume", "VolumeError", "VolumeManager"]
