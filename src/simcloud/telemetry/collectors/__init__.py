"""The metrics of the usual exporters, read from a cluster, its machines and its software."""

from simcloud.telemetry.collectors.cluster import (
    cluster_targets as cluster_targets,
    describe_families as describe_families,
)
from simcloud.telemetry.collectors.exposition import Exposition as Exposition, Programs as Programs
from simcloud.telemetry.collectors.kube_state import KubeState as KubeState
from simcloud.telemetry.collectors.kubelets import (
    KubeletReadings as KubeletReadings,
    expose_kubelet as expose_kubelet,
)
from simcloud.telemetry.collectors.machines import MachineReadings as MachineReadings
