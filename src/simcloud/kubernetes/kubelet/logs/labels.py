"""How a log collector labels a container's lines: the labels of Promtail's usual scrape configuration.

They are made once per container and shared by all its lines.
"""

from __future__ import annotations

import re
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.machine.emit import Labels

_REPLICA_SET: Final = re.compile(r"([0-9a-z-.]+?)(-[0-9a-f]{8,10})?")


def log_labels(pod: Object, container: str, node: str, path: str) -> Labels:
    """The labels of what a container writes, but for the stream."""
    metadata = pod["metadata"]
    own = metadata.get("labels") or {}
    app = own.get("app.kubernetes.io/name") or own.get("app") or _controller(metadata) or metadata["name"]
    labels = {
        "app": app,
        "component": own.get("app.kubernetes.io/component") or own.get("component") or "",
        "container": container,
        "filename": path,
        "instance": own.get("app.kubernetes.io/instance") or own.get("instance") or "",
        "job": f"{metadata['namespace']}/{app}",
        "namespace": metadata["namespace"],
        "node_name": node,
        "pod": metadata["name"],
    }
    return tuple((name, value) for name, value in labels.items() if value)


def _controller(metadata: Object) -> str:
    """Name of the pod's controller; for a ReplicaSet, the name of its Deployment."""
    owners = metadata.get("ownerReferences") or ()
    name = next((str(owner["name"]) for owner in owners if owner.get("controller")), "")
    match = _REPLICA_SET.fullmatch(name)
    return match.group(1) if match else name
