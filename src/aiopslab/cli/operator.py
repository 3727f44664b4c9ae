"""An operator at a cluster: what kubectl would print of it, from the API's own tables.

Just the few verbs that the demonstration types. Each returns text; what a verb does, it does through the API.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from aiopslab.cloud.world import World
from aiopslab.cluster.api.objects import Object, copy
from aiopslab.cluster.api.options import ListOptions
from aiopslab.cluster.api.runtime import LogOptions
from aiopslab.cluster.api.tables import make_table
from aiopslab.cluster.client import Client
from aiopslab.cluster.cluster import Cluster

NAMESPACE: Final = "default"
HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
GAP: Final = 3
NARROWEST: Final = 6
"""A column of kubectl's is at least this wide."""


class Operator:
    """Somebody with an administrator's rights."""

    def __init__(self, world: World, cluster: Cluster) -> None:
        self._world = world
        self._api = cluster.api
        self.client = Client(cluster.api, "kubernetes-admin", "kubectl")

    def get(self, name: str, fields: str = "") -> str:
        """``kubectl get``: the table of a resource, or of those objects that a field selector chooses."""
        resource = self.client.resource(name)
        listed = self._api.list(
            resource, NAMESPACE if resource.namespaced else None, ListOptions(fields=fields)
        )
        table = make_table(resource, listed["items"], now_s=self._api.now_s, list_metadata=listed["metadata"])
        shown = [index for index, column in enumerate(table["columnDefinitions"]) if not column["priority"]]
        lines = [[table["columnDefinitions"][index]["name"].upper() for index in shown]]
        lines += [[str(row["cells"][index]) for index in shown] for row in table["rows"]]
        return in_columns(lines)

    def apply(self, obj: Object) -> str:
        """``kubectl apply`` of something new."""
        made = self.client.create(obj)
        return f"{self._told(made)} created"

    def set_image(self, deployment: str, image: str) -> str:
        """``kubectl set image`` of a Deployment's only container."""

        def change(obj: Object) -> None:
            obj["spec"]["template"]["spec"]["containers"][0]["image"] = image

        return f"{self._told(self.client.edit(self._deployment(deployment), change))} image updated"

    def rollout_status(self, deployment: str) -> str:
        """``kubectl rollout status --watch=false``."""
        obj = self._deployment(deployment)
        status = obj.get("status") or {}
        wanted, name = obj["spec"]["replicas"], f'deployment "{deployment}"'
        if status.get("observedGeneration", 0) < obj["metadata"]["generation"]:
            return "Waiting for deployment spec update to be observed..."
        conditions = status.get("conditions") or ()
        if any(one.get("reason") == "ProgressDeadlineExceeded" for one in conditions):
            return f"error: {name} exceeded its progress deadline"
        there, updated, available = (
            status.get(count, 0) for count in ("replicas", "updatedReplicas", "availableReplicas")
        )
        waiting = f"Waiting for {name} rollout to finish:"
        if updated < wanted:
            return f"{waiting} {updated} out of {wanted} new replicas have been updated..."
        if there > updated:
            return f"{waiting} {there - updated} old replicas are pending termination..."
        if available < updated:
            return f"{waiting} {available} of {updated} updated replicas are available..."
        return f"{name} successfully rolled out"

    def rollout_undo(self, deployment: str) -> str:
        """``kubectl rollout undo``: the template of the revision before the present one."""
        obj = self._deployment(deployment)
        sets = [one for one in self.client.list("replicasets.apps", NAMESPACE) if _owned(one, obj)]
        sets.sort(key=lambda one: int(one["metadata"]["annotations"][REVISION]))
        template: Object = copy(sets[-2]["spec"]["template"])
        del template["metadata"]["labels"][HASH]
        self.client.edit(obj, lambda edited: edited["spec"].update(template=template))
        return f"{self._told(obj)} rolled back"

    def counted_log(self, pod: str, since_s: int) -> str:
        """``kubectl logs POD --since=… | sort | uniq -c``."""
        found, runtime = self.client.get("pods", NAMESPACE, pod), self._api.runtime
        if found is None or runtime is None:
            raise LookupError(f"there is no pod {pod}")
        heard: list[bytes] = []
        container = found["spec"]["containers"][0]["name"]
        stream = runtime.logs(found, LogOptions(container, since_s=since_s))
        stream.on_data = heard.append
        self._world.run_for(0.1)
        counts = Counter(b"".join(heard).decode("utf-8", "replace").splitlines())
        return "\n".join(f"{counts[line]:7} {line}" for line in sorted(counts))

    def _deployment(self, name: str) -> Object:
        found = self.client.get("deployments.apps", NAMESPACE, name)
        if found is None:
            raise LookupError(f"there is no deployment {name}")
        return found

    def _told(self, obj: Object) -> str:
        resource = self.client.of(obj)
        group = f".{resource.group}" if resource.group else ""
        return f"{resource.singular}{group}/{obj['metadata']['name']}"


def _owned(obj: Object, owner: Object) -> bool:
    references: list[dict[str, Any]] = obj["metadata"].get("ownerReferences") or []
    return any(one["uid"] == owner["metadata"]["uid"] for one in references)


def in_columns(lines: list[list[str]]) -> str:
    """Cells under each other, as kubectl sets them."""
    widths = [max(NARROWEST, max(map(len, column)) + GAP) for column in zip(*lines, strict=True)]
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
