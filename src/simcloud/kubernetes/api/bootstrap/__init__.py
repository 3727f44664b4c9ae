"""The objects that a new cluster has.

``default_objects`` returns them in the order of their creation, without the fields that the server sets itself (uid,
resourceVersion, creationTimestamp, generation, managedFields).
"""

from __future__ import annotations

from simcloud.kubernetes.api.bootstrap.defaults import (
    ClusterFacts as ClusterFacts,
    default_objects as default_objects,
    default_service_account as default_service_account,
    manager_of as manager_of,
    root_ca_config_map as root_ca_config_map,
)
