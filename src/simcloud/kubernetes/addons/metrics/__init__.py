"""The metrics server: a program in a pod that collects the usage from every kubelet, for ``kubectl top``."""

from simcloud.kubernetes.addons.metrics.program import (
    IMAGE as IMAGE,
    metrics_server_image as metrics_server_image,
)
