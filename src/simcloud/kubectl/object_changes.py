"""Changes of objects by verbs: a copy is changed, and the difference is sent as a patch.

The genuine tool sends strategic merge patches; no time passes here between reading and writing, so a merge patch of
the difference has the same effect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from simcloud.kubectl.errors import Exit, KubectlError, sentence
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object, Resource, WriteOptions, at, copy
from simcloud.kubernetes.api.defaults import drop_empty, print_always
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.verbs import Patch

CHANGE_CAUSE: Final = "kubernetes.io/change-cause"
ALL_AND_SELECTOR: Final = "cannot set --all and --selector at the same time"
LOCAL_AND_SERVER: Final = "cannot specify --local and --dry-run=server - did you mean --dry-run=client?"
LOCAL_NEEDS_FILES: Final = (
    "you must specify resources by --filename when --local is set.\n"
    "Example resource specifications include:\n"
    "   '-f rsrc.yaml'\n"
    "   '--filename=rsrc.json'"
)

Do: TypeAlias = Callable[[Info], Awaitable[None]]

TEMPLATE: Final = ("spec", "template")
TEMPLATES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job"), TEMPLATE
    ),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}
"""Where the kinds that have pods keep what describes them."""


def pod_spec(resource: Resource, obj: Object) -> Object:
    """The pod's part of an object; ``KubectlError`` if it has none."""
    path = TEMPLATES.get(resource.kind)
    found = at(obj, *path, "spec") if path is not None and resource.custom is None else None
    if not isinstance(found, dict):
        raise KubectlError(f"the object is not a pod or does not have a pod template: {go_type(resource)}")
    return found


def go_type(resource: Resource) -> str:
    """How Go calls an object of a resource in errors."""
    return "*unstructured.Unstructured" if resource.custom else f"*{resource.version}.{resource.kind}"


def as_struct(resource: Resource, obj: Object) -> Object:
    """Return a copy of an object as Go's structs hold and print it."""
    result: Object = copy(obj)
    if resource.custom is None:
        drop_empty(resource.schema, result)
        print_always(resource.schema, result)
    return result


def difference(before: Object, after: Object) -> Object:
    """The merge patch that leads from one object to another; empty if they are equal."""
    patch: Object = {key: None for key in before if key not in after}
    for key, value in after.items():
        known = before.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            if inner := difference(known, value):
                patch[key] = inner
        elif key not in before or known != value:
            patch[key] = value
    return patch


def record(kubectl: Kubectl, obj: Object) -> None:
    """Write the command itself into an object, if ``--record`` asks for it."""
    if kubectl.flags.get("record"):
        flags = [f"--{name}={value}" for name, value in kubectl.flags.spoken]
        words = [kubectl.command.full, *kubectl.args, *flags]
        annotate(obj, CHANGE_CAUSE, " ".join(words))


def annotate(obj: Object, key: str, value: str) -> None:
    """Set one annotation of an object that may have none."""
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), key: value}


async def send(kubectl: Kubectl, info: Info, change: Patch, subresource: str = "") -> Object:
    """Patch an object; with ``--dry-run=server`` the server only says what it would be."""
    connection = await kubectl.connect()
    options = WriteOptions(dry_run=dry_run(kubectl) is DryRun.SERVER)
    return await connection.patch(info.resource, info.namespace, info.name, change, options, subresource)


async def send_difference(kubectl: Kubectl, info: Info, change: Object) -> Object:
    """Patch an object by what differs."""
    return await send(kubectl, info, Patch(PatchType.MERGE, change))


def stays_here(kubectl: Kubectl) -> bool:
    """Whether nothing is sent to the server."""
    return bool(kubectl.flags.get("local")) or dry_run(kubectl) is DryRun.CLIENT


async def each(kubectl: Kubectl, infos: list[Info], do: Do) -> None:
    """Run ``do`` for each object; errors are printed at the end."""
    for info in infos:
        try:
            await do(info)
        except ApiError as error:
            kubectl.postpone(sentence(error))
        except KubectlError as error:
            kubectl.postpone(error.format_message(), error.message)


async def all_found(kubectl: Kubectl, args: list[str]) -> list[Info]:
    """The objects a command line means; if one of them is missing nothing is done at all."""
    local = bool(kubectl.flags.get("local"))
    infos = await select(kubectl, [] if local else args, fetch_files=not local)
    if kubectl.postponed:
        raise Exit(1)
    return infos


async def change_all(
    kubectl: Kubectl, infos: list[Info], what: str, change: Callable[[Info, Object], Any], failed: str
) -> None:
    """Change copies of objects and send what differs; ``failed`` is said before a refusal of the server.

    Objects that are as wanted are passed over in silence.
    """
    teller = Teller(kubectl, f"{what} updated")
    waiting: list[tuple[Info, Object, Object]] = []
    for info in infos:
        before = as_struct(info.resource, info.obj)
        after = copy(before)
        try:
            change(info, after)
        except KubectlError as error:
            kubectl.postpone(f"error: {info.resource.plural}/{info.name} {error.message}")
            continue
        record(kubectl, after)
        if found := difference(before, after):
            waiting.append((info, found, after))
    for info, found, after in waiting:
        if not stays_here(kubectl):
            try:
                after = await send_difference(kubectl, info, found)
            except ApiError as error:
                kubectl.postpone(f"error: {failed} {error.message}", f"{failed} {error.message}")
                continue
        await teller.tell(info.resource, after)
