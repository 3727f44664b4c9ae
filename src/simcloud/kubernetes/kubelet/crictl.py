"""crictl on a node: the pods, containers and images of the container runtime.

It talks to the runtime, so it works while the kubelet is stopped, and shows only its own machine.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec

from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.kubelet.containerd import ContainerRuntime
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodRecord
from simcloud.machine.process import BINARY, Context, Program
from simcloud.userland.commands import Options, UsageError, parse

SHORT_ID: Final = 13
STATES: Final = {"running": "Running", "exited": "Exited", "created": "Created"}
USAGE: Final = """\
NAME:
   crictl - client for CRI

USAGE:
   crictl command [command options] [arguments...]

COMMANDS:
   ps, pods, images, logs, inspect, stop, rm, stats, version"""


def install(node: Node) -> None:
    """Put the tool on a node's machine."""
    host = node.machine.host
    host.programs = {**host.programs, "crictl": crictl(node)}
    host.files.put("/usr/local/bin/crictl", BINARY + b"crictl", mode=0o755)
    host.files.sync()


def crictl(node: Node) -> Program:
    """The program for one node's runtime."""

    async def program(ctx: Context) -> int:
        words = [word for word in ctx.args[1:] if word not in ("--debug", "-D")]
        if not words or words[0] in ("help", "-h", "--help"):
            await ctx.out(f"{USAGE}\n")
            return 0
        if ctx.files.uid != 0:
            raise UsageError("crictl: connect: permission denied")
        run = VERBS.get(words[0])
        try:
            if run is None:
                raise UsageError(f'level=fatal msg="unknown command \\"{words[0]}\\""')
            return await run(
                ctx, node, parse(words, "aqt:n:f", ("all", "quiet", "timeout=", "name=", "tail=", "follow"))
            )
        except UsageError as mistake:
            await ctx.err(f"{mistake}\n")
            return mistake.status

    return program


def _find(runtime: ContainerRuntime, words: list[str]) -> list[tuple[PodRecord, ContainerRecord]]:
    """The containers that the given beginnings of ids name."""
    if not words:
        raise UsageError("ID cannot be empty")
    found = []
    for word in words:
        match = [
            (pod, each)
            for pod in runtime.pods.values()
            for each in pod.containers
            if each.id.startswith(word)
        ]
        if not match:
            raise UsageError(
                f'E "ContainerStatus from runtime service failed" err="rpc error: code = NotFound desc = '
                f'an error occurred when try to find container \\"{word}\\": not found"'
            )
        found.append(match[0])
    return found


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ("".join(word.ljust(width + 8) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _ago(ctx: Context, moment_s: float) -> str:
    seconds = int(ctx.now - moment_s)
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= size:
            count = seconds // size
            return (
                f"About {'an' if unit == 'hour' else 'a'} {unit} ago"
                if count == 1 and size > 1
                else (f"{count} {unit}{'s' if count != 1 else ''} ago")
            )
    return "Less than a second ago"


def _pod_of(node: Node, uid: str) -> tuple[str, str]:
    """A pod's name and namespace, from what its containers are labelled with."""
    for each in node.runtime.pods[uid].containers:
        if each.container is not None:
            labels = dict(each.container.labels)
            return labels["pod"], labels["namespace"]
    return "unknown", "unknown"


async def _ps(ctx: Context, node: Node, options: Options) -> int:
    wanted = options.last("name")
    shown = [
        (pod, each)
        for pod in reversed(node.runtime.pods.values())
        for each in pod.containers
        if (each.running or options.any("a", "all")) and wanted in each.name
    ]
    if options.any("q", "quiet"):
        await ctx.out("".join(f"{each.id}\n" for _, each in shown))
        return 0
    rows = [["CONTAINER", "IMAGE", "CREATED", "STATE", "NAME", "ATTEMPT", "POD ID", "POD", "NAMESPACE"]]
    for pod, each in shown:
        name, namespace = _pod_of(node, pod.uid)
        rows.append([
            each.id[:SHORT_ID], each.image.digest.removeprefix("sha256:")[:SHORT_ID], _ago(ctx, each.created_s),
            STATES[each.state.value], each.name, str(each.attempt),
            pod.sandbox.id[:SHORT_ID] if pod.sandbox else "", name, namespace,
        ])  # fmt: skip
    await ctx.out(_table(rows))
    return 0


async def _pods(ctx: Context, node: Node, options: Options) -> int:
    rows = [["POD ID", "CREATED", "STATE", "NAME", "NAMESPACE", "ATTEMPT", "RUNTIME"]]
    for pod in reversed(node.runtime.pods.values()):
        if pod.sandbox is not None:
            name, namespace = _pod_of(node, pod.uid)
            begun = ctx.now - ctx.kernel.now + pod.sandbox.holder.started_at
            state = "Ready" if pod.sandbox.ready else "NotReady"
            rows.append(
                [
                    pod.sandbox.id[:SHORT_ID],
                    _ago(ctx, begun),
                    state,
                    name,
                    namespace,
                    str(pod.sandbox.attempt),
                    "(default)",
                ]
            )
    await ctx.out(_table(rows))
    return 0


async def _images(ctx: Context, node: Node, options: Options) -> int:
    rows = [["IMAGE", "TAG", "IMAGE ID", "SIZE"]]
    for each in sorted(node.images.list_images(), key=lambda image: image.name):
        repository, _, tag = each.name.rpartition(":")
        size = (
            f"{each.size_bytes / 1e6:.3g}MB" if each.size_bytes >= 1e6 else f"{each.size_bytes / 1e3:.3g}kB"
        )
        rows.append([repository, tag, each.digest.removeprefix("sha256:")[:SHORT_ID], size])
    await ctx.out(_table(rows))
    return 0


async def _logs(ctx: Context, node: Node, options: Options) -> int:
    (_, record), *_rest = _find(node.runtime, options.operands)
    log = record.container.log if record.container is not None else None
    entries = log.entries() if isinstance(log, FollowedLog) else []
    tail = options.last("tail")
    if tail.isdecimal():
        entries = entries[len(entries) - min(len(entries), int(tail[:9])) :]
    for entry in entries:
        ctx.spend_turn()
        await ctx.stdout.write(entry.text if entry.text.endswith(b"\n") else entry.text + b"\n")
    return 0


async def _inspect(ctx: Context, node: Node, options: Options) -> int:
    for pod, each in _find(node.runtime, options.operands):
        process = each.process
        status = {
            "id": each.id,
            "metadata": {"attempt": each.attempt, "name": each.name},
            "state": f"CONTAINER_{each.state.value.upper()}",
            "createdAt": rfc3339(each.created_s),
            "startedAt": rfc3339(each.started_s) if each.started_s else "0001-01-01T00:00:00Z",
            "exitCode": each.exit_code,
            "reason": each.reason,
            "image": {"image": each.image.name},
            "logPath": each.container.log.path
            if each.container and isinstance(each.container.log, FollowedLog)
            else "",
        }
        info = {"sandboxID": pod.sandbox.id if pod.sandbox else "", "pid": process.host_pid if process else 0}
        text = msgspec.json.format(msgspec.json.encode({"status": status, "info": info}), indent=2)
        await ctx.out(f"{text.decode()}\n")
    return 0


async def _stop(ctx: Context, node: Node, options: Options) -> int:
    grace = options.last("t", "timeout", default="0")
    for _, each in _find(node.runtime, options.operands):
        await node.runtime.stop(each, float(grace) if grace.isdecimal() and len(grace) < 6 else 0.0)
        await ctx.out(f"{each.id}\n")
    return 0


async def _rm(ctx: Context, node: Node, options: Options) -> int:
    for pod, each in _find(node.runtime, options.operands):
        if each.running:
            if not options.any("f"):
                raise UsageError(f'container "{each.id}" is running, please stop it first')
            await node.runtime.stop(each, 0.0)
        node.runtime.remove(pod.uid, each.id)
        await ctx.out(f"{each.id}\n")
    return 0


async def _stats(ctx: Context, node: Node, options: Options) -> int:
    living = [
        each
        for pod in node.runtime.pods.values()
        for each in pod.containers
        if each.running and each.container
    ]
    before = [each.container.cpu.used_s for each in living if each.container]
    await ctx.sleep(1.0)
    rows = [["CONTAINER", "NAME", "CPU %", "MEM", "DISK", "INODES"]]
    for each, used_s in zip(living, before, strict=True):
        if each.container is not None:
            volume = each.container.files.mounts()[0].volume
            memory = f"{each.container.memory_bytes / 1e6:.3g}MB"
            percent = f"{(each.container.cpu.used_s - used_s) * 100:.2f}"
            rows.append(
                [each.id[:SHORT_ID], each.name, percent, memory, f"{volume.used_bytes / 1e3:.4g}kB", "0"]
            )
    await ctx.out(_table(rows))
    return 0


async def _version(ctx: Context, node: Node, options: Options) -> int:
    await ctx.out(
        "Version:  0.1.0\nRuntimeName:  containerd\nRuntimeVersion:  v2.1.9\nRuntimeApiVersion:  v1\n"
    )
    return 0


VERBS: Final[dict[str, Callable[[Context, Node, Options], Coroutine[Any, Any, int]]]] = {
    "ps": _ps,
    "pods": _pods,
    "images": _images,
    "logs": _logs,
    "inspect": _inspect,
    "stop": _stop,
    "rm": _rm,
    "stats": _stats,
    "version": _version,
}
