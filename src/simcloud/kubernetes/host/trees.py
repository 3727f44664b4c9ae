"""The folders of a node that show what runs on it: those of kubelet, containerd and etcd.

They are computed from the records of the container runtime when somebody looks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.kubelet.image_store import measure_unpacked
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodRecord
from simcloud.kubernetes.kubelet.volumes import PodVolume
from simcloud.machine.files import (
    FileError,
    Files,
    Mount,
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    Volume,
    lazy_directory,
    tmpfs,
    virtual_directory,
)
from simcloud.machine.proc import vary

PODS: Final = "/var/lib/kubelet/pods"
SNAPSHOTS: Final = "io.containerd.snapshotter.v1.overlayfs"
TASKS: Final = "io.containerd.runtime.v2.task"
SANDBOXES: Final = "io.containerd.grpc.v1.cri/sandboxes"
RUN: Final = "/run/containerd"
TMPFS_DEV: Final = 0x32
SHM_OPTIONS: Final = "nosuid,nodev,noexec,relatime,size=65536k,inode64"
WAL_BYTES: Final = 64_000_000
PROGRAM_SHARE: Final = 0.6
"""Of an image, so much is its program; the rest is libraries."""


def text(content: str, mode: int = 0o644, time_s: float | None = None) -> VirtualFile:
    """A file with this content."""
    return VirtualFile(content.encode, mode=mode, time_s=time_s)


def show_volume(volume: Volume, inside: str = "", dev: int = 0) -> VirtualDirectory:
    """A volume, or a folder in it, as a part of a computed tree; ``dev`` if it is mounted there."""
    files = Files(volume)
    top = f"/{inside}"

    def find(name: str) -> VirtualEntry | None:
        path = f"{top.rstrip('/')}/{name}"
        try:
            found = files.stat(path, follow=False)
        except FileError:
            return None
        if found.is_link:
            return VirtualLink(lambda: files.readlink(path))
        if found.is_dir:
            return show_volume(volume, path[1:])
        mode, owner = found.mode & 0o7777, (found.uid, found.gid)
        return VirtualFile(lambda: files.read(path), None, mode, *owner, found.size, time_s=found.mtime)

    def names() -> list[str]:
        return files.listdir(top) if files.is_dir(top) else []

    found = files.stat(top)
    return VirtualDirectory(names, find, found.mode & 0o7777, found.uid, found.gid, found.mtime, dev)


# -- kubelet ---------------------------------------------------------------------------------------


def show_pods(node: Node) -> VirtualDirectory:
    """/var/lib/kubelet/pods."""
    pods = node.runtime.pods
    return lazy_directory(
        lambda: {uid: _show_pod(node, pod) for uid, pod in pods.items() if pod.sandbox}, 0o750
    )


def _show_pod(node: Node, pod: PodRecord) -> VirtualDirectory:
    volumes: dict[str, dict[str, VirtualEntry]] = {}
    for volume in node.volumes.of(pod.uid).values():
        if volume.plugin:
            shown = show_volume(volume.volume, volume.inside, TMPFS_DEV if volume.fstype == "tmpfs" else 0)
            volumes.setdefault(volume.plugin, {})[volume.name] = shown
    created = min((record.created_s for record in pod.containers), default=None)

    def folder(inside: Mapping[str, VirtualEntry], mode: int = 0o750) -> VirtualDirectory:
        return virtual_directory(inside, mode, created)

    ready = {
        plugin: folder(dict.fromkeys(found, folder({"ready": text("")}))) for plugin, found in volumes.items()
    }
    containers: dict[str, VirtualEntry] = {}
    for record in reversed(pod.containers):
        inside = {record.id[-8:]: VirtualFile(bytes, mode=0o666, time_s=record.created_s)}
        containers[record.name] = virtual_directory(inside, 0o750, record.created_s)
    entries: dict[str, VirtualEntry] = {"containers": folder(containers), "plugins": folder(ready)}
    entries["volumes"] = folder({plugin: folder(found, 0o755) for plugin, found in volumes.items()})
    live = next((record.container for record in pod.containers if record.container is not None), None)
    if live is not None and live.namespace is not node.machine.host.namespace:
        hosts = live.files
        entries["etc-hosts"] = VirtualFile(lambda: hosts.read("/etc/hosts"), mode=0o644, time_s=created)
    return folder(entries)


# -- containerd ------------------------------------------------------------------------------------


def list_containers(node: Node) -> Iterator[tuple[PodRecord, ContainerRecord]]:
    """All containers of a node, the oldest first."""
    found = [(pod, record) for pod in node.runtime.pods.values() for record in pod.containers]
    yield from sorted(found, key=lambda each: each[1].created_s)


def show_containerd(node: Node) -> VirtualDirectory:
    """/var/lib/containerd: the blobs of images, and a snapshot for each image and container."""

    def blobs() -> dict[str, VirtualEntry]:
        found: dict[str, VirtualEntry] = {}
        for image in node.images.list_images():
            manifest = image.digest.removeprefix("sha256:")
            found[manifest] = VirtualFile(lambda: b"{}", mode=0o444, size=1_100 + len(image.name) * 9)
            config = image.config_digest.removeprefix("sha256:")
            found[config] = VirtualFile(lambda: b"{}", mode=0o444, size=2_300 + len(image.name) * 11)
            layer = sha256(image.digest.encode()).hexdigest()
            found[layer] = VirtualFile(lambda: b"\x1f\x8b", mode=0o444, size=image.size_bytes)
        return found

    def snapshots() -> dict[str, VirtualEntry]:
        found: dict[str, VirtualEntry] = {}
        for image in node.images.list_images():
            found[str(len(found) + 1)] = virtual_directory(
                {"fs": _show_layer(image), "work": virtual_directory({}, 0o711)}, 0o700
            )
        for _, record in list_containers(node):
            if record.container is not None:
                root = show_volume(record.container.files.mounts()[0].volume)
                work = virtual_directory({"work": virtual_directory({}, 0o000)}, 0o711)
                number = str(len(found) + 1)
                found[number] = virtual_directory({"fs": root, "work": work}, 0o700, record.created_s)
        return found

    database = VirtualFile(bytes, mode=0o600, size=2_097_152)
    content = {"sha256": lazy_directory(blobs)}
    entries: dict[str, dict[str, VirtualEntry]] = {
        "io.containerd.content.v1.content": {
            "blobs": virtual_directory(content, 0o755),
            "ingest": virtual_directory({}, 0o755),
        },
        "io.containerd.grpc.v1.introspection": {"uuid": text(node.machine.machine_id)},
        "io.containerd.metadata.v1.bolt": {"meta.db": database},
        TASKS: {},
        SNAPSHOTS: {"metadata.db": database, "snapshots": lazy_directory(snapshots, 0o700)},
        "tmpmounts": {},
    }
    modes = {SNAPSHOTS: 0o700, "tmpmounts": 0o700, "io.containerd.content.v1.content": 0o755}
    folders = {name: virtual_directory(found, modes.get(name, 0o711)) for name, found in entries.items()}
    return virtual_directory(folders, 0o711)


def _show_layer(image: Published) -> VirtualDirectory:
    """What an image consists of, in few files that together have its size."""
    program = (image.command or ("app",))[0].rpartition("/")[2]
    own = int(measure_unpacked(image) * PROGRAM_SHARE) // 4096 * 4096
    library = VirtualFile(bytes, mode=0o644, size=measure_unpacked(image) - own)
    binaries = virtual_directory({program: VirtualFile(bytes, mode=0o755, size=own)}, 0o755)
    libraries = virtual_directory({"libc.so.6": library}, 0o755)
    tree = {"bin": binaries, "lib": virtual_directory({"x86_64-linux-gnu": libraries}, 0o755)}
    empty = {name: virtual_directory({}, 0o755) for name in ("etc", "tmp", "var")}
    return virtual_directory({**empty, "usr": virtual_directory(tree, 0o755)}, 0o755)


def show_runtime(node: Node) -> VirtualDirectory:
    """/run/containerd: sockets, and the state of what runs."""

    def tasks() -> dict[str, VirtualEntry]:
        found: dict[str, VirtualEntry] = {}
        for pod, record in list_containers(node):
            if record.container is not None and record.process is not None and record.running:
                found[record.id] = _show_task(pod, record)
        for pod in node.runtime.pods.values():
            if pod.sandbox is not None and pod.sandbox.ready:
                pid = text(str(pod.sandbox.holder.host_pid))
                found[pod.sandbox.id] = virtual_directory(
                    {"init.pid": pid, "rootfs": virtual_directory({}, 0o755)}, 0o711
                )
        return found

    def sandboxes() -> dict[str, VirtualEntry]:
        inside: dict[str, VirtualEntry] = {
            "hostname": text(""),
            "resolv.conf": text(""),
            "shm": virtual_directory({}, 0o1777),
        }
        found = [pod.sandbox.id for pod in node.runtime.pods.values() if pod.sandbox and pod.sandbox.ready]
        return dict.fromkeys(found, virtual_directory(inside, 0o755))

    socket = VirtualFile(bytes, mode=0o660, socket=True)
    state = virtual_directory({"k8s.io": lazy_directory(tasks, 0o711)}, 0o711)
    entries: dict[str, VirtualEntry] = {
        "containerd.sock": socket,
        "containerd.sock.ttrpc": socket,
        "io.containerd.grpc.v1.cri": virtual_directory({"sandboxes": lazy_directory(sandboxes)}, 0o711),
        TASKS: state,
        "runc": state,
    }
    return virtual_directory(entries, 0o711)


def oci_spec(pod: PodRecord, record: ContainerRecord) -> dict[str, object]:
    """The OCI specification of a running container, as far as operators read it."""
    container, process = record.container, record.process
    assert container is not None and process is not None
    sandbox = pod.sandbox.holder.host_pid if pod.sandbox is not None else 0
    shared = (("ipc", "ipc"), ("network", "net"))
    namespaces = [{"type": kind, "path": f"/proc/{sandbox}/ns/{name}"} for kind, name in shared]
    return {
        "ociVersion": "1.2.1",
        "process": {"user": {"uid": record.uid, "gid": record.gid}, "args": process.argv, "cwd": process.files.cwd,
                    "env": [f"{name}={value}" for name, value in process.env.items()],
                    "capabilities": {"effective": [f"CAP_{name}" for name in container.capabilities]}},
        "mounts": [{"destination": mount.path, "type": mount.fstype, "source": mount.source}
                   for mount in container.files.mounts()[1:]],
        "linux": {"resources": {"memory": {"limit": container.memory_limit_bytes or 0}}, "cgroupsPath": container.cgroup_path,
                  "namespaces": [{"type": "pid"}, *namespaces, {"type": "mount"}]},
    }  # fmt: skip


def _show_task(pod: PodRecord, record: ContainerRecord) -> VirtualDirectory:
    container, process = record.container, record.process
    assert container is not None and process is not None
    entries: dict[str, VirtualEntry] = {
        "config.json": VirtualFile(lambda: json.dumps(oci_spec(pod, record)).encode(), mode=0o644),
        "init.pid": text(str(process.host_pid)),
        "log.json": text(""),
        "rootfs": show_volume(container.files.mounts()[0].volume),
        "runtime": text("runc"),
        "shim-binary-path": text("/usr/local/bin/containerd-shim-runc-v2"),
    }
    return virtual_directory(entries, 0o711, record.started_s)


# -- etcd ------------------------------------------------------------------------------------------


def show_etcd(api: Api) -> VirtualDirectory:
    """/var/lib/etcd: the database and the write-ahead log."""

    def snap() -> dict[str, VirtualEntry]:
        return {"db": VirtualFile(bytes, mode=0o600, size=api.log.size_bytes, time_s=api.now_s)}

    wal = VirtualFile(bytes, mode=0o600, size=WAL_BYTES)
    log = {"0000000000000000-0000000000000000.wal": wal, "0.tmp": wal}
    member = {"snap": lazy_directory(snap, 0o700), "wal": virtual_directory(log, 0o700)}
    return virtual_directory({"member": virtual_directory(member, 0o700)}, 0o700)


# -- mounts ----------------------------------------------------------------------------------------


def list_mounts(node: Node, own: list[Mount]) -> Iterator[Mount]:
    """Add what the runtime and the kubelet have mounted for pods, and the file systems in memory, in order of time."""
    machine = node.machine
    root, early = own[0], ("/sys", "/proc", "/dev")
    base = f"/var/lib/containerd/{SNAPSHOTS}/snapshots"

    def memory(path: str, size: int, options: str = "", source: str = "tmpfs") -> Mount:
        described = options or f"nosuid,nodev,size={size // 1024}k,mode=755,inode64"
        shown = tmpfs(size, machine.clock)
        return Mount(path, shown, False, source, "tmpfs", 0x30, shown.root, options=described)

    run = memory("/run", machine.memory_bytes // 10)
    used_bytes = int(330 + 220 * vary(f"{machine.name}/run")) * 4096
    run.volume.disk.occupy(used_bytes, 612 + 40 * len(node.runtime.pods))
    yield from (mount for path in early for mount in own if mount.path == path)
    yield from (run, root)
    yield memory("/dev/shm", machine.memory_bytes // 2, "nosuid,nodev,inode64")
    yield memory("/run/lock", 5 * 1024**2)
    yield from (mount for mount in own[1:] if mount.path not in early)
    number = len(node.images.list_images())
    found: list[tuple[float, Mount]] = []
    for pod in node.runtime.pods.values():
        since_s = machine.kernel.now - (pod.sandbox.holder.started_at if pod.sandbox else machine.kernel.now)
        began_s = machine.clock() - since_s
        for volume in node.volumes.of(pod.uid).values():
            if volume.plugin and volume.fstype == "tmpfs":
                found.append((began_s, _pod_mount(node, pod, volume)))
        if pod.sandbox is not None and pod.sandbox.ready:
            shm = memory(f"{RUN}/{SANDBOXES}/{pod.sandbox.id}/shm", 64 * 1024**2, SHM_OPTIONS, "shm")
            found += [(began_s, shm), (began_s, _overlay(root.volume, base, pod.sandbox.id, number))]
    for _, record in list_containers(node):
        number += 1
        if record.container is not None and record.running:
            overlay = _overlay(record.container.files.mounts()[0].volume, base, record.id, number)
            found.append((record.created_s, overlay))
    yield from (mount for _, mount in sorted(found, key=lambda each: each[0]))


def _overlay(root: Volume, base: str, container_id: str, number: int) -> Mount:
    options = f"relatime,lowerdir={base}/{number // 2 + 1}/fs,upperdir={base}/{number}/fs,workdir={base}/{number}/work,uuid=on,nouserxattr"
    path = f"{RUN}/{TASKS}/k8s.io/{container_id}/rootfs"
    return Mount(path, root, False, "overlay", "overlay", 0x31, root.root, options=options)


def _pod_mount(node: Node, pod: PodRecord, volume: PodVolume) -> Mount:
    """The mount of a volume in memory, which is as large as the pod's memory may be."""
    path = f"{PODS}/{pod.uid}/volumes/{volume.plugin}/{volume.name}"
    memory = node.machine.memory_bytes
    running = [record.container for record in pod.containers if record.container is not None]
    size = sum(container.memory_limit_bytes or memory for container in running)
    shown = tmpfs(min(size or memory, memory), node.machine.clock)
    shown.disk.occupy(volume.volume.used_bytes, volume.volume.inodes_used)
    options = f"relatime,size={shown.disk.capacity_bytes // 1024}k,inode64,noswap"
    return Mount(path, shown, False, "tmpfs", "tmpfs", TMPFS_DEV, shown.root, options=options)
