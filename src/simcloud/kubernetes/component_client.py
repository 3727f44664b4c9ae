"""The API client of the cluster's own components, each under its own user name.

It takes its identity from an ``ApiClient`` but sends no requests through it. Components act inside one instant of
virtual time (an event handler, a sync, a status update) and cannot await, while the verbs of an ``ApiClient`` are
coroutines. They read the revision log, as genuine components read a shared informer cache instead of the API server.
Their users are in ``system:masters``, so authorization would allow every write, and no component shows warnings.

Resources are named as in kubectl: ``pods``, ``deployments.apps``. Reads return shared objects (``copy`` before
changing one), or None. Writes raise ``ApiError``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.kubernetes.api.access.users import MASTERS_GROUP, User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import NotFound
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.options import DeleteOptions
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import LabelSelector
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.client import ApiClient


class ComponentClient:
    """Reads and writes objects as one component."""

    def __init__(self, api: Api, user: str, manager: str) -> None:
        self.api = api
        self.caller = ApiClient(api, User(user, groups=(MASTERS_GROUP,)), manager).caller
        self._resources: dict[str, Resource] = {}

    def resource(self, name: str) -> Resource:
        """Return the resource of a full name."""
        found = self._resources.get(name)
        if found is None:
            plural, _, group = name.partition(".")
            found = self._resources[name] = self.api.catalogue.find(plural, group)
        return found

    def of(self, obj: Object) -> Resource:
        """Return the resource of an object."""
        found = self.api.catalogue.of_kind(obj["apiVersion"], obj["kind"])
        if found is None:
            raise LookupError(f"{obj['apiVersion']} {obj['kind']} is not served")
        return found

    def get(self, name: str, namespace: str, object_name: str) -> Object | None:
        """Return an object, or None."""
        return self.api.log.get(self.api.key(self.resource(name), namespace, object_name))

    def list(
        self, name: str, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> list[Object]:
        """Return the selected objects of a namespace, or of all namespaces, sorted by namespace and name."""
        kept = self.api.storage_version(self.resource(name))
        found = self.api.log.objects(kept.group, kept.plural, namespace)
        if selector is None:
            return list(found)
        return [obj for obj in found if selector.matches(obj["metadata"].get("labels") or {})]

    def create(self, obj: Object) -> Object:
        """Create an object in the namespace of its metadata."""
        return self.api.create(self.of(obj), obj["metadata"].get("namespace", ""), obj, self.caller)

    def update(self, obj: Object, subresource: str = "") -> Object:
        """Replace an object, or the part of it that a subresource represents."""
        metadata = obj["metadata"]
        return self.api.update(
            self.of(obj),
            metadata.get("namespace", ""),
            metadata["name"],
            obj,
            self.caller,
            subresource=subresource,
        )

    def update_status(self, obj: Object) -> Object:
        """Replace an object's status."""
        return self.update(obj, "status")

    def edit(self, obj: Object, change: Callable[[Object], None], subresource: str = "") -> Object:
        """Change a copy of the stored object, and write it. A change of the subresource ``status`` affects nothing else."""
        current = self.refresh(obj)
        if current is None:
            raise NotFound(self.of(obj), obj["metadata"]["name"])
        if subresource == "status":  # all else is shared with the stored object, and need not be read again
            changed: Object = {**current, "status": copy(current.get("status") or {})}
        else:
            changed = copy(current)
        change(changed)
        return self.update(changed, subresource)

    def refresh(self, obj: Object) -> Object | None:
        """Return the stored object, or None if it is gone or was replaced."""
        metadata = obj["metadata"]
        found = self.api.log.get(self.api.key(self.of(obj), metadata.get("namespace", ""), metadata["name"]))
        return found if found is not None and found["metadata"]["uid"] == metadata["uid"] else None

    def patch(
        self,
        obj: Object,
        body: Any,
        subresource: str = "",
        kind: PatchType = PatchType.STRATEGIC,
    ) -> Object:
        """Patch an object."""
        metadata = obj["metadata"]
        return self.api.patch(
            self.of(obj),
            metadata.get("namespace", ""),
            metadata["name"],
            Patch(kind, body),
            self.caller,
            subresource=subresource,
        )

    def delete(self, obj: Object, grace_s: int | None = None, propagation: str = "") -> bool:
        """Delete this object; return False if it is gone or was replaced."""
        metadata = obj["metadata"]
        options = DeleteOptions(grace_s=grace_s, propagation=propagation, uid=metadata["uid"])
        if self.refresh(obj) is None:
            return False
        self.api.delete(self.of(obj), metadata.get("namespace", ""), metadata["name"], options, self.caller)
        return True

    def follow(self, name: str, handler: Callable[[Revision], None], node: str = "") -> Callable[[], None]:
        """Call a handler for all present objects, as ADDED, and for every later change, at its instant.

        A handler runs inside a write, so it must only note the work to do.
        With a ``node``, it sees only the pods bound to that node. Returns a function that stops it.
        """
        kept = self.api.storage_version(self.resource(name))
        for obj in list(self.api.log.objects(kept.group, kept.plural)):
            if node and obj["spec"].get("nodeName") != node:
                continue
            metadata = obj["metadata"]
            key = Key(kept.group, kept.plural, metadata.get("namespace", ""), metadata["name"])
            number = int(metadata["resourceVersion"])
            handler(Revision(number, self.api.kernel.now, "ADDED", key, obj, None, ""))
        return self.api.log.listen(kept.group, kept.plural, handler, node)
