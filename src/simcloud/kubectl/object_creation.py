"""Shared steps of the verbs that create objects: namespace, ``--overrides``, last-applied annotation, write, output.

Objects that kubectl builds itself are Go structs in the genuine tool: they contain the fields that Go always writes,
and their JSON has the order of the structs.
"""

from __future__ import annotations

import json
from typing import Any, Final

from simcloud.golang import format_json
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import LAST_APPLIED, ApiError, Object, Resource, WriteOptions, copy
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.schema import complete
from simcloud.kubernetes.api.verbs import Patch, apply_patch

VALIDATION: Final = {
    **dict.fromkeys(("strict", "true", "1", "t", "T", "TRUE", "True"), "Strict"),
    **dict.fromkeys(("ignore", "false", "0", "f", "F", "FALSE", "False"), "Ignore"),
    "warn": "Warn",
}


TYPES = {"json": PatchType.JSON, "merge": PatchType.MERGE, "strategic": PatchType.STRATEGIC}


def the_name(kubectl: Kubectl) -> str:
    """The one NAME that a generator is given; words after ``--`` are a command."""
    words = before_dash(kubectl)
    if len(words) != 1:
        raise UsageError(f"exactly one NAME is required, got {len(words)}", kubectl.command.full)
    return words[0]


def before_dash(kubectl: Kubectl) -> list[str]:
    """The arguments before ``--``."""
    at = kubectl.flags.dash_at
    return kubectl.args if at is None else kubectl.args[:at]


def after_dash(kubectl: Kubectl) -> list[str]:
    """The arguments after the name: a command and its own."""
    return kubectl.args[1:]


def write_options(kubectl: Kubectl, **more: Any) -> WriteOptions:
    """How a write is made, by ``--dry-run`` and ``--validate``."""
    return WriteOptions(
        dry_run=dry_run(kubectl) is DryRun.SERVER, field_validation=field_validation(kubectl), **more
    )


def field_validation(kubectl: Kubectl) -> str:
    """What becomes of unknown fields."""
    said = kubectl.flags.get("validate")
    if said is None:
        return "Warn"
    if said not in VALIDATION:
        raise KubectlError(
            f'invalid - validate option "{said}"; must be one of: strict (or true), warn, ignore (or false)'
        )
    return VALIDATION[said]


def with_last_applied(obj: Object, *, keep_order: bool = False) -> Object:
    """The object with itself as an annotation: what a later apply compares with."""
    metadata = dict(obj.get("metadata") or {})
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED
    }
    applied = {**obj, "metadata": {**metadata, "annotations": annotations}}
    if keep_order and not annotations:
        applied["metadata"].pop("annotations")
    annotations = {**annotations, LAST_APPLIED: format_json(applied, keep_order=keep_order) + "\n"}
    metadata["annotations"] = annotations
    return {**obj, "metadata": metadata}


def has_last_applied(obj: Object) -> bool:
    """Whether an object says what was last applied."""
    return LAST_APPLIED in ((obj.get("metadata") or {}).get("annotations") or {})


def build_object(kubectl: Kubectl, resource: Resource, obj: Object) -> Object:
    """Return an object as Go's struct, in the chosen namespace, with the last-applied annotation if requested."""
    metadata = obj["metadata"]
    if resource.namespaced and kubectl.flags.is_given("namespace"):
        metadata = {**metadata, "namespace": kubectl.namespace}
    built = complete(
        {**obj, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}, resource
    )
    return with_last_applied(built, keep_order=True) if kubectl.flags.get("save-config") else built


async def create_built(
    kubectl: Kubectl, name: str, obj: Object, doing: str = "", teller: Teller | None = None
) -> Object:
    """Create an object that kubectl built, and print it.

    ``name`` is the resource's full name. With ``doing`` a refusal is reported as this command's own failure.
    """
    teller = teller or Teller(kubectl, "created", keep_order=True)
    options = write_options(kubectl)
    connection = await kubectl.connect()
    resource = connection.resource(name)
    built = build_object(kubectl, resource, obj)
    stored = built
    if dry_run(kubectl) is not DryRun.CLIENT:
        try:
            stored = complete(
                await connection.create(
                    resource, kubectl.namespace if resource.namespaced else "", built, options
                ),
                resource,
            )
        except ApiError as error:
            if not doing:
                raise
            raise KubectlError(f"{doing} {error.message}") from None
    await teller.tell(resource, stored)
    return stored


def selector_labels(text: str) -> dict[str, str]:
    """The labels of a list such as ``a=b,c=d``; raises ``KubectlError``."""
    labels = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not part or not equals:
            raise KubectlError(f"unexpected label spec: {part}")
        labels[key] = value
    return labels


def with_namespace(info: Info) -> Object:
    """An object from a file, with the namespace that it goes to."""
    metadata = info.obj.get("metadata") or {}
    if not info.resource.namespaced or metadata.get("namespace"):
        return info.obj
    return {**info.obj, "metadata": {**metadata, "namespace": info.namespace}}


def overridden(kubectl: Kubectl, resource: Resource, obj: Object) -> Object:
    """The object as ``--overrides`` and ``--override-type`` want it."""
    said, kind = kubectl.flags["overrides"], kubectl.flags["override-type"]
    if not said:
        return obj
    if kind not in TYPES:
        raise KubectlError(f"invalid override type: {kind}")
    whole = {**obj, "apiVersion": resource.api_version, "kind": resource.kind}
    try:
        change = json.loads(said)
        return apply_patch(resource, copy(whole), Patch(TYPES[kind], change))
    except (ValueError, RecursionError):
        raise KubectlError("Invalid JSON Patch") from None
    except ApiError as error:
        raise KubectlError(error.message) from None
