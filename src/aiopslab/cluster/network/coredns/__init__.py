"""CoreDNS: the name server of the cluster, as a program that the kubelet runs from its image."""

from aiopslab.cluster.network.coredns.corefile import CorefileError
from aiopslab.cluster.network.coredns.image import IMAGE, coredns_image, coredns_on_host

__all__ = ["IMAGE", "CorefileError", "coredns_image", "coredns_on_host"]
