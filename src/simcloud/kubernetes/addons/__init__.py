"""What kubeadm and kind put into a new cluster: the system's pods, name server, proxies and storage class."""

from simcloud.kubernetes.addons.images import system_images
from simcloud.kubernetes.addons.objects import system_objects

__all__ = ["system_images", "system_objects"]
