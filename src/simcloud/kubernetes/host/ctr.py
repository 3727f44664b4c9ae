"""ctr on a node: containerd's own view of its containers, tasks and images."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.host.crictl import list_pairs, list_sandboxes
from simcloud.kubernetes.host.tables import align_cells
from simcloud.kubernetes.images.standard import PAUSE
from simcloud.kubernetes.kubelet.containerd import COMMIT, GO_VERSION, VERSION
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.services import SOCKET
from simcloud.machine.process import Context, Program

NAMESPACE: Final = "k8s.io"
ALIASES: Final = {
    "c": "containers",
    "container": "containers",
    "t": "tasks",
    "task": "tasks",
    "i": "images",
    "image": "images",
    "ns": "namespaces",
    "namespace": "namespaces",
    "list": "ls",
}
RUNTIME: Final = "io.containerd.runc.v2"
UNREACHABLE: Final = (
    f'ctr: failed to dial "{SOCKET}": connection error: desc = "transport: Error while dialing: '
    f'dial unix://{SOCKET}: timeout"\n'
)


def ctr(node: Node) -> Program:
    """The program for one node's containerd."""

    async def program(ctx: Context) -> int:
        words, namespace = list(ctx.args[1:]), ctx.env.get("CONTAINERD_NAMESPACE", "default")
        if words[:1] in (["-n"], ["--namespace"]):
            namespace = "".join(words[1:2])
            del words[:2]
        flags = [word for word in words if word.startswith("-")]
        names = [ALIASES.get(word, word) for word in words if not word.startswith("-")]
        if not node.runtime.unit.running:
            await ctx.err(UNREACHABLE)
            return 1
        if names == ["version"]:
            build = f"  Version:  v{VERSION}\n  Revision: {COMMIT}\n"
            server = f"Server:\n{build}  UUID: {node.machine.machine_id}\n"
            await ctx.out(f"Client:\n{build}  Go version: {GO_VERSION}\n\n{server}")
            return 0
        rows = _list(node, names, namespace == NAMESPACE)
        if rows is None:
            await ctx.err(
                f"No help topic for '{' '.join(names)}'\n" if names else "NAME:\n   ctr - containerd CLI\n"
            )
            return 3 if names else 0
        if "-q" in flags or "--quiet" in flags:
            await ctx.out("".join(f"{row[0]}\n" for row in rows[1:]))
        else:
            least, padding = (4, 4) if names[0] in ("containers", "tasks") else (1, 1)
            await ctx.out(align_cells([[*row, ""] for row in rows], least, padding))
        return 0

    return program


def _list(node: Node, names: list[str], is_kubernetes: bool) -> list[list[str]] | None:
    """The rows of a listing, the titles first; None if there is no such listing."""
    if names[:2] == ["namespaces", "ls"]:
        return [["NAME", "LABELS"], [NAMESPACE, ""]]
    pairs = [record for _, record in list_pairs(node)] if is_kubernetes else []
    sandboxes = [sandbox for _, sandbox in list_sandboxes(node)] if is_kubernetes else []
    if names[:2] == ["containers", "ls"]:
        rows = [[record.id, record.image.tags[0], RUNTIME] for record in pairs]
        rows += [[sandbox.id, PAUSE, RUNTIME] for sandbox in sandboxes]
        return [["CONTAINER", "IMAGE", "RUNTIME"], *sorted(rows)]
    if names[:2] == ["tasks", "ls"]:
        tasks = {record.id: record.process for record in pairs if record.running and record.process}
        tasks |= {sandbox.id: sandbox.holder for sandbox in sandboxes if sandbox.ready}
        rows = [[task_id, str(process.host_pid), "RUNNING"] for task_id, process in sorted(tasks.items())]
        machine = node.machine  # containerd keeps tasks in a map, which has no order
        machine.kernel.random(f"{machine.name}/order of containerd's tasks").shuffle(rows)
        return [["TASK", "PID", "STATUS"], *rows]
    if names[:2] == ["images", "ls"]:
        rows = []
        for image in node.images.list_images() if is_kubernetes else ():
            size, label = f"{image.size_bytes / 2**20:.1f} MiB", "io.cri-containerd.image=managed"
            if image.is_imported:
                kind = "application/vnd.docker.distribution.manifest.v2+json"
                label += ",io.cri-containerd.pinned=pinned"
            else:
                kind = "application/vnd.oci.image.index.v1+json"
            rest = [kind, image.digest, size, "linux/amd64", label]
            rows += [[name, *rest] for name in (*image.tags, image.image_id, image.config_digest)]
        return [["REF", "TYPE", "DIGEST", "SIZE", "PLATFORMS", "LABELS"], *sorted(rows)]
    return None
