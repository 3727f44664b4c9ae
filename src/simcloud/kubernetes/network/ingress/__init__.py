"""ingress-nginx: HTTP ingress of the cluster, a program that the kubelet runs from its image."""

from simcloud.kubernetes.network.ingress.image import (
    IMAGE as IMAGE,
    NAMESPACE as NAMESPACE,
    SERVICE as SERVICE,
    ingress_image as ingress_image,
    ingress_objects as ingress_objects,
    install_ingress as install_ingress,
)
