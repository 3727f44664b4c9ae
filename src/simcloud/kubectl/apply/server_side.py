"""Server-side apply of one object, including the migration from client-side apply."""

from __future__ import annotations

from typing import Any, Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_creation import with_namespace, write_options
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import LAST_APPLIED, ApiError, ApplyConflict, Object, WriteOptions, at
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.verbs import Patch

MANAGER: Final = "kubectl"
BEFORE: Final = ("kubectl-client-side-apply", "before-first-apply")
ANNOTATION_MANAGER: Final = "kubectl-last-applied"
ADVICE: Final = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"""
NOT_MIGRATED: Final = (
    "Warning: failed to migrate kubectl.kubernetes.io/last-applied-configuration for Server-Side Apply. This is "
    "non-fatal and will be retried next time you apply. Error: {why}\n"
)


async def apply_on_server(kubectl: Kubectl, info: Info) -> Object:
    """Apply one object; the result."""
    connection = await kubectl.connect()
    wanted = Patch(PatchType.APPLY, with_namespace(info))
    force = bool(kubectl.flags["force-conflicts"])
    stored = await _apply_patch(kubectl, connection, info, wanted, force)
    if connection.manager == MANAGER:
        try:
            stored = await _keep_annotation(kubectl, connection, info, stored)
        except ApiError as error:
            await kubectl.err(NOT_MIGRATED.format(why=error.message))
            return stored
    taken = _take_over(stored, connection.manager)
    if taken is None:
        return stored
    change = [
        {"op": "replace", "path": "/metadata/managedFields", "value": taken},
        {
            "op": "replace",
            "path": "/metadata/resourceVersion",
            "value": stored["metadata"]["resourceVersion"],
        },
    ]
    await connection.patch(
        info.resource, info.namespace, info.name, Patch(PatchType.JSON, change), _options(kubectl)
    )
    return await _apply_patch(kubectl, connection, info, wanted, force)


def _options(kubectl: Kubectl) -> WriteOptions:
    return WriteOptions(dry_run=write_options(kubectl).dry_run)


async def _apply_patch(
    kubectl: Kubectl, connection: ApiClient, info: Info, wanted: Patch, force: bool
) -> Object:
    try:
        return await connection.patch(
            info.resource, info.namespace, info.name, wanted, write_options(kubectl, force=force)
        )
    except ApplyConflict as error:
        raise KubectlError(f"{error.message}{ADVICE}") from None


async def _keep_annotation(kubectl: Kubectl, connection: ApiClient, info: Info, stored: Object) -> Object:
    """The last-applied annotation belongs to a manager of its own, so that an apply does not drop it."""
    last = at(stored, "metadata", "annotations", LAST_APPLIED)
    if last is None or _owns_annotation(stored):
        return stored
    metadata = {"name": info.name, "annotations": {LAST_APPLIED: last}}
    if info.namespace:
        metadata["namespace"] = info.namespace
    just = {"apiVersion": info.resource.api_version, "kind": info.resource.kind, "metadata": metadata}
    before, connection.manager = connection.manager, ANNOTATION_MANAGER
    try:
        return await connection.patch(
            info.resource, info.namespace, info.name, Patch(PatchType.APPLY, just), _options(kubectl)
        )
    finally:
        connection.manager = before


def _owns_annotation(stored: Object) -> bool:
    return any(
        entry["operation"] == "Apply"
        and at(entry, "fieldsV1", "f:metadata", "f:annotations", f"f:{LAST_APPLIED}") is not None
        for entry in at(stored, "metadata", "managedFields") or ()
    )


def _take_over(stored: Object, manager: str) -> list[Object] | None:
    """Return the managed fields with client-side apply merged into server-side apply; None if nothing changes."""
    entries: list[Object] = at(stored, "metadata", "managedFields") or []
    old = [entry for entry in entries if entry["manager"] in BEFORE and entry["operation"] == "Update"]
    mine = next(
        (entry for entry in entries if entry["manager"] == manager and entry["operation"] == "Apply"), None
    )
    old = [entry for entry in old if not entry.get("subresource")]
    if not old or mine is None:
        return None
    fields: Any = mine["fieldsV1"]
    for entry in old:
        fields = _union(fields, entry["fieldsV1"])
    return [
        {**entry, "fieldsV1": fields} if entry is mine else entry for entry in entries if entry not in old
    ]


def _union(one: Object, other: Object) -> Object:
    merged = dict(one)
    for key, value in other.items():
        merged[key] = _union(merged[key], value) if key in merged else value
    return merged
