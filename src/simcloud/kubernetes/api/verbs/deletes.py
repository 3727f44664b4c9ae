"""The verb delete: immediate, or graceful with a deletionTimestamp.

An object with finalizers, or a pod that runs on a node, is marked with a deletionTimestamp. It is removed when its
last finalizer is removed or when the kubelet reports that the pod has ended. Dependents are left to the garbage
collector; the propagation policy is only recorded, as a finalizer.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec.structs import replace

from simcloud.kubernetes.api.context import Write
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.errors import ApiError, Conflict, Invalid, NotFound
from simcloud.kubernetes.api.field_errors import FieldError, invalid, not_supported
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.options import Caller, DeleteOptions, ListOptions, WriteOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.api.verbs.reads import select
from simcloud.kubernetes.api.verbs.write_context import WriteContext
from simcloud.kubernetes.api.verbs.writes import admit, check

_FOREGROUND: Final = "foregroundDeletion"
_ORPHAN: Final = "orphan"
_POLICIES: Final = ("Background", "Foreground", "Orphan")

ANSWERED_WITH_OBJECT: Final = frozenset(
    {
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("", "pods"),
        ("", "podtemplates"),
        ("", "resourcequotas"),
        ("", "serviceaccounts"),
        ("", "services"),
        ("storage.k8s.io", "storageclasses"),
    }
)
"""A deletion of these answers with the object that was; of all others with a Status."""


class Outcome(NamedTuple):
    """What a deletion did: whether the object is gone, its last state, and what the server answers."""

    gone: bool
    object: Object
    answer: Object


def delete(
    api: WriteContext,
    resource: Resource,
    namespace: str,
    name: str,
    options: DeleteOptions,
    caller: Caller,
    admitted: bool = False,
) -> Outcome:
    """Delete one object. What is ``admitted`` already, as an eviction, is not asked about again."""
    _check_options(options)
    key = api.key(resource, namespace, name)
    present = api.log.get(key)
    if present is None:
        raise NotFound(resource, name)
    _check_preconditions(resource, present, options)
    kept = api.storage_version(resource)
    write = Write(api, "DELETE", kept, key, present, present, caller, WriteOptions(dry_run=options.dry_run))
    if not admitted:
        admit(api, write)
        check(api, write)
    marked = _mark_deleted(api, kept, present, options)
    if marked is None:
        if options.dry_run:
            return Outcome(True, present, _answer(api, resource, present))
        api.custom.clear(key)
        last = api.log.remove(key, caller.user.name)
        return Outcome(True, last, _answer(api, resource, last))
    if marked != present and not options.dry_run:
        api.log.put(key, marked, caller.user.name)
    return Outcome(False, marked, convert(marked, resource))


def delete_collection(
    api: WriteContext,
    resource: Resource,
    namespace: str | None,
    selection: ListOptions,
    options: DeleteOptions,
    caller: Caller,
) -> Object:
    """Delete all of a namespace that a selection names."""
    _check_options(options)
    kept = api.storage_version(resource)
    scope = namespace if kept.namespaced else None
    chosen = list(select(resource, api.log.objects(kept.group, kept.plural, scope), selection))
    each = replace(options, uid="", resource_version="")
    deleted = []
    for obj in chosen:
        metadata = obj["metadata"]
        outcome = delete(api, resource, metadata.get("namespace", ""), metadata["name"], each, caller)
        deleted.append(convert(outcome.object, resource))
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": {"resourceVersion": str(api.log.revision)},
        "items": deleted,
    }


def read_options(said: Object) -> DeleteOptions:
    """DeleteOptions from their decoded form."""
    preconditions = said.get("preconditions") or {}
    propagation = said.get("propagationPolicy") or ""
    orphan = said.get("orphanDependents")
    if orphan is not None and propagation:
        why = "orphanDependents and deletionPropagation cannot be both set"
        raise _bad([invalid("propagationPolicy", propagation, why)])
    if orphan is not None:
        propagation = "Orphan" if orphan else "Background"
    return DeleteOptions(
        grace_s=said.get("gracePeriodSeconds"),
        propagation=propagation,
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        dry_run=_dry_run(said.get("dryRun") or []),
    )


def _dry_run(said: list[str]) -> bool:
    if any(value != "All" for value in said):
        raise _bad([not_supported("dryRun", said, ("All",))])
    return bool(said)


def _check_options(options: DeleteOptions) -> None:
    if options.propagation and options.propagation not in _POLICIES:
        raise _bad(
            [not_supported("propagationPolicy", options.propagation, (*_POLICIES[1:], "Background", "nil"))]
        )


def _bad(errors: list[FieldError]) -> ApiError:
    return Invalid("meta.k8s.io", "DeleteOptions", "", errors)


def _check_preconditions(resource: Resource, present: Object, options: DeleteOptions) -> None:
    metadata = present["metadata"]
    for said, name, word in (
        (options.uid, "uid", "UID"),
        (options.resource_version, "resourceVersion", "ResourceVersion"),
    ):
        if said and said != metadata[name]:
            why = (
                f"the {word} in the precondition ({said}) does not match the {word} in record "
                f"({metadata[name]}). The object might have been "
                + ("deleted and then recreated" if word == "UID" else "modified")
            )
            raise Conflict(resource, metadata["name"], why)


def _mark_deleted(
    api: WriteContext, kept: Resource, present: Object, options: DeleteOptions
) -> Object | None:
    """The object with its mark of deletion; None if it can go at once."""
    grace_s = _grace_s(kept, present, options)
    finalizers = _finalizers(kept, present, options)
    spec_finalizers = present.get("spec", {}).get("finalizers") if kept.key == ("", "namespaces") else None
    if not grace_s and not finalizers and not spec_finalizers:
        return None
    marked: Object = copy(present)
    metadata = marked["metadata"]
    if "deletionTimestamp" in metadata:
        # A second deletion may shorten the time that is left, never lengthen it.
        left = metadata.get("deletionGracePeriodSeconds", 0)
        if options.grace_s is not None and grace_s < left:
            metadata["deletionTimestamp"] = rfc3339(api.now_s + grace_s)
            metadata["deletionGracePeriodSeconds"] = grace_s
    else:
        metadata["deletionTimestamp"] = rfc3339(api.now_s + grace_s)
        metadata["deletionGracePeriodSeconds"] = grace_s
        if "generation" in metadata:
            metadata["generation"] += 1
    if finalizers:
        metadata["finalizers"] = finalizers
    if kept.key == ("", "namespaces"):
        marked.setdefault("status", {})["phase"] = "Terminating"
        metadata.pop("deletionGracePeriodSeconds", None)
    return marked


def _grace_s(kept: Resource, present: Object, options: DeleteOptions) -> int:
    """How long the object's process may take to end. Only pods have one."""
    if kept.key != ("", "pods"):
        return 0
    spec, status = present.get("spec", {}), present.get("status", {})
    if not spec.get("nodeName") or status.get("phase") in ("Failed", "Succeeded"):
        return 0
    grace_s: int = spec.get("terminationGracePeriodSeconds", 30)
    if options.grace_s is not None:
        grace_s = options.grace_s
    return max(grace_s, 1) if grace_s < 0 else grace_s


def _finalizers(kept: Resource, present: Object, options: DeleteOptions) -> list[str]:
    """The present finalizers, and the one by which the garbage collector learns of the policy."""
    metadata = present["metadata"]
    finalizers = list(metadata.get("finalizers", []))
    if "deletionTimestamp" in metadata and not options.propagation:
        return finalizers
    policy = options.propagation
    if not policy:
        if _ORPHAN in finalizers or _FOREGROUND in finalizers:
            return finalizers
        policy = "Orphan" if kept.key == ("batch", "jobs") else "Background"
    finalizers = [finalizer for finalizer in finalizers if finalizer not in (_ORPHAN, _FOREGROUND)]
    if policy == "Orphan":
        finalizers.append(_ORPHAN)
    elif policy == "Foreground":
        finalizers.append(_FOREGROUND)
    return finalizers


def _answer(api: WriteContext, resource: Resource, last: Object) -> Object:
    if resource.key in ANSWERED_WITH_OBJECT:
        return convert(last, resource)
    metadata = last["metadata"]
    details = {
        "name": metadata["name"],
        "group": resource.group,
        "kind": resource.plural,
        "uid": metadata["uid"],
    }
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }
