"""CoreDNS: the DNS server of the cluster, a program that the kubelet runs from its image."""

from simcloud.kubernetes.network.coredns.corefile import CorefileError as CorefileError
from simcloud.kubernetes.network.coredns.image import (
    IMAGE as IMAGE,
    coredns_image as coredns_image,
    coredns_on_host as coredns_on_host,
)
