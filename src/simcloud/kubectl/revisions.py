"""Former revisions of a workload and their pod templates.

A Deployment keeps them as ReplicaSets, a DaemonSet or StatefulSet as ControllerRevisions.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.golang import TabWriter
from simcloud.kubectl.describe.page import Page
from simcloud.kubectl.describe.parts import controller_of
from simcloud.kubectl.describe.templates import write_template
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import CHANGE_CAUSE
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, at, copy, meta, selectors
from simcloud.kubernetes.controllers import template_of

REVISION: Final = "deployment.kubernetes.io/revision"
KEEPERS: Final = ("DaemonSet", "StatefulSet")
KINDS: Final = ("Deployment", *KEEPERS)


class Revision(Struct, frozen=True):
    """One revision of a workload."""

    number: int
    template: Object
    cause: str
    keeper: Object
    """The ReplicaSet or ControllerRevision that holds it."""
    shown: Object
    """What ``-o`` prints for it."""


async def revisions(kubectl: Kubectl, info: Info) -> list[Revision]:
    """All revisions of a workload that are kept, oldest first; of each number the last that has it."""
    found: dict[int, Revision] = {}
    for keeper in await _keepers(kubectl, info):
        if info.resource.kind == "Deployment":
            number_text = at(meta(keeper), "annotations", REVISION, default="")
            if not number_text.isdigit():
                continue
            number, template, shown = int(number_text), keeper["spec"]["template"], keeper
        else:
            number = int(keeper.get("revision", 0))
            template = template_of(keeper)
            shown = copy(info.obj)
            shown["spec"]["template"] = copy(template)
        cause = at(meta(keeper), "annotations", CHANGE_CAUSE, default="")
        found[number] = Revision(number, template, cause, keeper, shown)
    return [found[number] for number in sorted(found)]


async def _keepers(kubectl: Kubectl, info: Info) -> list[Object]:
    connection = await kubectl.connect()
    plural = "replicasets.apps" if info.resource.kind == "Deployment" else "controllerrevisions.apps"
    selector = selectors.from_label_selector(at(info.obj, "spec", "selector"))
    listed = await connection.list(connection.resource(plural), info.namespace, labels=str(selector))
    owner = meta(info.obj).get("uid")
    return [item for item in listed if (controller_of(item) or {}).get("uid") == owner]


def pods_alike(one: Object, other: Object) -> bool:
    """Whether two templates make the same pods; the mark of a ReplicaSet aside."""
    return _without_hash(one) == _without_hash(other)


def _without_hash(template: Object) -> Object:
    result: Object = copy(template)
    labels = at(result, "metadata", "labels", default=None)
    if isinstance(labels, dict):
        labels.pop("pod-template-hash", None)
    return result


def find(known: list[Revision], number: int) -> Revision:
    """The revision of a number; 0 means the one before the last."""
    if number == 0:
        return known[-2]
    for revision in known:
        if revision.number == number:
            return revision
    raise KubectlError(f"unable to find specified revision {number} in history")


def history_text(known: list[Revision]) -> str:
    """A table of revisions and why they were made."""
    if not known:
        return "No rollout history found."
    writer = TabWriter(padding=2)
    writer.write("REVISION\tCHANGE-CAUSE\n")
    for revision in known:
        writer.write(f"{revision.number}\t{revision.cause or '<none>'}\n")
    return writer.flush()


def template_text(template: Object) -> str:
    """What pods of a template are like, in words."""
    page = Page()
    write_template(page, template)
    return page.raw()
