"""crictl on a node: the pods, containers and images of the container runtime.

It talks to the runtime, so it works while the kubelet is stopped, and shows only its own machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import yaml

from simcloud.golang import quote
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.host.tables import align_cells, format_age, format_size
from simcloud.kubernetes.host.trees import SNAPSHOTS, oci_spec
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.images.standard import PAUSE
from simcloud.kubernetes.klog import format_klog, format_message
from simcloud.kubernetes.kubelet.containerd import GO_VERSION, VERSION
from simcloud.kubernetes.kubelet.image_store import image_inodes, measure_unpacked
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodRecord, Sandbox
from simcloud.kubernetes.kubelet.services import SOCKET
from simcloud.machine import count_idle_cores
from simcloud.machine.proc import vary
from simcloud.machine.process import CommandNotFound, Context, NotExecutable, Program
from simcloud.userland.commands import Options, UsageError, parse

Pair = tuple[PodRecord, ContainerRecord]
Verb = Callable[[Context, Node, Options], Coroutine[Any, Any, int]]

SHORT_ID: Final = 13
TABLE: Final = (20, 3)
"""The least width and the padding of crictl's columns."""
SHORT: Final = "aqt:n:fo:s:p:il:vr:c:D"
LONG: Final = (
    "all", "quiet", "timeout=", "name=", "tail=", "follow", "timestamps", "since=", "output=", "state=", "namespace=", "pod=",
    "image=", "label=", "latest", "last=", "no-trunc", "template=", "id=", "verbose", "digests", "tty", "interactive", "sync",
    "previous", "runtime-endpoint=", "image-endpoint=", "config=", "debug", "limit-bytes=", "force", "prune", "watch",
)  # fmt: skip
USAGE: Final = """\
NAME:
   crictl - client for CRI

USAGE:
   crictl [global options] command [command options]

COMMANDS:
   exec, images, imagefsinfo, info, inspect, inspecti, inspectp, logs, pods, ps, rm, stats, stop, version
"""
TIMEOUT_S: Final = 2.0
HUNG: Final = (
    f'validate service connection: validate CRI v1 runtime API for endpoint \\"unix://{SOCKET}\\": '
    "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
)
UNREACHABLE: Final = (
    f'validate service connection: validate CRI v1 runtime API for endpoint \\"unix://{SOCKET}\\": '
    'rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: dial unix '
    f'{SOCKET}: connect: {{reason}}\\"'
)
GET_CONTAINER: Final = "get the status of containers: get container status: "
GET_SANDBOX: Final = "get the status of pod sandboxes: get pod sandbox status: "


def crictl(node: Node) -> Program:
    """The program for one node's runtime."""

    async def program(ctx: Context) -> int:
        words = [word for word in ctx.args[1:] if word not in ("--debug", "-D")]
        while words and words[0] in ("-r", "--runtime-endpoint", "-c", "--config", "-i", "--image-endpoint"):
            del words[:2]
        if not words or words[0] in ("help", "-h", "--help"):
            await ctx.out(f"{USAGE}\n")
            return 0
        if words[0] in ("-v", "--version"):
            await ctx.out("crictl version v1.34.0\n")
            return 0
        run = VERBS.get(words[0])
        try:
            if run is None:
                raise UsageError(f"No help topic for '{words[0]}'", 3)
            if ctx.files.uid != 0 or not node.runtime.unit.running:
                reason = "connection refused" if ctx.files.uid == 0 else "permission denied"
                raise _fail(ctx, UNREACHABLE.format(reason=reason))
            if node.runtime.is_hung:
                await ctx.sleep(TIMEOUT_S)
                raise _fail(ctx, HUNG)
            short = SHORT.replace("t:", "t") if words[0] == "logs" else SHORT
            return await run(ctx, node, parse(words, short, LONG, stop_early=words[0] == "exec"))
        except UsageError as mistake:
            await ctx.err(f"{mistake}\n")
            return mistake.status

    return program


def _fail(ctx: Context, message: str, before: str = "") -> UsageError:
    return UsageError(f'{before}time="{rfc3339(ctx.now)}" level=fatal msg="{message}"')


def _missing(ctx: Context, kind: str, word: str, doing: str) -> UsageError:
    """What is printed when the runtime does not know the id of a container or sandbox."""
    if kind == "container":
        call, field = "ContainerStatus", "containerID"
    else:
        call, field = "PodSandboxStatus", "podSandboxID"
    why = f'rpc error: code = NotFound desc = an error occurred when try to find {kind} "{word}": not found'
    text = format_message(f"{call} from runtime service failed", {"err": why, field: word})
    line = format_klog("E", ctx.now, ctx.process.host_pid, "log.go:32", text)
    return _fail(ctx, quote(f"{doing}{why}")[1:-1], f"{line}\n")


def list_pairs(node: Node) -> list[Pair]:
    """All containers, the newest first."""
    found = [(pod, record) for pod in node.runtime.pods.values() for record in pod.containers]
    return sorted(found, key=lambda pair: -pair[1].created_s)


def list_sandboxes(node: Node) -> list[tuple[PodRecord, Sandbox]]:
    """All sandboxes, the newest first."""
    found = [(pod, pod.sandbox) for pod in node.runtime.pods.values() if pod.sandbox is not None]
    return sorted(found, key=lambda pair: -pair[1].holder.started_at)


def _find(ctx: Context, node: Node, words: list[str], doing: str = GET_CONTAINER) -> list[Pair]:
    """The containers that the given beginnings of ids name; ``doing`` begins the message if there is none."""
    if not words:
        raise UsageError("ID cannot be empty")
    found = []
    for word in words:
        match = [(pod, record) for pod, record in list_pairs(node) if record.id.startswith(word)]
        if not match:
            raise _missing(ctx, "container", word, doing)
        found.append(match[0])
    return found


def _find_creation_s(ctx: Context, sandbox: Sandbox) -> float:
    return ctx.now - ctx.kernel.now + sandbox.holder.started_at


def _nanoseconds(moment_s: float) -> int:
    """A moment to the nanosecond: what the simulation's clock leaves open is filled in."""
    whole = int(moment_s * 1e6) * 1000
    return whole + int(vary(f"{moment_s!r}") * 1000) if moment_s else 0


def _stamp(moment_s: float) -> str:
    if not moment_s:
        return "0001-01-01T00:00:00Z"
    fraction = f"{_nanoseconds(moment_s) % 10**9:09d}"
    return f"{datetime.fromtimestamp(int(moment_s), UTC):%Y-%m-%dT%H:%M:%S}.{fraction}Z"


async def _print(ctx: Context, options: Options, value: Any) -> int:
    """A value in the form that was asked for; JSON if none was."""
    form = options.last("o", "output", default="json")
    if form == "yaml":
        await ctx.out(yaml.safe_dump(value, sort_keys=True))
    elif form == "go-template":
        from simcloud.golang.template import GoTemplate, TemplateError

        try:
            await ctx.out(GoTemplate(options.last("template")).text(value) + "\n")
        except TemplateError as error:
            raise _fail(ctx, f"failed to template data: {error}") from None
    else:
        await ctx.out(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    return 0


async def _print_list(
    ctx: Context, options: Options, kind: str, items: list[dict[str, Any]], rows: list[list[str]]
) -> int:
    """The ids of items, all about them, or the rows of a table, as it was asked for."""
    if options.any("q", "quiet"):
        await ctx.out("".join(f"{item['id']}\n" for item in items))
        return 0
    if options.last("o", "output", default="table") != "table":
        return await _print(ctx, options, {kind: items})
    await ctx.out(align_cells(rows, *TABLE))
    return 0


# -- lists -----------------------------------------------------------------------------------------


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _cut(options: Options, text: str) -> str:
    return text if options.any("no-trunc") else text[:SHORT_ID]


def _image_number(image: Published) -> str:
    return image.config_digest.removeprefix("sha256:")


def _select(node: Node, options: Options) -> Iterator[Pair]:
    state = options.last("s", "state").lower()
    everything = options.any("a", "all", "latest", "last", "n", "l") or state
    for pod, record in list_pairs(node):
        sandbox = pod.sandbox.id if pod.sandbox else ""
        image = options.last("image")
        labels = {f"{key}={value}" for key, value in _labels(pod, record).items()}
        if (
            (record.running or everything)
            and (not state or record.state.value == state)
            and _matches(options.last("name"), record.name)
            and _matches(options.last("namespace"), pod.namespace)
            and sandbox.startswith(options.last("p", "pod"))
            and record.id.startswith(options.last("id"))
            and (not image or image in (record.image.name, _image_number(record.image)))
            and labels.issuperset(options.all("label"))
        ):
            yield pod, record


def _labels(pod: PodRecord, record: ContainerRecord) -> dict[str, str]:
    return {"io.kubernetes.container.name": record.name, **_sandbox_labels(pod)}


def _sandbox_labels(pod: PodRecord) -> dict[str, str]:
    return {
        "io.kubernetes.pod.name": pod.name,
        "io.kubernetes.pod.namespace": pod.namespace,
        "io.kubernetes.pod.uid": pod.uid,
    }


def _describe(pod: PodRecord, record: ContainerRecord) -> dict[str, Any]:
    image = record.image
    return {
        "annotations": {"io.kubernetes.container.restartCount": str(record.attempt)},
        "createdAt": str(_nanoseconds(record.created_s)),
        "id": record.id,
        "image": {
            "annotations": {},
            "image": image.config_digest,
            "runtimeHandler": "",
            "userSpecifiedImage": image.name,
        },
        "imageRef": image.config_digest,
        "labels": _labels(pod, record),
        "metadata": {"attempt": record.attempt, "name": record.name},
        "podSandboxId": pod.sandbox.id if pod.sandbox else "",
        "state": f"CONTAINER_{record.state.value.upper()}",
    }


async def _ps(ctx: Context, node: Node, options: Options) -> int:
    shown = list(_select(node, options))
    if options.any("latest", "last", "n", "l"):
        count = options.last("last", "n", default="1")
        shown = shown[: int(count[:6]) if count.isdecimal() else 1]
    titles = ["CONTAINER", "IMAGE", "CREATED", "STATE", "NAME", "ATTEMPT", "POD ID", "POD", "NAMESPACE"]
    rows = [titles]
    for pod, record in shown:
        row = [_cut(options, record.id), _cut(options, _image_number(record.image))]
        row += [f"{format_age(ctx.now - record.created_s)} ago", record.state.value.capitalize()]
        row += [record.name, str(record.attempt), _cut(options, pod.sandbox.id if pod.sandbox else "")]
        rows.append([*row, pod.name, pod.namespace])
    return await _print_list(ctx, options, "containers", [_describe(*pair) for pair in shown], rows)


def _describe_sandbox(ctx: Context, pod: PodRecord, sandbox: Sandbox) -> dict[str, Any]:
    return {
        "annotations": {"kubernetes.io/config.source": "api"},
        "createdAt": str(_nanoseconds(_find_creation_s(ctx, sandbox))),
        "id": sandbox.id,
        "labels": _sandbox_labels(pod),
        "metadata": {
            "attempt": sandbox.attempt,
            "name": pod.name,
            "namespace": pod.namespace,
            "uid": pod.uid,
        },
        "runtimeHandler": "",
        "state": "SANDBOX_READY" if sandbox.ready else "SANDBOX_NOTREADY",
    }


async def _pods(ctx: Context, node: Node, options: Options) -> int:
    state = options.last("s", "state").lower()
    shown = [
        (pod, sandbox)
        for pod, sandbox in list_sandboxes(node)
        if (not state or (state == "ready") is sandbox.ready)
        and _matches(options.last("name"), pod.name)
        and _matches(options.last("namespace"), pod.namespace)
        and sandbox.id.startswith(options.last("id"))
    ]
    if options.any("latest", "l"):
        del shown[1:]
    rows = [["POD ID", "CREATED", "STATE", "NAME", "NAMESPACE", "ATTEMPT", "RUNTIME"]]
    for pod, sandbox in shown:
        age = f"{format_age(ctx.now - _find_creation_s(ctx, sandbox))} ago"
        state = "Ready" if sandbox.ready else "NotReady"
        row = [_cut(options, sandbox.id), age, state, pod.name, pod.namespace]
        rows.append([*row, str(sandbox.attempt), "(default)"])
    return await _print_list(ctx, options, "items", [_describe_sandbox(ctx, *pair) for pair in shown], rows)


def _describe_image(image: Published) -> dict[str, Any]:
    return {
        "id": image.config_digest,
        "pinned": "/pause:" in image.name or image.is_imported,
        "repoDigests": [image.image_id],
        "repoTags": image.tags,
        "size": str(image.size_bytes),
        "spec": None,
        "uid": None,
        "username": "",
    }


async def _images(ctx: Context, node: Node, options: Options) -> int:
    wanted = "".join(options.operands[:1])
    images = sorted(node.images.list_images(), key=lambda image: image.name)
    shown = [image for image in images if any(wanted in name for name in image.tags)]
    rows = [["IMAGE", "TAG", *(["DIGEST"] if options.any("digests") else []), "IMAGE ID", "SIZE"]]
    for image in shown:
        digest = [_cut(options, image.digest.removeprefix("sha256:"))] if options.any("digests") else []
        number, size = _cut(options, _image_number(image)), format_size(image.size_bytes, 3)
        for repository, _, tag in (name.rpartition(":") for name in image.tags):
            rows.append([repository, tag, *digest, number, size])
    return await _print_list(ctx, options, "images", list(map(_describe_image, shown)), rows)


async def _stats(ctx: Context, node: Node, options: Options) -> int:
    living = sorted(
        (record for _, record in _select(node, options) if record.container), key=lambda record: record.id
    )
    before = {record.id: record.container.cpu.used_s for record in living if record.container}
    await ctx.sleep(1.0)
    rows = [["CONTAINER", "NAME", "CPU %", "MEM", "DISK", "INODES", "SWAP"]]
    for record in living:
        container = record.container
        if container is not None:
            volume = container.files.mounts()[0].volume
            # What programs use of their own accord is booked every few seconds.
            idle_s = count_idle_cores(container) * (0.8 + 0.4 * vary(record.id, ctx.kernel.now))
            percent = f"{max(container.cpu.used_s - before[record.id], idle_s) * 100:.2f}"
            disk, inodes = format_size(volume.used_bytes), str(volume.inodes_used)
            memory = format_size(container.memory_bytes // 4096 * 4096)
            rows.append([_cut(options, record.id), record.name, percent, memory, disk, inodes, "0B"])
    await ctx.out(align_cells(rows, *TABLE))
    return 0


# -- details ---------------------------------------------------------------------------------------


async def _inspect(ctx: Context, node: Node, options: Options) -> int:
    found = _find(ctx, node, options.operands) if options.operands else list(_select(node, options))
    for pod, record in found:
        log = record.container.log if record.container else None
        status = _describe(pod, record) | {
            "createdAt": _stamp(record.created_s),
            "exitCode": record.exit_code,
            "finishedAt": _stamp(record.finished_s),
            "imageRef": record.image.image_id,
            "logPath": log.path if isinstance(log, FollowedLog) else "",
            "message": record.message,
            "mounts": [
                {"containerPath": mount.path, "hostPath": mount.source, "readonly": mount.frozen}
                for mount in (record.container.files.mounts()[5:] if record.container else ())
            ],
            "reason": record.reason,
            "startedAt": _stamp(record.started_s),
        }
        info: dict[str, Any] = {
            "sandboxID": status.pop("podSandboxId"),
            "removing": False,
            "pid": record.process.host_pid if record.process else 0,
            "snapshotKey": record.id,
            "snapshotter": "overlayfs",
            "runtimeType": "io.containerd.runc.v2",
        }
        if record.process is not None and record.container is not None:
            info["runtimeSpec"] = oci_spec(pod, record)
        await _print(ctx, options, {"info": info, "status": status})
    return 0


async def _inspectp(ctx: Context, node: Node, options: Options) -> int:
    for word in options.operands or [sandbox.id for _, sandbox in list_sandboxes(node)]:
        match = [pair for pair in list_sandboxes(node) if pair[1].id.startswith(word)]
        if not match:
            raise _missing(ctx, "sandbox", word, GET_SANDBOX)
        pod, sandbox = match[0]
        status = _describe_sandbox(ctx, pod, sandbox) | {
            "createdAt": _stamp(_find_creation_s(ctx, sandbox)),
            "network": {"additionalIps": [], "ip": sandbox.namespace.address if sandbox.ready else ""},
            "linux": {"namespaces": {"options": {"ipc": "POD", "network": "POD", "pid": "CONTAINER"}}},
        }
        info = {
            "pid": sandbox.holder.host_pid if sandbox.ready else 0,
            "processStatus": "running" if sandbox.ready else "deleted",
            "netNamespaceClosed": not sandbox.ready,
            "image": PAUSE,
            "snapshotter": "overlayfs",
            "runtimeSpec": {"linux": {"namespaces": [{"type": "network", "path": sandbox.netns}]}},
        }
        await _print(ctx, options, {"info": info, "status": status})
    return 0


async def _inspecti(ctx: Context, node: Node, options: Options) -> int:
    for word in options.operands:
        match = [
            image
            for image in node.images.list_images()
            if word in (*image.tags, image.name.removeprefix("docker.io/library/"), image.image_id)
            or _image_number(image).startswith(word.removeprefix("sha256:"))
        ]
        if not match:
            raise _fail(ctx, f'no such image \\"{word}\\" present')
        image = match[0]
        config = {
            "Cmd": list(image.args),
            "Entrypoint": list(image.command),
            "User": image.user,
            "WorkingDir": image.workdir,
        }
        spec = {"config": config, "os": "linux", "architecture": "amd64"}
        info = {"chainID": image.digest, "imageSpec": spec}
        await _print(ctx, options, {"info": info, "status": _describe_image(image)})
    return 0


async def _info(ctx: Context, node: Node, options: Options) -> int:
    """The state of the runtime; its network is ready when the plugin has its configuration."""
    trouble = node.runtime.find_network_trouble()
    conditions = [
        {"message": "", "reason": "", "status": True, "type": kind}
        for kind in ("RuntimeReady", "NetworkReady", "ContainerdHasNoDeprecationWarnings")
    ]
    if trouble:
        message = f"Network plugin returns error: {trouble}"
        conditions[1] |= {"status": False, "reason": "NetworkPluginNotReady", "message": message}
    config = {
        "containerd": {"defaultRuntimeName": "runc"},
        "containerdEndpoint": SOCKET,
        "containerdRootDir": "/var/lib/containerd",
    }
    info = {"config": config, "golang": GO_VERSION, "status": {"conditions": conditions}}
    return await _print(ctx, options, info)


async def _imagefsinfo(ctx: Context, node: Node, options: Options) -> int:
    images = node.images.list_images()
    used = sum(measure_unpacked(image) for image in images)
    inodes = sum(map(image_inodes, images))
    system = {
        "fsId": {"mountpoint": f"/var/lib/containerd/{SNAPSHOTS}"},
        "inodesUsed": {"value": str(inodes)},
        "timestamp": str(_nanoseconds(ctx.now)),
        "usedBytes": {"value": str(used)},
    }
    status = {"containerFilesystems": [system], "imageFilesystems": [system]}
    return await _print(ctx, options, {"status": status})


async def _logs(ctx: Context, node: Node, options: Options) -> int:
    (_, record), *_rest = _find(ctx, node, options.operands, doing="")
    log = record.container.log if record.container is not None else None
    entries = log.entries() if isinstance(log, FollowedLog) else []
    tail = options.last("tail")
    if tail.isdecimal():
        entries = entries[len(entries) - min(len(entries), int(tail[:9])) :]
    for entry in entries:
        ctx.spend_turn()
        stamp = f"{entry.stamp} ".encode() if options.any("timestamps", "t") else b""
        await ctx.stdout.write(stamp + (entry.text if entry.text.endswith(b"\n") else entry.text + b"\n"))
    return 0


async def _exec(ctx: Context, node: Node, options: Options) -> int:
    word, *argv = options.operands or [""]
    (_, record), *_rest = _find(ctx, node, [word] if word else [])
    container = record.container
    if not argv:
        raise _fail(ctx, "execing command in container: at least one argument for command is required")
    if container is None or not record.running:
        state = f"CONTAINER_{record.state.value.upper()}"
        why = f"container is in {state} state"
        raise _fail(ctx, f"execing command in container: rpc error: code = Unknown desc = {why}")
    try:
        process = container.start(argv, streams=ctx.process.streams, uid=record.uid, gid=record.gid)
    except (CommandNotFound, NotExecutable):
        why = f'OCI runtime exec failed: exec failed: unable to start container process: exec: \\"{argv[0]}\\": executable file not found in $PATH'
        raise _fail(
            ctx, f"execing command in container: failed to exec in container: {why}: unknown"
        ) from None
    status = await process.wait()
    if status:
        raise _fail(ctx, f"execing command in container: command terminated with exit code {status}")
    return 0


# -- changes ---------------------------------------------------------------------------------------


async def _stop(ctx: Context, node: Node, options: Options) -> int:
    grace = options.last("t", "timeout", default="0")
    for _, record in _find(ctx, node, options.operands):
        await node.runtime.stop(record, float(grace) if grace.isdecimal() and len(grace) < 6 else 0.0)
        await ctx.out(f"{record.id}\n")
    return 0


async def _stopp(ctx: Context, node: Node, options: Options) -> int:
    for word in options.operands:
        pod = next((pod for pod, sandbox in list_sandboxes(node) if sandbox.id.startswith(word)), None)
        if pod is None:
            raise _missing(ctx, "sandbox", word, GET_SANDBOX)
        for record in pod.containers:
            if record.running:
                await node.runtime.stop(record, 0.0)
        await node.runtime.stop_sandbox(pod.uid)
        await ctx.out(f"Stopped sandbox {word}\n")
    return 0


async def _rm(ctx: Context, node: Node, options: Options) -> int:
    for pod, record in _find(ctx, node, options.operands):
        if record.running:
            if not options.any("f", "force"):
                raise UsageError(f'container "{record.id}" is running, please stop it first')
            await node.runtime.stop(record, 0.0)
        node.runtime.remove(pod.uid, record.id)
        await ctx.out(f"{record.id}\n")
    return 0


async def _version(ctx: Context, node: Node, options: Options) -> int:
    await ctx.out(
        f"Version:  0.1.0\nRuntimeName:  containerd\nRuntimeVersion:  v{VERSION}\nRuntimeApiVersion:  v1\n"
    )
    return 0


VERBS: Final[dict[str, Verb]] = {
    "exec": _exec, "image": _images, "imagefsinfo": _imagefsinfo, "images": _images, "img": _images, "info": _info,
    "inspect": _inspect, "inspecti": _inspecti, "inspectp": _inspectp, "logs": _logs, "pods": _pods, "ps": _ps, "rm": _rm,
    "stats": _stats, "stop": _stop, "stopp": _stopp, "version": _version,
}  # fmt: skip
