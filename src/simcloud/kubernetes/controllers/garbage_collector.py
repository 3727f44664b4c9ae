"""Garbage collection: deletes objects whose owners are all gone.

An object names its owners by uid. The collector follows every kind that can be deleted, including custom ones, and
indexes dependents by owner, so that a write costs a check of its own references and a deletion costs its own
dependents. An owner is deleted in one of three ways:

* background: it is deleted, and its dependents are deleted afterwards;
* foreground: it waits (finalizer ``foregroundDeletion``) until the dependents that block it are gone;
* orphan: it waits (finalizer ``orphan``) until its dependents no longer name it.

An owner is searched in the namespace of its dependent: one in another namespace counts as absent. Events are ignored;
they expire.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.controller import Controller, controller, work_off
from simcloud.kubernetes.workqueue import WorkQueue

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
DEFINITIONS: Final = ("apiextensions.k8s.io", "customresourcedefinitions")
IGNORED: Final = frozenset({("", "events"), ("events.k8s.io", "events")})
NEEDED_VERBS: Final = ("delete", "list", "watch")


@controller("garbage-collector-controller")
class GarbageCollector(Controller):
    """Keeps the graph of owners and dependents, and deletes what nobody owns any more."""

    workers = 20

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._uids: WorkQueue[str] = WorkQueue(api.kernel)
        self._places: dict[str, Key] = {}
        self._dependents: dict[str, dict[str, None]] = {}
        self._followed: dict[tuple[str, str], None] = {}

    def start(self) -> None:
        self.watch()
        for _ in range(self.workers):
            self.kernel.spawn(work_off(self.api, self._uids, self._look_at), self.name)

    def watch(self) -> None:
        self._follow_kinds()
        self.api.log.listen(*DEFINITIONS, lambda _: self._follow_kinds())

    def _follow_kinds(self) -> None:
        """Follow every kind that is served and not followed yet."""
        for resource in list(self.api.catalogue):
            kept = self.api.storage_version(resource)
            if kept.key in IGNORED or kept.key in self._followed:
                continue
            if not all(verb in kept.verbs for verb in NEEDED_VERBS):
                continue
            self._followed[kept.key] = None
            for obj in list(self.api.log.objects(*kept.key)):
                self._add(_key_of(kept, obj), obj)
            self.api.log.listen(*kept.key, self._see)

    # The graph.

    def _see(self, write: Revision) -> None:
        if write.change == "ADDED":
            self._add(write.key, write.object)
        elif write.change == "DELETED":
            self._remove(write.object)
        elif write.before is not None:
            self._change(write.before, write.object)

    def _add(self, key: Key, obj: Object) -> None:
        metadata = obj["metadata"]
        uid = metadata["uid"]
        self._places[uid] = key
        owners = metadata.get("ownerReferences")
        if owners:
            self._link(uid, owners, key.namespace)
        if "deletionTimestamp" in metadata:
            self._transition(uid, {}, metadata)

    def _link(self, uid: str, owners: list[Object], namespace: str) -> None:
        for owner in owners:
            self._dependents.setdefault(owner["uid"], {})[uid] = None
            place = self._places.get(owner["uid"])
            if place is None or place.namespace not in ("", namespace) or place.name != owner["name"]:
                self._uids.add(uid)

    def _change(self, before: Object, after: Object) -> None:
        old, new = before["metadata"], after["metadata"]
        former, owners = old.get("ownerReferences"), new.get("ownerReferences")
        if former is not owners and former != owners:
            self._relink(new, former or [], owners or [])
        if "deletionTimestamp" in new:
            self._transition(new["uid"], old, new)

    def _relink(self, metadata: Object, former: list[Object], owners: list[Object]) -> None:
        uid = metadata["uid"]
        kept = {owner["uid"]: owner for owner in owners}
        for owner in former:
            still = kept.get(owner["uid"])
            if still is None:
                self._unlink(uid, owner["uid"])
            if still is None or (owner.get("blockOwnerDeletion") and not still.get("blockOwnerDeletion")):
                self._uids.add(owner["uid"])
        known = {owner["uid"] for owner in former}
        added = [owner for owner in owners if owner["uid"] not in known]
        self._link(uid, added, metadata.get("namespace", ""))

    def _unlink(self, uid: str, owner_uid: str) -> None:
        dependents = self._dependents.get(owner_uid)
        if dependents is not None:
            dependents.pop(uid, None)
            if not dependents:
                del self._dependents[owner_uid]

    def _transition(self, uid: str, old: Object, new: Object) -> None:
        """An object that begins to wait for its dependents sets them, and itself, to work."""
        if _waits(new, ORPHAN) and not _waits(old, ORPHAN):
            self._uids.add(uid)
        elif _waits(new, FOREGROUND) and not _waits(old, FOREGROUND):
            for dependent in self._dependents.get(uid, ()):
                self._uids.add(dependent)
            self._uids.add(uid)

    def _remove(self, obj: Object) -> None:
        metadata = obj["metadata"]
        uid = metadata["uid"]
        self._places.pop(uid, None)
        for dependent in self._dependents.get(uid, ()):
            self._uids.add(dependent)
        for owner in metadata.get("ownerReferences") or ():
            self._unlink(uid, owner["uid"])
            waiting = self._object(owner["uid"])
            if waiting is not None and _waits(waiting["metadata"], FOREGROUND):
                self._uids.add(owner["uid"])

    def _object(self, uid: str) -> Object | None:
        place = self._places.get(uid)
        return self.api.log.get(place) if place is not None else None

    # The work.

    def _look_at(self, uid: str) -> None:
        """Delete an object that has lost its owners; finish one that waits for its dependents."""
        obj = self._object(uid)
        if obj is None:
            return
        metadata = obj["metadata"]
        if _waits(metadata, ORPHAN):
            self._orphan_dependents(obj)
        elif _waits(metadata, FOREGROUND):
            self._await_dependents(obj)
        elif "deletionTimestamp" not in metadata and metadata.get("ownerReferences"):
            self._judge(obj)

    def _orphan_dependents(self, owner: Object) -> None:
        uid = owner["metadata"]["uid"]
        for dependent in list(self._dependents.get(uid, ())):
            self._disown(dependent, (uid,))
        self._drop_finalizer(owner, ORPHAN)

    def _await_dependents(self, owner: Object) -> None:
        uid = owner["metadata"]["uid"]
        blocking = [candidate for candidate in self._dependents.get(uid, ()) if self._blocks(candidate, uid)]
        if not blocking:
            self._drop_finalizer(owner, FOREGROUND)
        for dependent in blocking:
            obj = self._object(dependent)
            if obj is not None and not _waits(obj["metadata"], FOREGROUND):
                self._uids.add(dependent)

    def _blocks(self, dependent: str, owner: str) -> bool:
        obj = self._object(dependent)
        return obj is not None and any(
            reference["uid"] == owner and reference.get("blockOwnerDeletion")
            for reference in obj["metadata"].get("ownerReferences") or ()
        )

    def _judge(self, obj: Object) -> None:
        """Keep an object that has a living owner, without the references to those that are gone."""
        solid, gone, waiting = 0, [], []
        for reference in obj["metadata"]["ownerReferences"]:
            resource = self.api.catalogue.of_kind(reference["apiVersion"], reference["kind"])
            if resource is None:
                # The kind may be served later: nothing is decided before it is known.
                self._uids.retry(obj["metadata"]["uid"])
                return
            if resource.namespaced and not obj["metadata"].get("namespace"):
                self._report_elsewhere(obj, reference)
                return
            owner = self._owner(obj, reference, resource)
            if owner is None:
                gone.append(reference["uid"])
            elif _waits(owner["metadata"], FOREGROUND):
                waiting.append(reference["uid"])
            else:
                solid += 1
        if solid:
            if gone or waiting:
                self._disown(obj["metadata"]["uid"], (*gone, *waiting))
        else:
            self._collect(obj, waited_for=bool(waiting))

    def _owner(self, obj: Object, reference: Object, resource: Resource) -> Object | None:
        namespace = obj["metadata"].get("namespace", "")
        found = self.api.log.get(self.api.key(resource, namespace, reference["name"]))
        if found is not None and found["metadata"]["uid"] == reference["uid"]:
            return found
        if reference["uid"] in self._places:
            self._report_elsewhere(obj, reference)
        return None

    def _collect(self, obj: Object, waited_for: bool) -> None:
        uid = obj["metadata"]["uid"]
        dependents = self._dependents.get(uid, {})
        if waited_for and dependents:
            if any(self._is_waiting(dependent) for dependent in dependents):
                self._unblock(obj)
            self.client.delete(obj, propagation="Foreground")
            return
        finalizers = obj["metadata"].get("finalizers") or ()
        kept = (
            "Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background"
        )
        self.client.delete(obj, propagation=kept)

    def _is_waiting(self, uid: str) -> bool:
        obj = self._object(uid)
        return obj is not None and _waits(obj["metadata"], FOREGROUND)

    def _unblock(self, obj: Object) -> None:
        """Owners that wait for each other would wait for ever: this one blocks nobody."""

        def change(changed: Object) -> None:
            for reference in changed["metadata"].get("ownerReferences") or ():
                reference["blockOwnerDeletion"] = False

        self.client.edit(obj, change)

    def _disown(self, uid: str, owners: tuple[str, ...]) -> None:
        """Take owners off an object's references."""
        obj = self._object(uid)
        if obj is None:
            return

        def change(changed: Object) -> None:
            metadata = changed["metadata"]
            references = metadata.get("ownerReferences") or []
            metadata["ownerReferences"] = [
                reference for reference in references if reference["uid"] not in owners
            ]

        self.client.edit(obj, change)

    def _drop_finalizer(self, obj: Object, finalizer: str) -> None:
        def change(changed: Object) -> None:
            metadata = changed["metadata"]
            metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != finalizer]

        self.client.edit(obj, change)

    def _report_elsewhere(self, obj: Object, reference: Object) -> None:
        namespace = obj["metadata"].get("namespace", "")
        named = (
            f"[{reference['apiVersion']}/{reference['kind']}, namespace: {namespace}, "
            f"name: {reference['name']}, uid: {reference['uid']}]"
        )
        message = f'ownerRef {named} does not exist in namespace "{namespace}"'
        self.recorder.event(obj, "Warning", "OwnerRefInvalidNamespace", message)


def _waits(metadata: Object, finalizer: str) -> bool:
    """Whether an object that is being deleted waits for the collector."""
    return "deletionTimestamp" in metadata and finalizer in (metadata.get("finalizers") or ())


def _key_of(kept: Resource, obj: Object) -> Key:
    metadata = obj["metadata"]
    return Key(kept.group, kept.plural, metadata.get("namespace", ""), metadata["name"])
