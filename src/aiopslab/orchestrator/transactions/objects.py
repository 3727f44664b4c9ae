"""Kubernetes objects before a transaction, and how they are restored: by kubectl, as on any cluster.

Compared is all that people write. Left out is what the cluster writes itself: status, versions, times, and objects that a
controller owns; of the pods among these only the labels count, because an agent can take a pod out of service with them.
An object that was deleted is created again and has a new uid. A Job that is created again runs again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from aiopslab.generators import Site
from simcloud.kubernetes.api import LAST_APPLIED, Key, Object, at

if TYPE_CHECKING:
    from simcloud.kubernetes.api import RevisionLog

Objects = Mapping[Key, Object]
PAUSES_S: Final = (0, 2, 5, 10, 20, 25)
"""Pauses before each attempt to restore: objects take time to end, and an API server may have to start first."""
FORCED: Final = 2
"""Number of the first attempt that replaces an object by deleting it."""
SHOWN: Final = 5
_LEFT_OUT: Final = frozenset({
    "events", "leases", "controllerrevisions", "ipaddresses", "certificatesigningrequests", "resourceslices", "csinodes",
    "volumeattachments", "componentstatuses", "flowschemas", "prioritylevelconfigurations",
})  # fmt: skip
"""Kinds that only the cluster writes."""
_OWN_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "uid",
        "selfLink",
        "deletionGracePeriodSeconds",
    }
)
_OWN_ANNOTATIONS: Final = (
    "deployment.kubernetes.io/", "deprecated.daemonset.", "endpoints.kubernetes.io/", "pv.kubernetes.io/",
    "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "node.alpha.kubernetes.io/",
)  # fmt: skip
_OWN_JOB_LABELS: Final = frozenset({"controller-uid", "batch.kubernetes.io/controller-uid"})
_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_FIRST: Final = (
    "customresourcedefinitions", "namespaces", "priorityclasses", "storageclasses", "persistentvolumes", "nodes",
    "serviceaccounts", "configmaps", "secrets", "persistentvolumeclaims", "resourcequotas", "limitranges", "services",
)  # fmt: skip
"""Kinds that others depend on, in the order in which they are restored."""


def read_log(log: RevisionLog) -> Objects:
    """Return all objects from the log of the embedded API. They are shared and never change, so this costs little."""
    found = {key: log.get(key) for key in log.list_keys() if key.plural not in _LEFT_OUT}
    return _leave_out_derived({key: obj for key, obj in found.items() if obj is not None})


def read_by_kubectl(site: Site) -> Objects:
    """Return all objects as kubectl lists them, on any cluster."""
    plurals: dict[tuple[str, str], str] = {}
    names = []
    for line in site.run("kubectl api-resources --verbs=list,create,delete --no-headers").splitlines():
        name, *_, version, _, kind = line.split()
        group = version.rpartition("/")[0]
        if name not in _LEFT_OUT:
            plurals[group, kind] = name
            names.append(f"{name}.{group}".rstrip("."))
    listed = json.loads(site.run(f"kubectl get {','.join(names)} -A -o json"))
    found: dict[Key, Object] = {}
    for obj in listed["items"]:
        group, metadata = obj["apiVersion"].rpartition("/")[0], obj["metadata"]
        key = Key(group, plurals[group, obj["kind"]], metadata.get("namespace", ""), metadata["name"])
        found[key] = obj
    return _leave_out_derived(found)


def _leave_out_derived(objects: dict[Key, Object]) -> Objects:
    """Leave out the endpoints that the cluster derives from Services, and objects of controllers other than pods."""
    return {
        key: obj
        for key, obj in objects.items()
        if (key.plural == "pods" or not _is_owned(obj))
        and not (key.plural == "endpointslices" and _MANAGED_BY in at(obj, "metadata", "labels", default={}))
        and not (
            key.plural == "endpoints"
            and at(objects.get(key._replace(plural="services")), "spec", "selector", default=None)
        )
    }


def find_object_changes(before: Objects, now: Objects) -> dict[Key, str]:
    """Return ``added``, ``removed`` or ``changed`` for each object that an undo has to restore."""
    found: dict[Key, str] = {}
    for key, old in before.items():
        new = now.get(key)
        if new is old or "deletionTimestamp" in old["metadata"]:
            continue
        if _is_owned(
            old
        ):  # a controller replaces its pods at will; only the labels of one that lives on count
            same = new is not None and new["metadata"].get("uid") == old["metadata"].get("uid")
            if same and new is not None and _get_labels(new) != _get_labels(old):
                found[key] = "changed"
        elif new is None:
            found[key] = "removed"
        elif select_written(new) != select_written(old):
            found[key] = "changed"
    found.update((key, "added") for key, obj in now.items() if key not in before and not _is_owned(obj))
    return found


def restore_objects(site: Site, before: Objects, read: Callable[[], Objects]) -> list[str]:
    """Make all objects as they were; return the names of those that could not be restored."""
    changes: dict[Key, str] = {}
    for attempt, pause_s in enumerate(PAUSES_S):
        if pause_s:
            site.wait(pause_s)
        now = read()
        changes = find_object_changes(before, now)
        if not changes:
            return []
        _restore(site, before, now, changes, is_forced=attempt >= FORCED)
    return [f"{key.plural}/{key.name} is still {what}" for key, what in changes.items()]


def _restore(
    site: Site, before: Objects, now: Objects, changes: Mapping[Key, str], *, is_forced: bool
) -> None:
    ordered = sorted(changes, key=_rank)
    _send(
        site,
        "delete --ignore-not-found --wait=false",
        [_name(now[key]) for key in ordered if changes[key] == "added"],
    )
    relabelled = [key for key in ordered if changes[key] == "changed" and _is_owned(before[key])]
    replaced = [key for key in ordered if changes[key] == "changed" and key not in relabelled]
    _send(site, "create", [_build_document(before[key]) for key in ordered if changes[key] == "removed"])
    _send(site, "replace", [_build_document(before[key]) for key in replaced])
    if is_forced:
        _send(site, "replace --force --grace-period=0", [_build_document(before[key]) for key in replaced])
    for key in ordered:
        applied = at(before.get(key), "metadata", "annotations", LAST_APPLIED, default=None)
        if changes[key] != "added" and key not in relabelled and applied is not None:
            # kubectl writes what it creates or replaces into this annotation
            _patch(site, key, f"/metadata/annotations/{LAST_APPLIED.replace('/', '~1')}", applied)
    for key in relabelled:
        _patch(site, key, "/metadata/labels", _get_labels(before[key]))


def _patch(site: Site, key: Key, path: str, value: Any) -> None:
    operations = json.dumps([{"op": "add", "path": path, "value": value}])
    resource = f"{key.plural}.{key.group}".rstrip(".")
    space = f"-n {key.namespace} " if key.namespace else ""
    site.attempt(f"kubectl {space}patch {resource} {key.name} --type=json -p {quote(operations)}")


def _send(site: Site, verb: str, documents: list[Object]) -> None:
    """Run a verb of kubectl on documents. What fails is found by comparing again, and tried again."""
    if documents:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
        site.attempt(f"kubectl {verb} -f - <<'END_OF_LIST'\n{text}\nEND_OF_LIST")


def _build_document(obj: Object) -> Object:
    """Return what to send to the API so that an object is as it was."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _OWN_METADATA}
    document = {name: value for name, value in obj.items() if name != "status"} | {"metadata": metadata}
    return _drop_job_identity(document) if obj["kind"] == "Job" else document


def _drop_job_identity(job: Object) -> Object:
    """Drop what the API writes into a new Job: its selector, and the labels with its uid."""
    spec = {name: value for name, value in job["spec"].items() if name != "selector"}
    template = dict(spec["template"])
    template["metadata"] = _drop_own_labels(template.get("metadata", {}))
    return job | {"metadata": _drop_own_labels(job["metadata"]), "spec": spec | {"template": template}}


def _drop_own_labels(metadata: Mapping[str, Any]) -> dict[str, Any]:
    labels = {
        name: value for name, value in metadata.get("labels", {}).items() if name not in _OWN_JOB_LABELS
    }
    return {**metadata, "labels": labels}


def select_written(obj: Object) -> dict[str, Any]:
    """Return the part of an object that must be equal after an undo."""
    document = _build_document(obj)
    metadata = dict(document["metadata"])
    annotations = metadata.pop("annotations", None) or {}
    metadata["annotations"] = {
        name: value for name, value in annotations.items() if not name.startswith(_OWN_ANNOTATIONS)
    }
    metadata["labels"] = metadata.get("labels") or {}
    metadata["deletionTimestamp"] = "deletionTimestamp" in metadata
    metadata["ownerReferences"] = [
        {name: value for name, value in owner.items() if name != "uid"}
        for owner in metadata.get("ownerReferences", ())
    ]
    document["metadata"] = metadata
    if obj["kind"] == "Node":
        taints = [
            taint
            for taint in obj["spec"].get("taints", ())
            if not taint["key"].startswith("node.kubernetes.io/")
        ]
        document["spec"] = obj["spec"] | {"taints": taints}
    return document


def _name(obj: Object) -> Object:
    metadata = {name: obj["metadata"][name] for name in ("name", "namespace") if name in obj["metadata"]}
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}


def _is_owned(obj: Object) -> bool:
    return any(owner.get("controller") for owner in obj["metadata"].get("ownerReferences", ()))


def _get_labels(obj: Object) -> Mapping[str, str]:
    return obj["metadata"].get("labels") or {}


def _rank(key: Key) -> tuple[int, Key]:
    return (_FIRST.index(key.plural) if key.plural in _FIRST else len(_FIRST)), key


def format_changes(changes: Mapping[Key, str]) -> str:
    """Return changes as a text: ``deployments/geo changed``."""
    names = [f"{key.plural}/{key.name} {what}" for key, what in changes.items()]
    return _join(names)


def _join(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more
