"""The verbs create and update: the steps of a write between request and log.

decode -> defaults -> managed fields -> admission -> the kind's strategy -> validation -> log. A write that changes
nothing creates no revision. A dry run skips the last step.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.kubernetes.api import field_errors
from simcloud.kubernetes.api.admission.plugin import select_phases
from simcloud.kubernetes.api.apply.managed_fields import track_update
from simcloud.kubernetes.api.context import Write
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.defaults import apply_defaults, apply_part_defaults
from simcloud.kubernetes.api.errors import AlreadyExists, ApiError, BadRequest, Conflict, Invalid, NotFound
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema.decoding import check_kind, decode, decode_part, strict
from simcloud.kubernetes.api.strategies import prepare_create
from simcloud.kubernetes.api.validation import validate_create, warnings_for
from simcloud.kubernetes.api.verbs.write_context import WriteContext
from simcloud.kubernetes.api.views import VIEWS

NAME_ATTEMPTS: Final = 8
"""Maximum number of suffixes tried for a generateName."""

CREATED_BY_UPDATE: Final = frozenset(
    {
        ("", "endpoints"),
        ("", "events"),
        ("", "limitranges"),
        ("", "services"),
        ("coordination.k8s.io", "leases"),
        ("events.k8s.io", "events"),
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        ("rbac.authorization.k8s.io", "clusterroles"),
        ("rbac.authorization.k8s.io", "rolebindings"),
        ("rbac.authorization.k8s.io", "roles"),
    }
)
"""A PUT to a name that is not there makes these; of all others it is not found."""

_METADATA: Final = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations"),
    *("ownerReferences", "finalizers", "managedFields"),
)

VERSION_NEEDED: Final = frozenset(
    {
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
        ("coordination.k8s.io", "leases"),
        ("policy", "poddisruptionbudgets"),
    }
)
"""These cannot be updated blindly: the request must name the version it replaces."""

WRITTEN_ALONE: Final = {
    ("", "nodes"): "status",
    ("", "pods"): "status",
    ("apps", "daemonsets"): "status",
    ("apps", "deployments"): "status",
    ("apps", "replicasets"): "status",
    ("apps", "statefulsets"): "status",
    ("batch", "jobs"): "status",
    ("coordination.k8s.io", "leases"): "spec",
}
"""The kinds that components write most, and the part that they write. Its defaults follow from nothing else."""

_SUBRESOURCES: Final = {"status": "status", "spec": ""}
"""The subresource by which a part is written."""


def create(
    api: WriteContext, resource: Resource, namespace: str, data: Any, caller: Caller, options: WriteOptions
) -> Object:
    """Make an object of what a request carries."""
    obj = accept(api, resource, data, options)
    settle_namespace(resource, obj["metadata"], namespace)
    return _make(api, resource, obj, caller, options)


def _make(
    api: WriteContext, resource: Resource, obj: Object, caller: Caller, options: WriteOptions
) -> Object:
    kept = api.storage_version(resource)
    apply_defaults(kept, obj, decoded=kept is resource)
    fields = track_update(None, obj, kept, manager=caller.manager, now=api.timestamp())
    return insert(api, resource, obj, fields, caller, options)


def insert(
    api: WriteContext,
    resource: Resource,
    obj: Object,
    managed_fields: list[Object],
    caller: Caller,
    options: WriteOptions,
) -> Object:
    """The later part of a creation: ``obj`` is in its stored version, with its defaults."""
    kept = api.storage_version(resource)
    metadata = obj["metadata"]
    _refuse_version(metadata)
    for stale in ("generation", "managedFields"):
        metadata.pop(stale, None)
    key = api.key(kept, metadata.get("namespace", ""), metadata.get("name", ""))
    metadata["uid"] = api.new_uid()
    metadata["creationTimestamp"] = api.timestamp()
    if managed_fields:
        metadata["managedFields"] = managed_fields
    write = Write(api, "CREATE", kept, key, obj, None, caller, options)
    admit(api, write)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = _generate_name(api, kept, metadata)
        write.key = key = api.key(kept, key.namespace, metadata["name"])
    problems = api.addresses.assign(kept, obj, None)
    prepare_create(kept, obj)
    problems = problems or validate_create(kept, obj) + api.custom.validate(kept, obj, None)
    if problems:
        raise Invalid(kept.group, kept.kind, metadata.get("name", ""), problems)
    options.warnings.extend(warnings_for(kept, obj))
    check(api, write)
    if api.log.get(key) is not None:
        raise AlreadyExists(resource, key.name)
    options.created = True
    if options.dry_run:
        return convert(obj, resource)
    metadata["resourceVersion"] = ""  # its place; the log fills it in
    obj["metadata"] = _arrange(metadata)
    stored = api.log.put(key, obj, caller.user.name)
    api.custom.settle(key)
    return convert(stored, resource)


def update(
    api: WriteContext,
    resource: Resource,
    namespace: str,
    name: str,
    data: Any,
    caller: Caller,
    options: WriteOptions,
    subresource: str = "",
) -> Object:
    """Replace an object by what a request carries."""
    old = api.log.get(api.key(resource, namespace, name))
    part = WRITTEN_ALONE.get(resource.key)
    if (
        part is not None
        and subresource == _SUBRESOURCES[part]
        and old is not None
        and _all_else_is(old, data, part)
    ):
        return _replace_part(api, resource, data, old, caller, options, part)
    obj = accept(api, resource, data, options)
    metadata = obj["metadata"]
    settle_namespace(resource, metadata, namespace)
    if metadata.setdefault("name", name) != name:
        raise BadRequest(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
        )
    if old is None:
        if resource.key in CREATED_BY_UPDATE and not subresource:
            metadata.pop("resourceVersion", None)
            metadata.pop("uid", None)
            return _make(api, resource, obj, caller, options)
        raise NotFound(resource, name)
    kept = api.storage_version(resource)
    apply_defaults(kept, obj, decoded=kept is resource)
    return replace(api, resource, obj, old, caller, options, subresource)


def _all_else_is(old: Object, data: Any, part: str) -> bool:
    """Whether a writer hands the stored object itself back with another part, as components in process do."""
    return (
        isinstance(data, dict)
        and isinstance(data.get(part), dict)
        and all(field == part or data.get(field) is old.get(field) for field in {**data, **old})
    )


def _replace_part(
    api: WriteContext,
    resource: Resource,
    data: Object,
    old: Object,
    caller: Caller,
    options: WriteOptions,
    part: str,
) -> Object:
    """The short way of a part: all else was decoded and defaulted when it was stored, and is shared."""
    check_kind(data, resource)
    decoded = decode_part(data[part], resource, part)
    _report(decoded.problems, resource, options)
    apply_part_defaults(resource, part, decoded.obj)
    obj = {**data, "metadata": _own(data["metadata"]), part: decoded.obj}
    return replace(api, resource, obj, old, caller, options, _SUBRESOURCES[part])


def _own(metadata: Object) -> Object:
    """Metadata to be changed: its parts may be replaced, and keys and items added to them."""
    return {
        name: dict(part) if isinstance(part, dict) else list(part) if isinstance(part, list) else part
        for name, part in metadata.items()
    }


def replace(
    api: WriteContext,
    resource: Resource,
    obj: Object,
    old: Object,
    caller: Caller,
    options: WriteOptions,
    subresource: str = "",
    managed_fields: list[Object] | None = None,
) -> Object:
    """The later part of an update: ``obj``, in its stored version and with its defaults, takes the place of ``old``.

    An apply brings its own ``managed_fields``; for any other write they are worked out here. What an action
    (binding, eviction) does to its object was admitted as the action.
    """
    kept = api.storage_version(resource)
    _refuse_stale(resource, kept, obj, old)
    if managed_fields is None:
        managed_fields = track_update(
            old, obj, kept, manager=caller.manager, now=api.timestamp(), subresource=subresource
        )
    _set(obj["metadata"], "managedFields", managed_fields)
    key = api.key(kept, old["metadata"].get("namespace", ""), old["metadata"]["name"])
    write = Write(api, "UPDATE", kept, key, obj, old, caller, options, subresource)
    view = VIEWS.get(subresource)
    problems = []
    if view is not None:
        admit(api, write)
        view.prepare(write)
        problems = [] if subresource else api.addresses.assign(kept, obj, old)
        problems = problems or view.problems(write) + api.custom.validate(kept, obj, old)
    if problems:
        raise Invalid(kept.group, kept.kind, key.name, problems)
    if not subresource:
        options.warnings.extend(warnings_for(kept, obj, old))
    if view is not None:
        check(api, write)
    if obj == old or options.dry_run:
        return convert(old if obj == old else obj, resource)
    if _is_finished(obj):
        return convert(api.log.remove(key, caller.user.name, obj), resource)
    obj["metadata"] = _arrange(obj["metadata"])
    stored = api.log.put(key, obj, caller.user.name)
    api.custom.settle(key)
    return convert(stored, resource)


def _arrange(metadata: Object) -> Object:
    """Metadata in the order in which Go writes it."""
    return {name: metadata[name] for name in _METADATA if name in metadata}


def accept(api: WriteContext, resource: Resource, data: Any, options: WriteOptions) -> Object:
    """A request's data as an object of this resource, in its stored version, ours to change."""
    check_kind(data, resource)
    decoded = decode(data, resource)
    _report(decoded.problems, resource, options)
    obj = decoded.obj
    obj.setdefault("metadata", {})
    api.custom.default(resource, obj)
    kept = api.storage_version(resource)
    return convert(obj, kept) if kept is not resource else obj


def _report(found: list[str], resource: Resource, options: WriteOptions) -> None:
    """Refuse a request with unknown or repeated fields, or warn of them, as it wants it."""
    problems = options.problems + found
    if problems and options.field_validation == "Strict":
        raise strict(problems, resource.kind, resource.version)
    if problems and options.field_validation == "Warn":
        options.warnings.extend(problems)


def settle_namespace(resource: Resource, metadata: Object, namespace: str) -> None:
    """The object's namespace is the request's; saying another one is an error."""
    if not resource.namespaced:
        metadata.pop("namespace", None)
        return
    said = metadata.get("namespace", "")
    if said and said != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = namespace


def admit(api: WriteContext, write: Write) -> None:
    """Let admission change or refuse a write."""
    phases, _ = select_phases(tuple(api.admission), write.resource.key)
    for run in phases:
        run(write)
    if write.reinvoke:
        write.round = 1
        for run in phases:
            run(write)


def check(api: WriteContext, write: Write) -> None:
    """Let admission refuse a write that is otherwise ready."""
    _, phases = select_phases(tuple(api.admission), write.resource.key)
    for run in phases:
        run(write)
    if api.retry is not None:
        api.retry.settle()


def _generate_name(api: WriteContext, kept: Resource, metadata: Object) -> str:
    base: str = metadata["generateName"][:58]
    for _ in range(NAME_ATTEMPTS):
        name = base + api.new_suffix()
        if api.log.get(api.key(kept, metadata.get("namespace", ""), name)) is None:
            return name
    raise AlreadyExists(kept, metadata["generateName"])


def _refuse_version(metadata: Object) -> None:
    if metadata.pop("resourceVersion", "") not in ("", "0"):
        refusal = ApiError("resourceVersion should not be set on objects to be created")
        refusal.reason = ""
        raise refusal


def _refuse_stale(resource: Resource, kept: Resource, obj: Object, old: Object) -> None:
    """The writer's idea of the object must be the present one, where it has an idea."""
    metadata, present = obj["metadata"], old["metadata"]
    uid = metadata.get("uid")
    if uid and uid != present["uid"]:
        raise Conflict(
            resource,
            present["name"],
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {present['uid']}",
        )
    version = metadata.get("resourceVersion", "")
    if version in ("", "0"):
        if kept.key in VERSION_NEEDED or kept.custom is not None:
            error = field_errors.FieldError(
                "metadata.resourceVersion",
                "FieldValueInvalid",
                "Invalid value: 0: must be specified for an update",
            )
            raise Invalid(kept.group, kept.kind, present["name"], [error])
    elif version != present["resourceVersion"]:
        raise Conflict(resource, present["name"])
    metadata["resourceVersion"] = present["resourceVersion"]


def _set(holder: Object, name: str, value: Any) -> None:
    if value:
        holder[name] = value
    else:
        holder.pop(name, None)


def _is_finished(obj: Object) -> bool:
    """A marked object goes with its last finalizer, unless somebody still has to end it gracefully."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if obj["kind"] == "Namespace" and obj["apiVersion"] == "v1" and obj.get("spec", {}).get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")
