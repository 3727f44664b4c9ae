"""Which pods use which claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient


class Claimants:
    """Pods by the claims that they mount."""

    def __init__(self, client: ComponentClient, handler: Callable[[str, str], None] | None = None) -> None:
        self._pods: dict[tuple[str, str], dict[str, Object]] = {}
        self._handler = handler
        client.follow("pods", self._see)

    def of(self, claim: Object) -> list[Object]:
        """The pods that use a claim, by name."""
        found = self._pods.get((claim["metadata"]["namespace"], claim["metadata"]["name"]), {})
        return [found[name] for name in sorted(found)]

    def find_unscheduled(self, claim: Object) -> list[str]:
        """The names of the pods that wait for a node and for this claim."""
        return [pod["metadata"]["name"] for pod in self.of(claim) if not pod["spec"].get("nodeName")]

    def _see(self, write: Revision) -> None:
        for name in claims_of(write.object):
            place = (write.key.namespace, name)
            if write.change == "DELETED":
                self._pods.get(place, {}).pop(write.key.name, None)
            else:
                self._pods.setdefault(place, {})[write.key.name] = write.object
            if self._handler is not None:
                self._handler(*place)


def claims_of(pod: Object) -> Iterator[str]:
    """The names of the claims that a pod mounts; those of its ephemeral volumes are named after both."""
    for volume in pod["spec"].get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            yield volume["persistentVolumeClaim"]["claimName"]
        elif volume.get("ephemeral"):
            yield f"{pod['metadata']['name']}-{volume['name']}"
