"""``kubectl certificate approve`` and ``deny``: decide about requests for certificates."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import each
from simcloud.kubectl.output import Teller
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api.objects import Object, at, copy

RESOURCE: Final = "certificatesigningrequests.certificates.k8s.io"
OTHERS: Final = {"Approved": "Denied", "Denied": "Approved"}

group("certificate", "Decide about requests for certificates")


@command(
    "certificate approve", "Approve requests for certificates", examples=("kubectl certificate approve ann",)
)
async def approve(kubectl: Kubectl) -> None:
    """Approve."""
    await _decide(kubectl, "Approved")


@command("certificate deny", "Deny requests for certificates", examples=("kubectl certificate deny ann",))
async def deny(kubectl: Kubectl) -> None:
    """Deny."""
    await _decide(kubectl, "Denied")


async def _decide(kubectl: Kubectl, kind: str) -> None:
    flags, word = kubectl.flags, kubectl.command.name
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError("one or more CSRs must be specified as <name> or -f <filename>")
    teller = Teller(kubectl, kind.lower())
    connection = await kubectl.connect()

    async def one(info: Info) -> None:
        if info.resource.plural != "certificatesigningrequests":
            raise KubectlError("can only handle certificates.k8s.io/v1 certificate signing requests")
        shown = info.obj
        changed = _decided(shown, kind, word, flags["force"], connection.api.timestamp())
        if changed is not None:
            shown = await connection.update(info.resource, "", info.name, changed, None, "approval")
        await teller.tell(info.resource, shown)

    args = [RESOURCE, *kubectl.args] if kubectl.args else []
    await each(kubectl, await select(kubectl, args, fetch_files=True), one)


def _decided(obj: Object, kind: str, word: str, force: bool, now: str) -> Object | None:
    """A request with the decision; None if it has been made before, unless it is to be sent all the same."""
    known = at(obj, "status", "conditions", default=None) or []
    if any(one["type"] == OTHERS[kind] for one in known):
        raise KubectlError(
            f'certificate signing request "{obj["metadata"]["name"]}" is already {OTHERS[kind]}'
        )
    if any(one["type"] == kind for one in known):
        return copy(obj) if force else None
    decision = {
        "type": kind,
        "status": "True",
        "reason": f"Kubectl{word.capitalize()}",
        "message": f"This CSR was {kind.lower()} by kubectl certificate {word}.",
        "lastUpdateTime": now,
    }
    changed: Object = copy(obj)
    changed["status"] = {**(changed.get("status") or {}), "conditions": [*copy(known), decision]}
    return changed
