"""The marks on everything that the harness creates in a cluster, and the removal of what carries them.

Objects without a namespace carry the labels themselves; all others are in namespaces that do.
"""

from __future__ import annotations

import time
from typing import Final

from aiopslab.cloud.kubernetes.client import ClusterClient, ClusterFailed, Refused
from aiopslab.cloud.kubernetes.mirror import make_path
from aiopslab.utils import ProgressCallback, ignore_progress

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
OWNER: Final = "aiopslab"
RUN: Final = "aiopslab.io/run"
CLUSTER_WIDE: Final = (
    ("", "namespaces"), ("", "persistentvolumes"), ("storage.k8s.io", "storageclasses"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"), ("rbac.authorization.k8s.io", "clusterroles"),
    ("scheduling.k8s.io", "priorityclasses"), ("networking.k8s.io", "ingressclasses"),
)  # fmt: skip
GONE_S: Final = 300.0
POLL_S: Final = 0.5


def make_labels(run: str) -> dict[str, str]:
    """Return the labels of what a run creates."""
    return {MANAGED_BY: OWNER, RUN: run}


def remove_everything(
    client: ClusterClient, run: str = "", tell: ProgressCallback = ignore_progress, timeout_s: float = GONE_S
) -> list[str]:
    """Delete everything that a run has created, or all runs, and wait until it is gone; return the names of what was there.

    Raises ``ClusterFailed`` if something is still there after ``timeout_s`` seconds.
    """
    selector = f"{MANAGED_BY}%3D{OWNER}" + (f",{RUN}%3D{run}" if run else "")
    found: dict[str, None] = {}
    deadline_s = time.monotonic() + timeout_s
    while True:
        left = _delete(client, selector)
        found.update(dict.fromkeys(left))
        if not left:
            return list(found)
        if time.monotonic() > deadline_s:
            raise ClusterFailed(
                f"{', '.join(left)} could not be removed within {timeout_s:g} s. Look for finalizers, and call aiopslab cleanup again."
            )
        tell(f"removing {len(left)} objects from the cluster")
        time.sleep(POLL_S)


def _delete(client: ClusterClient, selector: str) -> list[str]:
    """Delete what the selector finds, unless it is being deleted already; return the names of all objects found."""
    left: list[str] = []
    for group, plural in CLUSTER_WIDE:
        listed = client.find(f"{make_path(group, plural)}?labelSelector={selector}")
        for obj in (listed or {}).get("items") or ():
            name = obj["metadata"]["name"]
            left.append(f"{plural}/{name}")
            if "deletionTimestamp" in obj["metadata"]:
                continue
            try:
                client.request("DELETE", make_path(group, plural, "", name))
            except Refused as error:
                if error.status not in (404, 409):
                    raise
    return left
