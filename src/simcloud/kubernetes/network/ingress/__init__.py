"""ingress-nginx: HTTP ingress of the cluster, a program that the kubelet runs from its image."""

from simcloud.kubernetes.network.ingress.image import (
    IMAGE as IMAGE,
    ingress_image as ingress_image,
    ingress_objects as ingress_objects,
)
