"""ingress-nginx: HTTP ingress of the cluster, a program that the kubelet runs from its image."""

from simcloud.kubernetes.network.ingress.image import IMAGE, ingress_image, ingress_objects

__all__ = ["IMAGE", "ingress_image", "ingress_objects"]
