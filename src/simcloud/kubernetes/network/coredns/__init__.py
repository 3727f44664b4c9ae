"""CoreDNS: the DNS server of the cluster, a program that the kubelet runs from its image."""

from simcloud.kubernetes.network.coredns.corefile import CorefileError
from simcloud.kubernetes.network.coredns.image import IMAGE, coredns_image, coredns_on_host

__all__ = ["IMAGE", "CorefileError", "coredns_image", "coredns_on_host"]
