"""The Kubernetes API over HTTP, for genuine kubectl and the client libraries."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.server.kubernetes.cluster_server import ClusterServer as ClusterServer
    from simcloud.server.kubernetes.in_cluster import open_door as open_door
    from simcloud.server.kubernetes.kubeconfig import (
        CLUSTER as CLUSTER,
        SESSION as SESSION,
        TELEMETRY as TELEMETRY,
    )
