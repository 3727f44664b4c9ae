"""The objects that a cluster has before anybody made any.

``default_objects`` gives them in the order in which they are made, without what the server sets itself
(uid, resourceVersion, creationTimestamp, generation, managedFields).
"""

from __future__ import annotations

from simcloud.kubernetes.api.bootstrap.defaults import (
    ClusterFacts,
    default_objects,
    default_service_account,
    manager_of,
    root_ca_config_map,
)

__all__ = ["ClusterFacts", "default_objects", "default_service_account", "manager_of", "root_ca_config_map"]
