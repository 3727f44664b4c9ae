"""``kubectl scale``: sets the number of replicas."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import record, send, send_difference
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, NoSuchPath, Object, at, copy
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.verbs import Patch

LOOK_EVERY_S: Final = 1.0
EXAMPLES: Final = (
    "kubectl scale --replicas=3 deployment/web",
    "kubectl scale --current-replicas=2 --replicas=3 sts/db",
)


@command("scale", "Set the number of replicas of a workload", examples=EXAMPLES, required=("replicas",))
async def scale(kubectl: Kubectl) -> None:
    """Change the scale of each object named; the first that cannot be scaled ends it."""
    flags = kubectl.flags
    teller = Teller(kubectl, "scaled")
    if flags["replicas"] < 0:
        raise KubectlError(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"
        )
    if flags["current-replicas"] < -1:
        raise KubectlError("The --current-replicas must specify an integer of -1 or greater")
    infos = await select(kubectl, kubectl.args, fetch_files=True)
    if flags["resource-version"] and len(infos) > 1:
        raise KubectlError("cannot use --resource-version with multiple resources")
    if not infos and not kubectl.postponed:
        raise KubectlError("no objects passed to scale")
    for info in infos:
        await _scale(kubectl, info, teller)


async def _scale(kubectl: Kubectl, info: Info, teller: Teller) -> None:
    replicas = kubectl.flags["replicas"]
    if dry_run(kubectl) is DryRun.CLIENT:
        shown = copy(info.obj)
        shown.setdefault("spec", {})["replicas"] = replicas
        await teller.tell(info.resource, shown)
        return
    await _check(kubectl, info)
    change = Patch(PatchType.MERGE, {"spec": {"replicas": replicas}})
    try:
        await send(kubectl, info, change, "scale")
    except NoSuchPath:
        raise NoScale(info) from None
    if kubectl.flags["timeout"] > 0 and dry_run(kubectl) is DryRun.NONE:
        await _wait(kubectl, info)
    if kubectl.flags["record"]:
        annotated: Object = {"metadata": {}}
        record(kubectl, annotated)
        await send_difference(kubectl, info, annotated)
    shown = copy(info.obj)
    shown.setdefault("spec", {})["replicas"] = replicas
    await teller.tell(info.resource, shown)


async def _check(kubectl: Kubectl, info: Info) -> None:
    """Refuse to scale what is not as it is expected to be."""
    flags = kubectl.flags
    if "scale" not in info.resource.subresources:
        raise NoScale(info)
    if flags["current-replicas"] == -1 and not flags["resource-version"]:
        return
    connection = await kubectl.connect()
    current = await connection.get(info.resource, info.namespace, info.name, "scale")
    expected, found = flags["current-replicas"], at(current, "spec", "replicas", default=0)
    if expected not in (-1, found):
        raise KubectlError(f"Expected replicas to be {expected}, was {found}")
    wanted, version = flags["resource-version"], current["metadata"].get("resourceVersion", "")
    if wanted and wanted != version:
        raise KubectlError(f"Expected resource version to be {wanted}, was {version}")


async def _wait(kubectl: Kubectl, info: Info) -> None:
    """Wait until there are as many replicas as asked for, as long as ``--timeout`` allows."""
    connection = await kubectl.connect()
    end_s = connection.now_s + kubectl.flags["timeout"]
    while True:
        current = await connection.get(info.resource, info.namespace, info.name, "scale")
        if at(current, "status", "replicas", default=0) == at(current, "spec", "replicas", default=0):
            return
        left_s = end_s - connection.now_s
        if left_s <= 0:
            raise KubectlError(f'timed out waiting for "{info.name}" to be synced')
        await kubectl.ctx.sleep(min(LOOK_EVERY_S, left_s))


class NoScale(ApiError):
    """A kind that has no scale, in the words of the client that asks for it."""

    code, reason = 404, "NotFound"

    def __init__(self, info: Info) -> None:
        what = f"(patch {info.resource.plural} {info.name})"
        super().__init__(f"the server could not find the requested resource {what}")
