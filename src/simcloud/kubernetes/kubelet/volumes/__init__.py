"""Volumes of pods: their content, and how they are mounted into containers."""

from simcloud.kubernetes.kubelet.volumes.manager import PodVolume as PodVolume, VolumeManager as VolumeManager
from simcloud.kubernetes.kubelet.volumes.sources import VolumeError as VolumeError
