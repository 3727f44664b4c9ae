"""The metrics server: a program in a pod that asks every kubelet what was used, and tells it to ``kubectl top``."""

from simcloud.kubernetes.addons.metrics.program import IMAGE, metrics_server_image

__all__ = ["IMAGE", "metrics_server_image"]
