"""Sets up the volumes of a node's pods, updates projected files, and mounts volumes into containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from stat import S_ISVTX
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.kubelet.pods.environment import ConfigError, expand
from simcloud.kubernetes.kubelet.volumes.sources import (
    ClaimError,
    File,
    Projector,
    VolumeError,
    check_type,
    is_projection,
    place_of,
)
from simcloud.machine import Machine
from simcloud.machine.files import FileError, Files, Volume, tmpfs, tree_volume, update_tree
from simcloud.machine.process import Container
from simcloud.sim import Event, TimedOut

MOUNT_S: Final = 0.3
"""What it takes until all volumes of a pod stand, when nothing is wrong."""

PLUGINS: Final = {"configMap": "configmap", "downwardAPI": "downward-api", "emptyDir": "empty-dir", "projected": "projected",
                  "secret": "secret"}  # fmt: skip
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 122.0
GIVE_UP_S: Final = 123.0
"""So long one attempt to start a pod waits for its volumes."""


class PodVolume(Struct):
    """A volume of a pod that stands. ``inside`` is where it begins, for a part of a larger one."""

    name: str
    volume: Volume
    inside: str = ""
    read_only: bool = False
    fstype: str = "ext4"
    plugin: str = ""
    """The folder of the plugin that made it, below the pod's folder on the node; none for paths of the node itself."""
    local: bool = False
    """Whether its contents count as the pod's own use of the node's disk."""


class _Pause(Struct):
    """Between attempts to set up what failed before."""

    length_s: float
    until: float


class VolumeManager:
    """The volumes of all pods of one machine."""

    def __init__(self, client: ComponentClient, machine: Machine, allocatable: Callable[[], Object]) -> None:
        self._client = client
        self._machine = machine
        self._allocatable = allocatable
        self._pods: dict[str, dict[str, PodVolume]] = {}
        self._pauses: dict[str, _Pause] = {}

    def of(self, uid: str) -> Mapping[str, PodVolume]:
        """The volumes of a pod that stand."""
        return self._pods.get(uid, {})

    def stand(self, pod: Object) -> bool:
        """Whether all volumes of a pod stand."""
        present = self._pods.get(pod["metadata"]["uid"], {})
        return all(each["name"] in present for each in pod["spec"].get("volumes") or ())

    async def mount(
        self, pod: Object, status: Object, failed: Callable[[str], None], interrupt: Event[None]
    ) -> str:
        """Set up all volumes of a pod, trying again after growing pauses; what is wrong, empty when all stand.

        ``failed`` is called with every failure, as an event's message. An interrupt ends the waiting.
        """
        kernel = self._machine.kernel
        if self.stand(pod):
            return ""
        await kernel.sleep(MOUNT_S)
        give_up_at = kernel.now + GIVE_UP_S
        uid = pod["metadata"]["uid"]
        missing = [each["name"] for each in pod["spec"]["volumes"] if each["name"] not in self.of(uid)]
        while not interrupt.is_set:
            pause = self._pauses.setdefault(uid, _Pause(FIRST_PAUSE_S, kernel.now))
            if kernel.now >= pause.until:
                missing = self._try_all(pod, status, failed)
                if not missing:
                    del self._pauses[uid]
                    return ""
                pause.until = kernel.now + pause.length_s
                pause.length_s = min(LONGEST_PAUSE_S, pause.length_s * 2)
            if kernel.now >= give_up_at:
                return (
                    f"unmounted volumes=[{' '.join(missing)}], unattached volumes=[], "
                    "failed to process volumes=[]: context deadline exceeded"
                )
            try:
                await interrupt.wait(min(pause.until, give_up_at) - kernel.now)
            except TimedOut:
                continue
        return "interrupted"

    def _try_all(self, pod: Object, status: Object, failed: Callable[[str], None]) -> list[str]:
        """One attempt; the names of the volumes that still do not stand."""
        present = self._pods.setdefault(pod["metadata"]["uid"], {})
        missing = []
        for volume in pod["spec"].get("volumes") or ():
            if volume["name"] in present:
                continue
            try:
                made = present[volume["name"]] = self._set_up(pod, status, volume)
                made.plugin = _plugin_of(volume)
            except VolumeError as error:
                failed(error.message)
                missing.append(volume["name"])
            except ClaimError:
                missing.append(volume["name"])
            except FileError as error:  # the machine's disk does not do what it should
                why = f"mkdir {error.path}: {error.strerror.lower()}"
                failed(VolumeError(volume["name"], why).message)
                missing.append(volume["name"])
        return missing

    def refresh(self, pod: Object, status: Object) -> None:
        """Bring the projections of a pod up to date; those that cannot be made keep their old files."""
        present = self._pods.get(pod["metadata"]["uid"], {})
        for volume in pod["spec"].get("volumes") or ():
            standing = present.get(volume["name"])
            if standing is None or not is_projection(volume):
                continue
            try:
                files = self._projector(pod, status).files(volume)
            except VolumeError:
                continue
            keeps = {path: file for path, file in files.items() if not _is_token(volume, path)}
            old = Files(standing.volume)
            for path in [each for each in files if each not in keeps]:
                if old.exists(path):
                    files[path] = File(old.read(path), files[path].mode)
            _fill(standing.volume, files)

    def tear_down(self, uid: str) -> None:
        """A pod is gone: what was only its own goes too."""
        self._pauses.pop(uid, None)
        for each in self._pods.pop(uid, {}).values():
            if each.local:
                each.volume.discard()

    # -- the kinds of volumes ------------------------------------------------------------------

    def _set_up(self, pod: Object, status: Object, volume: Object) -> PodVolume:
        name, machine = volume["name"], self._machine
        if is_projection(volume):
            files = self._projector(pod, status).files(volume)
            in_memory = "configMap" not in volume and "downwardAPI" not in volume
            if in_memory:
                self._need_mount(pod, volume)
            made = tree_volume(_contents(files), machine.clock, name, _least_mode(files))
            _set_modes(made, files)
            if in_memory:
                made.root.mode |= S_ISVTX
            return PodVolume(name, made, read_only=True, fstype="tmpfs" if in_memory else "ext4")
        if "emptyDir" in volume:
            return self._empty_dir(pod, volume)
        if "hostPath" in volume:
            return self._host_path(name, name, volume["hostPath"])
        if "persistentVolumeClaim" in volume:
            return self._claim(pod, volume)
        if "ephemeral" in volume:
            claim = f"{pod['metadata']['name']}-{name}"
            return self._claim(pod, {"name": name, "persistentVolumeClaim": {"claimName": claim}})
        raise VolumeError(name, "no volume plugin matched")

    def _need_mount(self, pod: Object, volume: Object) -> None:
        """What is secret is kept in memory, which is mounted for it; ``VolumeError`` when the kernel does not do that."""
        try:
            self._machine.need_mount()
        except FileError as error:
            kind, name = "secret" if "secret" in volume else "projected", volume["name"]
            path = f"/var/lib/kubelet/pods/{pod['metadata']['uid']}/volumes/kubernetes.io~{kind}/{name}"
            raise VolumeError(
                name,
                "mount failed: exit status 32\nMounting command: mount\n"
                f"Mounting arguments: -t tmpfs -o noswap tmpfs {path}\n"
                f"Output: mount: {path}: mount(2) system call failed: {error.strerror}.\n",
            ) from None

    def _projector(self, pod: Object, status: Object) -> Projector:
        return Projector(self._client, pod, status, self._allocatable())

    def _empty_dir(self, pod: Object, volume: Object) -> PodVolume:
        source, machine = volume.get("emptyDir") or {}, self._machine
        label = f"{pod['metadata']['uid']}/{volume['name']}"
        limit = source.get("sizeLimit")
        if source.get("medium") == "Memory":
            size_bytes = quantity.whole(limit) if limit else machine.memory_bytes // 2
            return PodVolume(volume["name"], tmpfs(size_bytes, machine.clock, label), fstype="tmpfs")
        made = Volume(machine.disk, machine.clock, label)
        made.root.mode |= 0o777
        return PodVolume(volume["name"], made, local=True)

    def _host_path(self, name: str, event_name: str, source: Object, mode: int = 0o755) -> PodVolume:
        check_type(self._machine, source, event_name, mode)
        volume, inside = place_of(self._machine, source["path"])
        return PodVolume(name, volume, inside)

    def _claim(self, pod: Object, volume: Object) -> PodVolume:
        source = volume["persistentVolumeClaim"]
        namespace, name = pod["metadata"]["namespace"], source["claimName"]
        claim = self._client.get("persistentvolumeclaims", namespace, name)
        if claim is None:
            raise ClaimError(f'persistentvolumeclaim "{name}" not found')
        bound = claim["spec"].get("volumeName")
        if not bound or (claim.get("status") or {}).get("phase") != "Bound":
            raise ClaimError("PVC is not bound")
        disk = self._client.get("persistentvolumes", "", bound)
        if disk is None:
            raise ClaimError(f'persistentvolume "{bound}" not found')
        made = self._persistent(volume["name"], disk)
        made.read_only = bool(source.get("readOnly"))
        return made

    def _persistent(self, name: str, disk: Object) -> PodVolume:
        spec, label = disk["spec"], disk["metadata"]["name"]
        if "hostPath" in spec:
            # The provisioner of local volumes lets everybody write into its directories.
            provisioned = "pv.kubernetes.io/provisioned-by" in (disk["metadata"].get("annotations") or {})
            return self._host_path(name, label, spec["hostPath"], 0o777 if provisioned else 0o755)
        if "local" in spec:
            path = spec["local"]["path"]
            if not self._machine.host.files.exists(path):
                raise VolumeError(label, f'path "{path}" does not exist')
            volume, inside = place_of(self._machine, path)
            return PodVolume(name, volume, inside)
        # Network disks and drivers: the disk is attached to this machine under its own name.
        return PodVolume(name, self._machine.volume(label))

    # -- containers ----------------------------------------------------------------------------

    def show(self, pod: Object, spec: Object, container: Container, env: Mapping[str, str]) -> None:
        """Mount a pod's volumes in a container, as its spec says. ``ConfigError`` when that is impossible."""
        present = self.of(pod["metadata"]["uid"])
        files = container.files
        for mount in spec.get("volumeMounts") or ():
            volume = present[mount["name"]]
            sub = mount.get("subPath") or expand(mount.get("subPathExpr") or "", env)
            inside = "/".join(each for each in (volume.inside, sub.strip("/")) if each)
            if sub:
                self._make_sub_path(volume, inside, mount, spec)
            try:
                self._make_point(files, mount["mountPath"], volume, inside)
                read_only = bool(mount.get("readOnly")) or volume.read_only
                mounted = files.mount(mount["mountPath"], volume.volume, read_only, subpath=inside)
                mounted.source, mounted.fstype, mounted.options = self._describe_mount(volume, inside)
                mounted.points.update(self._machine.host.files.grafts_on(volume.volume))
            except FileError as error:
                raise ConfigError(
                    f'failed to mount volume "{mount["name"]}" at {mount["mountPath"]}: {error.strerror.lower()}'
                ) from None

    def _describe_mount(self, volume: PodVolume, inside: str) -> tuple[str, str, str]:
        """Source, type and options of a mount in a container: those of the file system of the node that it is a part of."""
        if volume.fstype == "tmpfs":
            return "tmpfs", "tmpfs", ""
        table = self._machine.host.files.table
        found = (mount for mount in table.mounts if mount.volume is volume.volume and not mount.grafted)
        below = next(found, table.root)
        return f"{below.source}/{inside}" if below.is_remote else below.source, below.fstype, below.options

    def _make_sub_path(self, volume: PodVolume, inside: str, mount: Object, spec: Object) -> None:
        view = Files(volume.volume)
        if view.exists(f"/{inside}"):
            return
        try:
            view.mkdir(f"/{inside}", 0o750, parents=True)
        except FileError:
            raise ConfigError(
                f'failed to prepare subPath for volumeMount "{mount["name"]}" of container "{spec["name"]}"'
            ) from None

    def _make_point(self, files: Files, path: str, volume: PodVolume, inside: str) -> None:
        """What a volume, or a file of it, is to be seen over."""
        if files.exists(path):
            return
        if inside and not Files(volume.volume).is_dir(f"/{inside}"):
            parent = path.rpartition("/")[0]
            if parent:
                files.mkdir(parent, 0o755, parents=True)
            files.put(path, b"")
        else:
            files.mkdir(path, 0o755, parents=True)


def _plugin_of(volume: Object) -> str:
    return next((f"kubernetes.io~{name}" for key, name in PLUGINS.items() if key in volume), "")


def _is_token(volume: Object, path: str) -> bool:
    sources = (volume.get("projected") or {}).get("sources") or ()
    return any((each.get("serviceAccountToken") or {}).get("path") == path for each in sources)


def _fill(volume: Volume, files: Mapping[str, File]) -> None:
    """Put files into a tree at one stroke, each with its own mode."""
    update_tree(volume, _contents(files), _least_mode(files))
    _set_modes(volume, files)


def _contents(files: Mapping[str, File]) -> dict[str, bytes]:
    return {path: file.data for path, file in files.items()}


def _least_mode(files: Mapping[str, File]) -> int:
    return min((file.mode for file in files.values()), default=0o644)


def _set_modes(volume: Volume, files: Mapping[str, File]) -> None:
    """Give each file its own mode, where they differ."""
    if len({file.mode for file in files.values()}) > 1:
        volume.read_only = False
        view = Files(volume, umask=0)
        for path in sorted(files):
            view.chmod(f"/{path}", files[path].mode)
        volume.read_only = True
