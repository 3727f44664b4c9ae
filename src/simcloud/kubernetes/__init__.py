"""The embedded Kubernetes: clusters of simulated machines, and the clients of their API.

``api`` contains the objects and the rules for changing them; the control plane and the kubelet are in the other sub-packages.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.client import (
        ApiClient as ApiClient,
        bearer_token as bearer_token,
        find_administrator as find_administrator,
    )
    from simcloud.kubernetes.cluster import INIT_S as INIT_S, Cluster as Cluster
    from simcloud.kubernetes.component_client import ComponentClient as ComponentClient
    from simcloud.kubernetes.controller import owner_reference as owner_reference
    from simcloud.kubernetes.klog import format_klog as format_klog
    from simcloud.kubernetes.nodes import KUBELET_PORT as KUBELET_PORT, node_names as node_names
    from simcloud.kubernetes.shapes import MachineFacts as MachineFacts, shape_of as shape_of
