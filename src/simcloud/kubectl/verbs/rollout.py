"""``kubectl rollout history``, ``undo``, ``restart``, ``pause`` and ``resume``; ``status`` has a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import (
    CHANGE_CAUSE,
    difference,
    each,
    send,
    send_difference,
)
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.revisions import (
    KINDS,
    REVISION,
    Revision,
    find,
    history_text,
    pods_alike,
    revisions,
    template_text,
)
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import LAST_APPLIED, ApiError, Object, at, copy, meta
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.verbs import Patch

RESTARTED: Final = "kubectl.kubernetes.io/restartedAt"
NOT_ROLLED_BACK: Final = (
    LAST_APPLIED,
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
)
"""Annotations that speak of the present and stay when a former revision comes back."""
MANAGED_BY_APPLY: Final = (
    "was previously managed with 'kubectl apply'. Rolling back will not update the "
    f"{LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider "
    "using 'kubectl apply' with your previous configuration file instead."
)

group("rollout", "Watch and steer how a workload changes from one version to the next", silent=True)


async def choose_objects(kubectl: Kubectl) -> list[Info]:
    """Select the objects of a rollout command; all of a kind if no name is given."""
    flags = kubectl.flags
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError("required resource not specified")
    return await select(kubectl, kubectl.args, everything=True, fetch_files=True)


def no_visitor(info: Info) -> str:
    """How Go tells that nothing is known for a kind."""
    return f"no visitor method exists for {{{info.resource.group} {info.resource.kind}}}"


@command(
    "rollout history",
    "Show the former revisions of a workload",
    examples=("kubectl rollout history deploy/web",),
)
async def history(kubectl: Kubectl) -> None:
    """List revisions, or show one."""
    number = kubectl.flags["revision"]
    if number < 0:
        raise KubectlError(f"revision must be a positive integer: {number}")
    teller = Teller(kubectl, "")
    plain = not kubectl.flags["output"]

    async def one(info: Info) -> None:
        if info.resource.kind not in KINDS:
            raise KubectlError(f'error retrieving history for "{info.resource.kind}", {no_visitor(info)}')
        known = await revisions(kubectl, info)
        wanted = [revision for revision in known if number in (0, revision.number)]
        if number and not wanted:
            raise KubectlError("unable to find the specified revision")
        if not plain:
            for revision in wanted:
                await teller.tell(info.resource, revision.shown)
        elif number:
            text = template_text(_with_change_cause(info, wanted[0]))
            await teller.tell(info.resource, info.obj, f"with revision #{number}\n{text}")
        else:
            await teller.tell(info.resource, info.obj, f"\n{history_text(known)}")

    await each(kubectl, await choose_objects(kubectl), one)


def _with_change_cause(info: Info, revision: Revision) -> Object:
    """Return a revision's template with the change cause among its annotations."""
    if info.resource.kind != "Deployment" or not revision.cause:
        return revision.template
    template: Object = copy(revision.template)
    metadata = template.setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), CHANGE_CAUSE: revision.cause}
    return template


@command(
    "rollout undo",
    "Go back to a former revision",
    examples=("kubectl rollout undo deploy/web --to-revision=3",),
)
async def undo(kubectl: Kubectl) -> None:
    """Roll back every object named."""
    teller = Teller(kubectl, "rolled back")

    async def one(info: Info) -> None:
        if at(meta(info.obj), "annotations", LAST_APPLIED) is not None:
            await kubectl.err(f"Warning: resource {info.resource.plural}/{info.name} {MANAGED_BY_APPLY}\n")
        if info.resource.kind not in KINDS:
            raise KubectlError(f'error retrieving rollbacker for "{info.resource.kind}", {no_visitor(info)}')
        await teller.tell(info.resource, info.obj, await _roll_back(kubectl, info))

    await each(kubectl, await choose_objects(kubectl), one)


async def _roll_back(kubectl: Kubectl, info: Info) -> str:
    """Roll one object back; return what was done."""
    number = kubectl.flags["to-revision"]
    deployment = info.resource.kind == "Deployment"
    if number < 0:
        raise KubectlError(f"unable to find specified revision {number} in history")
    known = await revisions(kubectl, info)
    if number == 0 and len(known) < 2:
        raise KubectlError(
            f'no rollout history found for deployment "{info.name}"'
            if deployment
            else "no last revision to roll back to"
        )
    wanted = find(known, number)
    if dry_run(kubectl) is DryRun.CLIENT:
        text = template_text(wanted.template)
        return text if deployment else f"will roll back to {text}"
    if deployment and at(info.obj, "spec", "paused"):
        raise KubectlError(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
        )
    if pods_alike(wanted.template, info.obj["spec"]["template"]):
        return f"skipped rollback (current template already matches revision {wanted.number})"
    try:
        if deployment:
            await send(kubectl, info, Patch(PatchType.JSON, _operations(info, wanted)))
        else:
            await send(kubectl, info, Patch(PatchType.STRATEGIC, copy(wanted.keeper["data"])))
    except ApiError as error:
        raise KubectlError(f"failed restoring revision {number}: {error.message}") from None
    return "rolled back"


def _operations(info: Info, wanted: Revision) -> list[Object]:
    """The JSON patch that makes a Deployment what a ReplicaSet of it remembers."""
    template: Object = copy(wanted.template)
    at(template, "metadata", "labels", default={}).pop("pod-template-hash", None)
    now = meta(info.obj).get("annotations") or {}
    then = meta(wanted.keeper).get("annotations") or {}
    annotations = {key: value for key, value in now.items() if key in NOT_ROLLED_BACK}
    annotations |= {key: value for key, value in then.items() if key not in NOT_ROLLED_BACK}
    return [
        {"op": "replace", "path": "/spec/template", "value": template},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ]


@command(
    "rollout restart", "Replace all pods of a workload", examples=("kubectl rollout restart deploy/web",)
)
async def restart(kubectl: Kubectl) -> None:
    """Mark every object named, so that its pods are made anew."""
    connection = await kubectl.connect()
    now = connection.api.timestamp()

    def change(info: Info, obj: Object) -> None:
        if info.resource.kind not in KINDS:
            raise KubectlError("restarting is not supported")
        if at(obj, "spec", "paused"):
            raise KubectlError("can't restart paused deployment (run rollout resume first)")
        metadata = obj["spec"]["template"].setdefault("metadata", {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), RESTARTED: now}

    hurry = "if restart has already been triggered within the past second, please wait before attempting to trigger another"
    await _steer(kubectl, "restarted", change, hurry)


@command(
    "rollout pause",
    "Hold back changes of a deployment's pods",
    examples=("kubectl rollout pause deploy/web",),
)
async def pause(kubectl: Kubectl) -> None:
    """Pause every object named."""

    def change(info: Info, obj: Object) -> None:
        if info.resource.kind != "Deployment":
            raise KubectlError("pausing is not supported")
        if at(obj, "spec", "paused"):
            raise KubectlError("is already paused")
        obj["spec"]["paused"] = True

    await _steer(kubectl, "paused", change, "")


@command(
    "rollout resume",
    "Let changes of a deployment's pods go on",
    examples=("kubectl rollout resume deploy/web",),
)
async def resume(kubectl: Kubectl) -> None:
    """Resume every object named."""

    def change(info: Info, obj: Object) -> None:
        if info.resource.kind != "Deployment":
            raise KubectlError("resuming is not supported")
        if not at(obj, "spec", "paused"):
            raise KubectlError("is not paused")
        del obj["spec"]["paused"]

    await _steer(kubectl, "resumed", change, "")


async def _steer(kubectl: Kubectl, done: str, change: Callable[[Info, Object], None], hurry: str) -> None:
    """Change every object named, and say so."""
    infos = await choose_objects(kubectl)
    teller = Teller(kubectl, done)
    if not infos and not kubectl.postponed:
        await kubectl.err(f"No resources found in {kubectl.namespace} namespace.\n")

    async def one(info: Info) -> None:
        changed = copy(info.obj)
        group = f".{info.resource.group}" if info.resource.group else ""
        try:
            change(info, changed)
        except KubectlError as error:
            raise KubectlError(
                f'error: {info.resource.plural}{group} "{info.name}" {error.message}'
            ) from None
        found = difference(info.obj, changed)
        if not found and hurry:
            raise KubectlError(f"failed to create patch for {info.name}: {hurry}")
        try:
            changed = await send_difference(kubectl, info, found)
        except ApiError as error:
            raise KubectlError(f"failed to patch: {error.message}") from None
        await teller.tell(info.resource, changed)

    await each(kubectl, infos, one)
