"""``kubectl diff``: what an apply would change, shown by the machine's own diff."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.apply.client_side import patch_of
from simcloud.kubectl.apply.server_side import MANAGER
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError, WithContext, tell
from simcloud.kubectl.input.files import need_files, read_given
from simcloud.kubectl.object_creation import with_namespace
from simcloud.kubectl.printing.lists import without_managed_fields
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, NotFound, Object, WriteOptions
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.verbs import Patch
from simcloud.machine.files import FileError
from simcloud.machine.process import CommandNotFound, ForkFailed, NotExecutable

EXAMPLES: Final = ("kubectl diff -f web.yaml", "cat web.yaml | kubectl diff -f -")
FAILED: Final = 2
"""The exit code of a failure: 1 says that there are differences."""
MASK: Final = "***"


@command("diff", "Show what an apply would change", examples=EXAMPLES)
async def diff(kubectl: Kubectl) -> int:
    """Compare the live objects with what they would be."""
    flags = kubectl.flags
    if flags["server-side"] and not flags.is_given("field-manager"):
        flags.values["field-manager"] = MANAGER
    try:
        return await _diff(kubectl)
    except (ApiError, WithContext, KubectlError) as error:
        raise PlainError(tell(error), FAILED) from None
    except FileError as error:
        raise KubectlError(f"{error.path}: {error.strerror.lower()}", FAILED) from None


async def _diff(kubectl: Kubectl) -> int:
    need_files(kubectl)
    if kubectl.flags["force-conflicts"] and not kubectl.flags["server-side"]:
        raise KubectlError("--force-conflicts only works with --server-side")
    found = await read_given(kubectl)
    if found.failures:
        raise found.failures[0]
    folders = [_folder(kubectl, name) for name in ("LIVE", "MERGED")]
    try:
        for info in found.infos:
            forms = await _forms(kubectl, info)
            for folder, obj in zip(folders, forms, strict=True):
                if obj is not None:
                    await kubectl.ctx.cpu(kubectl.ctx.random("kubectl.diff.write").uniform(0.000_3, 0.001_2))
                    kubectl.ctx.files.write(f"{folder}/{_file_name(info)}", as_yaml(obj).encode())
        return await _compare(kubectl, folders)
    finally:
        for folder in folders:
            _remove(kubectl, folder)


def _folder(kubectl: Kubectl, name: str) -> str:
    number = kubectl.ctx.random("kubectl.diff").randrange(1 << 32)
    path = f"/tmp/{name}-{number}"
    kubectl.ctx.files.mkdir(path, 0o700)
    return path


def _remove(kubectl: Kubectl, folder: str) -> None:
    files = kubectl.ctx.files
    for entry in files.listdir(folder):
        files.remove(f"{folder}/{entry}")
    files.rmdir(folder)


def _file_name(info: Info) -> str:
    resource = info.resource
    group = f"{resource.group}." if resource.group else ""
    return f"{group}{resource.version}.{resource.kind}.{info.namespace}.{info.name}"


async def _forms(kubectl: Kubectl, info: Info) -> tuple[Object | None, Object]:
    """The object as it is and as it would be, fit to be shown."""
    if not info.name:
        raise KubectlError("resource name may not be empty")
    connection = await kubectl.connect()
    live: Object | None
    try:
        live = await connection.get(info.resource, info.namespace, info.name)
    except NotFound:
        live = None
    merged = await _dry_run_result(kubectl, info, live)
    if not kubectl.flags["show-managed-fields"]:
        live = without_managed_fields(live) if live is not None else None
        merged = without_managed_fields(merged)
    if info.resource.key == ("", "secrets") and not kubectl.flags["show-secrets"]:
        return _mask(live, merged)
    return live, merged


async def _dry_run_result(kubectl: Kubectl, info: Info, live: Object | None) -> Object:
    connection = await kubectl.connect()
    wanted, options = with_namespace(info), WriteOptions(dry_run=True)
    place = (info.resource, info.namespace)
    if kubectl.flags["server-side"]:
        options.force = bool(kubectl.flags["force-conflicts"])
        return await connection.patch(*place, info.name, Patch(PatchType.APPLY, wanted), options)
    if live is None:
        return await connection.create(*place, wanted, options)
    metadata = wanted["metadata"]
    # Without a map of annotations, those that were applied last would be deleted.
    wanted = {**wanted, "metadata": {**metadata, "annotations": metadata.get("annotations") or {}}}
    change = patch_of(info, wanted, live)
    return await connection.patch(*place, info.name, change, options) if change.body else live


def _mask(live: Object | None, merged: Object) -> tuple[Object | None, Object]:
    """Mask a secret's values so that only differences show."""
    before, after = (live or {}).get("data") or {}, merged.get("data") or {}
    hidden_before, hidden_after = dict.fromkeys(before, MASK), dict.fromkeys(after, MASK)
    for key in before:
        if key in after and before[key] != after[key]:
            hidden_before[key], hidden_after[key] = f"{MASK} (before)", f"{MASK} (after)"
    if live is not None and before:
        live = {**live, "data": hidden_before}
    return live, {**merged, "data": hidden_after} if after else merged


async def _compare(kubectl: Kubectl, folders: list[str]) -> int:
    said = kubectl.ctx.env.get("KUBECTL_EXTERNAL_DIFF", "").split()
    await kubectl.tell_warnings()
    words = [*(said or ["diff", "-u", "-N"]), *folders]
    try:
        status = await kubectl.ctx.start(words).wait()
    except (CommandNotFound, NotExecutable, ForkFailed):
        raise KubectlError(f'exec: "{words[0]}": executable file not found in $PATH') from None
    if status > 1:
        raise KubectlError(f'failed to run "{words[0]}": exit status {status}')
    return status
