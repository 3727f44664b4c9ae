"""The add-ons that kubeadm and kind install: system pods, DNS, proxies and the storage class."""

from simcloud.kubernetes.addons.images import system_images as system_images
from simcloud.kubernetes.addons.objects import system_objects as system_objects
