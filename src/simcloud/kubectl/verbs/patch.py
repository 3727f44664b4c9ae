"""``kubectl patch``: changes fields of an object with one of three patch types."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from simcloud.golang import quote
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError, sentence
from simcloud.kubectl.input.yaml_text import BadYaml, read_yaml
from simcloud.kubectl.object_changes import LOCAL_AND_SERVER, each, record, send, send_difference, stays_here
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import Info, Wanted, fetch, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, NoSuchPath, Object
from simcloud.kubernetes.api.patch import PatchType, read_patch, strategic_merge
from simcloud.kubernetes.api.verbs import Patch, apply_patch
from simcloud.machine.files import FileError

TYPES: Final = {"json": PatchType.JSON, "merge": PatchType.MERGE, "strategic": PatchType.STRATEGIC}
EXAMPLES: Final = (
    """kubectl patch deploy web -p '{"spec":{"replicas":3}}'""",
    """kubectl patch svc web --type=json -p '[{"op":"replace","path":"/spec/ports/0/port","value":8080}]'""",
)


@command("patch", "Change some fields of an object", examples=EXAMPLES)
async def patch(kubectl: Kubectl) -> None:
    """Patch every object named."""
    change = await _change(kubectl)
    local = bool(kubectl.flags["local"])
    teller = Teller(kubectl, "patched", trying=False, late=True)

    async def one(info: Info) -> None:
        await _patch(kubectl, info, change, teller)

    await each(kubectl, await select(kubectl, kubectl.args, fetch_files=not local), one)


async def _change(kubectl: Kubectl) -> Patch:
    """The patch that the flags ask for."""
    flags = kubectl.flags
    tried = dry_run(kubectl)
    if flags["patch"] and flags["patch-file"]:
        raise KubectlError("cannot specify --patch and --patch-file together")
    if not flags["patch"] and not flags["patch-file"]:
        raise KubectlError("must specify --patch or --patch-file containing the contents of the patch")
    if flags["local"] and kubectl.args:
        raise KubectlError("cannot specify --local and server resources")
    if flags["local"] and tried is DryRun.SERVER:
        raise KubectlError(LOCAL_AND_SERVER)
    kind = TYPES.get(flags["type"].lower())
    if kind is None:
        raise KubectlError(f'--type must be one of [{" ".join(TYPES)}], not "{flags["type"]}"')
    return Patch(kind, await _body(kubectl))


async def _body(kubectl: Kubectl) -> bytes:
    """The patch as JSON, or as it was written where it claims to be JSON."""
    name = kubectl.flags["patch-file"]
    if name:
        try:
            body = await kubectl.ctx.read_file(name)
        except FileError as error:
            raise KubectlError(f"unable to read patch file: open {name}: {error.strerror.lower()}") from None
    else:
        body = kubectl.flags["patch"].encode()
    if body.lstrip()[:1] == b"{":
        return body
    try:
        return msgspec.json.encode(read_yaml(body))
    except (BadYaml, TypeError) as error:
        raise KubectlError(f"unable to parse {quote(kubectl.flags['patch'])}: {error}") from None


async def _patch(kubectl: Kubectl, info: Info, change: Patch, teller: Teller) -> None:
    subresource = kubectl.flags["subresource"]
    before = info.obj
    if subresource and not kubectl.flags["local"]:
        connection = await kubectl.connect()
        asked = Wanted(info.resource, info.namespace, info.name)
        try:
            before = await fetch(connection, asked, subresource)
        except NoSuchPath as error:
            group = f".{info.resource.group}" if info.resource.group else ""
            what = f"{info.resource.plural}{group} {info.name}"
            raise PlainError(f"{sentence(error)} (get {what})") from None
    if stays_here(kubectl):
        after = _patch_locally(info, before, change)
    else:
        body = read_patch(change.body, change.type)
        after = await send(kubectl, info, Patch(change.type, body), subresource)
    unchanged = after == before
    if not stays_here(kubectl) and kubectl.flags["record"]:
        after = await _record_change(kubectl, info, after)
    await teller.tell(info.resource, after, "patched (no change)" if unchanged else "patched")


async def _record_change(kubectl: Kubectl, info: Info, after: Object) -> Object:
    change: Object = {"metadata": {}}
    record(kubectl, change)
    return await send_difference(kubectl, info, change)


def _patch_locally(info: Info, before: Object, change: Patch) -> Object:
    """Return the patched object, computed without the server."""
    try:
        body: Any = read_patch(change.body, change.type)
    except ApiError:
        raise KubectlError("invalid JSON document") from None
    try:
        if change.type is PatchType.STRATEGIC:  # whether types fit is for the server to say
            return strategic_merge(before, body, info.resource.schema)
        return apply_patch(info.resource, before, Patch(change.type, body))
    except ApiError as error:
        message = error.message.removeprefix("error decoding patch: ")
        raise KubectlError(message.replace("[]handlers.jsonPatchOp", "jsonpatch.Patch")) from None
