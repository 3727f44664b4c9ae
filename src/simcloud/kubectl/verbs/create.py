"""``kubectl create``: objects from files; the generators are commands below it."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.files import fail, need_files, read_given, with_source
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
from simcloud.kubernetes.api import ApiError, Object

EXAMPLES: Final = (
    "kubectl create -f web.yaml",
    "cat web.json | kubectl create -f -",
    "kubectl create namespace shop",
    "kubectl create deployment web --image=nginx:1.27",
)


@command("create", "Create resources from files, or by a generator", examples=EXAMPLES)
async def create(kubectl: Kubectl) -> None:
    """Create every object of the files."""
    flags = kubectl.flags
    need_files(kubectl)
    if flags["raw"]:
        await kubectl.out(await raw_file(kubectl, "POST"))
        return
    if flags["edit"]:
        raise KubectlError('unable to launch the editor "vi"')
    teller = Teller(kubectl, "created")
    found = await read_given(kubectl, validate=field_validation(kubectl) != "Ignore")
    failures = found.failures
    if not found.infos and not failures:
        raise KubectlError("no objects passed to create")
    for info in found.infos:
        try:
            await teller.tell(info.resource, await _create(kubectl, info))
        except ApiError as error:
            failures.append(with_source("creating", info.source, error))
    fail(kubectl, failures)


async def _create(kubectl: Kubectl, info: Info) -> Object:
    obj = with_namespace(info)
    if kubectl.flags["save-config"] or has_last_applied(obj):
        obj = with_last_applied(obj)
    if dry_run(kubectl) is DryRun.CLIENT:
        return obj
    connection = await kubectl.connect()
    return await connection.create(info.resource, info.namespace, obj, write_options(kubectl))
