"""Client-side apply of one object: creates it with its last-applied annotation, or patches it."""

from __future__ import annotations

import json
from typing import Final

from simcloud.golang import format_json
from simcloud.kubectl.apply.three_way import merge_three_way
from simcloud.kubectl.errors import KubectlError, WithContext
from simcloud.kubectl.object_creation import with_last_applied, with_namespace, write_options
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.wait_loop import until_gone
from simcloud.kubernetes.api import LAST_APPLIED, ApiError, DeleteOptions, NotFound, Object, at, copy
from simcloud.kubernetes.api.verbs import Patch, apply_patch

NO_ANNOTATION: Final = (
    "Warning: resource {name} is missing the kubectl.kubernetes.io/last-applied-configuration annotation which is "
    "required by kubectl apply. kubectl apply should only be used on resources created declaratively by either "
    "kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n"
)
DELETING: Final = "Warning: Detected changes to resource {name} which is currently being deleted.\n"


def describe_for_error(info: Info) -> str:
    """Describe an object as in the errors of apply."""
    resource = info.resource
    version = f"{resource.group}/{resource.version}"
    return (
        f'Resource: "{version}, Resource={resource.plural}", GroupVersionKind: "{version}, Kind={resource.kind}"\n'
        f'Name: "{info.name}", Namespace: "{info.namespace}"'
    )


async def apply_object(kubectl: Kubectl, info: Info) -> tuple[Object, str]:
    """Apply one object: the result, and what was done."""
    if not info.name and at(info.obj, "metadata", "generateName"):
        named = at(info.obj, "metadata", "generateName")
        raise KubectlError(f"from {named}: cannot use generate name with apply")
    wanted = with_last_applied(with_namespace(info))
    current = await _current(kubectl, info)
    if current is None:
        return await _create(kubectl, info, wanted), "created"
    client_only = dry_run(kubectl) is DryRun.CLIENT
    if LAST_APPLIED not in (at(current, "metadata", "annotations") or {}):
        await kubectl.err(NO_ANNOTATION.format(name=f"{info.resource.plural}/{info.name}"))
    change = patch_of(info, wanted, current)
    if not change.body:
        return current, "unchanged"
    if client_only:
        patched = apply_patch(info.resource, copy(current), change)
    else:
        patched = await _send_patch(kubectl, info, wanted, change)
    if at(patched, "metadata", "deletionTimestamp"):
        await kubectl.err(DELETING.format(name=info.name))
    return patched, "configured"


def patch_of(info: Info, wanted: Object, current: Object) -> Patch:
    """The change that an apply would make."""
    last = at(current, "metadata", "annotations", LAST_APPLIED)
    original = None
    if last:
        try:
            original = json.loads(last)
        except (ValueError, RecursionError):
            raise KubectlError(
                f"error when applying patch:\nfor: {info.source}: invalid annotation"
            ) from None
    return merge_three_way(info.resource, original if isinstance(original, dict) else None, wanted, current)


async def _current(kubectl: Kubectl, info: Info) -> Object | None:
    doing = f'error when retrieving current configuration of:\n{describe_for_error(info)}\nfrom server for: "{info.source}"'
    if not info.name:
        raise KubectlError(f"{doing}: resource name may not be empty")
    connection = await kubectl.connect()
    try:
        return await connection.get(info.resource, info.namespace, info.name)
    except NotFound:
        return None
    except ApiError as error:
        raise WithContext(doing, error) from None


async def _create(kubectl: Kubectl, info: Info, wanted: Object) -> Object:
    if dry_run(kubectl) is DryRun.CLIENT:
        return wanted
    connection = await kubectl.connect()
    try:
        return await connection.create(info.resource, info.namespace, wanted, write_options(kubectl))
    except ApiError as error:
        raise WithContext(f'error when creating "{info.source}"', error) from None


async def _send_patch(kubectl: Kubectl, info: Info, wanted: Object, change: Patch) -> Object:
    connection = await kubectl.connect()
    try:
        return await connection.patch(
            info.resource, info.namespace, info.name, change, write_options(kubectl)
        )
    except ApiError as error:
        if kubectl.flags["force"] and error.reason in ("Invalid", "Conflict"):
            return await _recreate(kubectl, info, wanted)
        doing = (
            f"error when applying patch:\n{format_json(change.body)}\nto:\n{describe_for_error(info)}\n"
            f'for: "{info.source}": error when patching "{info.source}"'
        )
        raise WithContext(doing, error) from None


async def _recreate(kubectl: Kubectl, info: Info, wanted: Object) -> Object:
    """``--force``: delete an object that cannot be changed, wait until it is gone, and create it again."""
    connection = await kubectl.connect()
    grace = kubectl.flags["grace-period"]
    options = DeleteOptions(grace_s=grace if grace >= 0 else None, propagation="Background")
    await connection.delete(info.resource, info.namespace, info.name, options)
    await until_gone(kubectl, info, kubectl.flags["timeout"])
    return await connection.create(info.resource, info.namespace, wanted, write_options(kubectl))
