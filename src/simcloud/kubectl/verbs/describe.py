"""``kubectl describe``: the details of objects."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.describe import describer_for
from simcloud.kubectl.errors import KubectlError, sentence
from simcloud.kubectl.selection import Info, Wanted, fetch, info_of, list_refused, list_requests
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, NotFound

NO_TYPE: Final = (
    'You must specify the type of resource to describe. Use "kubectl api-resources" for a complete list of supported '
    "resources."
)
EXAMPLES: Final = (
    "kubectl describe pod web-1",
    "kubectl describe pods -l app=web",
    "kubectl describe node kind-worker",
)


@command("describe", "Show details of resources", examples=EXAMPLES)
async def describe(kubectl: Kubectl) -> None:
    """Describe what is asked for; a name that is not there stands for all names that begin so."""
    flags = kubectl.flags
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError(NO_TYPE)
    connection = await kubectl.connect()
    found: list[Info] = []
    for request in await list_requests(kubectl):
        try:
            found += await _find_infos(kubectl, request)
        except ApiError as error:
            message = sentence(error) if request.name else list_refused(error, request, flags["selector"], "")
            kubectl.postponed.append(message)
    # Events are asked for one object at a time: of several they are shown only when they are asked for.
    shown = flags["show-events"] and (len(found) < 2 or flags.is_given("show-events"))
    before, after = ("", "\n") if _begin_alike(kubectl, found) else ("\n\n", "")
    for place, info in enumerate(found):
        text = await describer_for(info.resource)(connection, info.obj, shown)
        await kubectl.out(f"{before if place else ''}{text}{after}")
    if not found and not kubectl.postponed:
        where = f" in {kubectl.namespace} namespace." if not flags["all-namespaces"] else ""
        await kubectl.err(f"No resources found{where}\n")


def _begin_alike(kubectl: Kubectl, found: list[Info]) -> bool:
    """Whether the word given was the beginning of names, and no name."""
    if len(kubectl.args) != 2 or "/" in kubectl.args[0]:
        return False
    return any(kubectl.args[1] != info.name for info in found)


async def _find_infos(kubectl: Kubectl, one: Wanted) -> list[Info]:
    connection = await kubectl.connect()
    if not one.name:
        items = await connection.list(one.resource, one.namespace, labels=kubectl.flags["selector"])
        return [info_of(one.resource, obj) for obj in items]
    if kubectl.flags["filename"] or kubectl.flags["kustomize"]:
        return [info_of(one.resource, await connection.get(one.resource, one.namespace or "", one.name))]
    try:
        return [info_of(one.resource, await fetch(connection, one))]
    except NotFound:
        if len(kubectl.args) != 2:
            raise
        items = await connection.list(one.resource, one.namespace)
        alike = [obj for obj in items if obj["metadata"]["name"].startswith(one.name)]
        if not alike:
            raise
        return [info_of(one.resource, obj) for obj in alike]
