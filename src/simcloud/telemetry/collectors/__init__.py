"""The metrics of the usual exporters, read from a cluster, its machines and its software."""

from simcloud.telemetry.collectors.cluster import (
    cluster_targets as cluster_targets,
    describe_families as describe_families,
)
