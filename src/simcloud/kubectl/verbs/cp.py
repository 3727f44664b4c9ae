"""``kubectl cp``: copies files and folders to and from containers with their ``tar``."""

from __future__ import annotations

import tarfile
from typing import Final

from simcloud.golang import quote
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import Exit, KubectlError
from simcloud.kubectl.pods.archives import TooMuch, is_whole, members, pack
from simcloud.kubectl.pods.paths import (
    FileSpec,
    base_of,
    clean_path,
    folder_of,
    join_paths,
    lies_in,
    read_spec,
    without_shortcuts,
)
from simcloud.kubectl.pods.streams import Outlets, converse, start_command
from simcloud.kubectl.pods.targets import default_container, existing_container
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.exec import refuse_completed
from simcloud.kubernetes.api import ApiError, Object
from simcloud.machine.files import FileError
from simcloud.machine.process import ByteSource, Capture, NullStream, Stream

EXAMPLES: Final = (
    "kubectl cp /tmp/settings web-1:/tmp/settings",
    "kubectl cp lab/web-1:/var/log/app ./app-logs -c app",
)


@command("cp", "Copy files and folders to and from containers", examples=EXAMPLES)
async def cp(kubectl: Kubectl) -> None:
    """Copy one way or the other."""
    if len(kubectl.args) != 2:
        raise KubectlError("source and destination are required")
    source, target = (read_spec(word) for word in kubectl.args)
    if source.pod and target.pod:
        raise KubectlError("one of src or dest must be a local file specification")
    if not source.file or not target.file:
        raise KubectlError("filepath can not be empty")
    if source.pod:
        await _fetch(kubectl, source, target)
    elif target.pod:
        await _send(kubectl, source, target)
    else:
        raise KubectlError("one of src or dest must be a remote file specification")


async def _send(kubectl: Kubectl, source: FileSpec, target: FileSpec) -> None:
    ctx = kubectl.ctx
    if not ctx.files.exists(source.file):
        raise KubectlError(f"{source.file} doesn't exist in local filesystem")
    file = target.file
    nowhere = NullStream()
    try:
        await _run(
            kubectl, target, ["test", "-d", file], Outlets(nowhere, nowhere), quiet=True, tells_status=False
        )
        file = join_paths(file, base_of(source.file))
    except (KubectlError, ApiError, Exit):
        pass  # no folder, or no such pod: then the copying says so
    try:
        packed = pack(ctx, clean_path(source.file), base_of(clean_path(file)))
    except FileError as error:
        raise KubectlError(f"open {error.path}: {error.strerror.lower()}") from None
    except TooMuch:
        raise KubectlError(f"{source.file} is larger than what can be copied at once") from None
    keep = ["--no-same-permissions", "--no-same-owner"] if kubectl.flags["no-preserve"] else []
    argv = ["tar", *keep, "-xmf", "-", "-C", folder_of(file)]
    await _run(kubectl, target, argv, Outlets(ctx.stdout, ctx.stderr, ByteSource(packed)))


async def _fetch(kubectl: Kubectl, source: FileSpec, target: FileSpec) -> None:
    archive = Capture()
    outlets = Outlets(archive, kubectl.ctx.stdout)
    argv = ["tar", "cf", "-", source.file]
    if kubectl.flags["retries"]:
        argv = ["sh", "-c", f"tar cf - {source.file} | tail -c+0"]
    try:
        await _run(kubectl, source, argv, outlets, complaints=kubectl.ctx.stdout, tells_status=False)
    except Exit as end:
        if not is_whole(bytes(archive.data)):
            await kubectl.err(f"command terminated with exit code {end.code}\n")
            raise
    if archive.dropped_bytes:
        raise KubectlError(f"{source.file} is larger than what can be copied at once")
    prefix = without_shortcuts(clean_path(source.file.lstrip("/\\")))
    try:
        await _unpack(kubectl, source, prefix, target.file, bytes(archive.data))
    except tarfile.TarError:
        raise KubectlError("unexpected EOF") from None


async def _unpack(kubectl: Kubectl, source: FileSpec, prefix: str, target: str, data: bytes) -> None:
    """Write what came, as far as it belongs there."""
    files, warned = kubectl.ctx.files, False
    for entry, content in members(data):
        kubectl.ctx.spend_bytes(len(content))
        if not entry.name.startswith(prefix):
            raise KubectlError("tar contents corrupted")
        path = join_paths(target, entry.name[len(prefix) :].replace("\\", "/"))
        if not lies_in(target, path):
            await kubectl.err(f"warning: file {quote(path)} is outside target destination, skipping\n")
            continue
        try:
            if not files.is_dir(folder_of(path)):
                files.mkdir(folder_of(path), 0o755, parents=True)
            if entry.isdir():
                if not files.is_dir(path):
                    files.mkdir(path, 0o755, parents=True)
            elif entry.issym():
                advice = (
                    f' (consider using "kubectl exec -n {quote(source.namespace)} {quote(source.pod)} -- '
                    f'tar cf - {quote(source.file)} | tar xf -")'
                )
                message = f"warning: skipping symlink: {quote(path)} -> {quote(entry.linkname)}"
                await kubectl.err(f"{message}{'' if warned else advice}\n")
                warned = True
            else:
                files.write(path, content)
        except FileError as error:
            raise KubectlError(f"open {path}: {error.strerror.lower()}") from None


async def _run(
    kubectl: Kubectl,
    spec: FileSpec,
    argv: list[str],
    outlets: Outlets,
    *,
    quiet: bool = False,
    complaints: Stream | None = None,
    tells_status: bool = True,
) -> None:
    """Run a command in the container that a file is to be found in."""
    connection = await kubectl.connect()
    namespace = spec.namespace or kubectl.namespace
    pod: Object = await connection.get(connection.resource("pods"), namespace, spec.pod)
    refuse_completed(pod, "exec into")
    name = kubectl.flags["container"]
    if name:
        existing_container(pod, name)
    else:
        name = await default_container(kubectl, pod, quiet=quiet, to=complaints)
    session = start_command(connection, pod, name, argv, stdin=outlets.stdin is not None, tty=False)
    await converse(kubectl.ctx, session, outlets, tells_status=tells_status)
