"""The metrics server: a program in a pod that collects the usage from every kubelet, for ``kubectl top``."""

from simcloud.kubernetes.addons.metrics.program import IMAGE, metrics_server_image

__all__ = ["IMAGE", "metrics_server_image"]
