"""The AdmissionRequest that webhooks and expressions see of a write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


def new_object(write: Write, resource: Resource) -> Object | None:
    """The object as it will be; a deletion has none."""
    return None if write.operation == "DELETE" else _convert(write.new, resource, write)


def old_object(write: Write, resource: Resource) -> Object | None:
    """The object as it was; a creation has none."""
    return None if write.old is None else _convert(write.old, resource, write)


def _convert(obj: Object, resource: Resource, write: Write) -> Object:
    same = write.subresource and obj.get("kind") != write.resource.kind
    return obj if same else convert(obj, resource)


def _kind(write: Write, resource: Resource) -> Object:
    """The kind of what is written: an action's own, or the resource's."""
    if write.subresource and write.new.get("kind") != write.resource.kind:
        group, _, version = str(write.new.get("apiVersion", "")).rpartition("/")
        return {"group": group, "version": version, "kind": write.new.get("kind", "")}
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def admission_request(write: Write, resource: Resource, uid: str) -> Object:
    """The request without the objects, empty parts left out as Go leaves them out."""
    kind = _kind(write, resource)
    place = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    said = write.resource
    request: Object = {
        "uid": uid,
        "kind": kind,
        "resource": place,
        "subResource": write.subresource,
        "requestKind": _kind(write, said),
        "requestResource": {"group": said.group, "version": said.version, "resource": said.plural},
        "requestSubResource": write.subresource,
        "name": write.key.name,
        "namespace": write.key.name if said.key == ("", "namespaces") else write.key.namespace,
        "operation": write.operation,
        "userInfo": write.caller.user.info(),
    }
    request = {name: value for name, value in request.items() if value != ""}
    request["dryRun"] = write.options.dry_run
    options: Object = {"kind": _OPTIONS[write.operation], "apiVersion": "meta.k8s.io/v1"}
    if write.options.dry_run:
        options["dryRun"] = ["All"]
    if write.operation != "DELETE":
        options |= {"fieldManager": write.caller.manager, "fieldValidation": write.options.field_validation}
    request["options"] = options
    return request
