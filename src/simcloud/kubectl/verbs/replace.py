"""``kubectl replace``: replaces objects by name; with ``--force`` deletes them first."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.files import Failures, fail, need_files, read_given, with_source
from simcloud.kubectl.object_creation import (
    field_validation,
    has_last_applied,
    with_last_applied,
    with_namespace,
    write_options,
)
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.raw import raw_file
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import delete_all, manner_of
from simcloud.kubernetes.api import ApiError, Object

EXAMPLES: Final = (
    "kubectl replace -f web.yaml",
    "kubectl get pod web -o yaml | sed 's/1.26/1.27/' | kubectl replace -f -",
    "kubectl replace --force -f web.yaml",
)


@command("replace", "Replace resources by those of files", examples=EXAMPLES)
async def replace(kubectl: Kubectl) -> None:
    """Replace every object of the files."""
    flags = kubectl.flags
    if flags["raw"]:
        await kubectl.out(await raw_file(kubectl, "PUT"))
        return
    if flags["grace-period"] >= 0 and not flags["force"]:
        raise KubectlError("--grace-period must have --force specified")
    if flags["timeout"] and not flags["force"]:
        raise KubectlError("--timeout must have --force specified")
    need_files(kubectl)
    teller = Teller(kubectl, "replaced")
    found = await read_given(kubectl, validate=field_validation(kubectl) != "Ignore")
    failures = found.failures
    if not found.infos and not failures:
        raise KubectlError("no objects passed to replace")
    if flags["force"] and dry_run(kubectl) is DryRun.NONE and found.infos:
        await _delete_first(kubectl, found.infos, failures)
    for info in found.infos:
        try:
            await teller.tell(info.resource, await _replace(kubectl, info))
        except ApiError as error:
            failures.append(with_source("replacing", info.source, error))
        except KubectlError as error:
            failures.append(error)
    fail(kubectl, failures)


async def _delete_first(kubectl: Kubectl, infos: list[Info], failures: Failures) -> None:
    """Delete what is there and wait until it is gone."""
    flags = kubectl.flags
    flags.values.update({"ignore-not-found": True, "wait": True})
    flags.changed["wait"] = True
    if flags["grace-period"] != 0:
        flags.values["force"] = False
    manner = structs.replace(await manner_of(kubectl), forced=False)
    flags.values["force"] = True
    await delete_all(kubectl, infos, manner, failures)


async def _replace(kubectl: Kubectl, info: Info) -> Object:
    obj = with_namespace(info)
    if kubectl.flags["save-config"] or has_last_applied(obj):
        obj = with_last_applied(obj)
    if dry_run(kubectl) is DryRun.CLIENT:
        return obj
    connection = await kubectl.connect()
    if kubectl.flags["force"]:
        metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
        obj = {**obj, "metadata": metadata}
        return await connection.create(info.resource, info.namespace, obj, write_options(kubectl))
    if not info.name:
        raise KubectlError("resource name may not be empty")
    return await connection.update(
        info.resource, info.namespace, info.name, obj, write_options(kubectl), kubectl.flags["subresource"]
    )
