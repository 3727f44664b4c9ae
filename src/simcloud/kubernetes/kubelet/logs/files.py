"""Logs of containers as files of their machine: written, read, followed, rotated and deleted.

The file is ``/var/log/pods/<namespace>_<pod>_<uid>/<container>/<restarts>.log``; a link in
``/var/log/containers`` leads there. A reader of the log gets only the present file, not the rotated
ones, as with the genuine kubelet. Every line also goes to the emitter, with the labels of Promtail's usual scrape
configuration; they are made once per container.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.machine import LOG_FOLDER, ROTATE_BYTES, ContainerLog, Labels, Machine
from simcloud.machine.files import FileError

POD_LOGS: Final = "/var/log/pods"
MOST_FILES: Final = 5
"""Of one container, the present file among them (``containerLogMaxFiles``)."""


_LINE: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) (?:stdout|stderr) ([PF]) (.*)", re.DOTALL
)

_REPLICA_SET: Final = re.compile(r"([0-9a-z-.]+?)(-[0-9a-f]{8,10})?")


class Entry(NamedTuple):
    """One line of a log."""

    stamp: str
    text: bytes

    @property
    def time_s(self) -> float:
        """When it was written; of a time that never was, long ago."""
        try:
            return parse(self.stamp)
        except ValueError:
            return 0.0


def pod_log_folder(pod: Object) -> str:
    """Where the logs of a pod's containers are."""
    metadata = pod["metadata"]
    uid = (metadata.get("annotations") or {}).get("kubernetes.io/config.hash") or metadata["uid"]
    return f"{POD_LOGS}/{metadata['namespace']}_{metadata['name']}_{uid}"


class FollowedLog(ContainerLog):
    """The log of one run of a pod's container, that tells followers of new lines."""

    rotates_itself = False  # the kubelet does, when it looks

    def __init__(self, machine: Machine, pod: Object, name: str, attempt: int, container_id: str) -> None:
        metadata = pod["metadata"]
        source = f"{metadata['name']}_{metadata['namespace']}_{name}-{container_id}"
        self._folder = f"{pod_log_folder(pod)}/{name}"
        path = f"{self._folder}/{attempt}.log"
        super().__init__(machine, source, log_labels(pod, name, machine.name, path), path)
        self._link = f"{LOG_FOLDER}/{source}.log"
        self._files = machine.host.files
        self._followers: dict[int, Callable[[Entry], None]] = {}
        self._numbers = 0

    def begin(self) -> None:
        """The container starts: its file is there before its first line."""
        files = self._files
        try:
            self._file = self._open(files)
            if not files.exists(LOG_FOLDER):
                files.mkdir(LOG_FOLDER, 0o755, parents=True)
            files.symlink(self.path, self._link)
        except FileError:
            return  # a disk that is full or broken: the first line will try again

    def line(self, text: str, stream: str = "stdout", written_s: float = 0.0) -> None:
        """Write one line and pass it to the followers."""
        lost = self.lost_lines
        super().line(text, stream, written_s)
        if self._followers and self.lost_lines == lost:
            entry = Entry(self._stamp(self.stamped), text.encode("utf-8", "surrogateescape"))
            for follower in list(self._followers.values()):
                follower(entry)

    def follow(self, follower: Callable[[Entry], None]) -> Callable[[], None]:
        """Tell a function every new line. Returns how to stop it."""
        self._numbers += 1
        number = self._numbers
        self._followers[number] = follower
        return lambda: self._followers.pop(number, None) and None

    def entries(self) -> list[Entry]:
        """The lines of the present file."""
        try:
            data = self._files.read(self.path)
        except FileError:
            return []
        return list(entries_of(data))

    @property
    def used_bytes(self) -> int:
        """What all its files take."""
        used = 0
        for path in [*self._find_rotated(), self.path]:
            try:
                used += self._files.stat(path).size
            except FileError:
                continue
        return used

    def look_after(self) -> None:
        """Put a long file aside, and begin a new one where somebody removed it. ``FileError`` when that fails."""
        try:
            size = self._files.stat(self.path).size
        except FileError:
            self._file = self._open(self._files)
        else:
            if size > ROTATE_BYTES:
                self._put_aside()

    def _put_aside(self) -> None:
        """Drop the oldest files, pack the others, begin a new one."""
        old = self._find_rotated()
        for path in old[: -(MOST_FILES - 2)]:
            self._files.remove(path)
        for path in old[-(MOST_FILES - 2) :]:
            if not path.endswith(".gz"):
                packed = gzip.compress(self._files.read(path), mtime=0)
                self._files.write(f"{path}.gz", packed, mode=0o640)
                self._files.remove(path)
        now = datetime.fromtimestamp(int(self._machine.clock()), UTC)
        self.rotate(f"{self.path}.{now:%Y%m%d-%H%M%S}")

    def delete(self) -> None:
        """The container is removed: its log goes with it, and folders that are empty then."""
        for path in [*self._find_rotated(), self.path, self._link]:
            try:
                self._files.remove(path)
            except FileError:
                continue
        for folder in (self._folder, self._folder.rpartition("/")[0]):
            try:
                self._files.rmdir(folder)
            except FileError:
                return

    def _find_rotated(self) -> list[str]:
        """Files that were put aside, the oldest first."""
        try:
            names = self._files.listdir(self._folder)
        except FileError:
            return []
        begin = self.path.rpartition("/")[2] + "."
        return [f"{self._folder}/{name}" for name in sorted(names) if name.startswith(begin)]


def entries_of(data: bytes) -> Iterator[Entry]:
    """The lines of a file: time, stream, a flag, and the text; pieces of a long line are put together.

    The file is anybody's who can write to the node's disk: what is no line of a log is passed over.
    """
    pieces: list[bytes] = []
    for line in data.split(b"\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        stamp, flag, text = match.groups()
        pieces.append(text)
        if flag == b"F":
            yield Entry(stamp.decode(), b"".join(pieces))
            pieces = []


def log_labels(pod: Object, container: str, node: str, path: str) -> Labels:
    """The labels of what a container writes, but for the stream."""
    metadata = pod["metadata"]
    own = metadata.get("labels") or {}
    app = own.get("app.kubernetes.io/name") or own.get("app") or _controller(metadata) or metadata["name"]
    labels = {
        "app": app,
        "component": own.get("app.kubernetes.io/component") or own.get("component") or "",
        "container": container,
        "filename": path,
        "instance": own.get("app.kubernetes.io/instance") or own.get("instance") or "",
        "job": f"{metadata['namespace']}/{app}",
        "namespace": metadata["namespace"],
        "node_name": node,
        "pod": metadata["name"],
    }
    return tuple((name, value) for name, value in labels.items() if value)


def _controller(metadata: Object) -> str:
    """Name of the pod's controller; for a ReplicaSet, the name of its Deployment."""
    owners = metadata.get("ownerReferences") or ()
    name = next((str(owner["name"]) for owner in owners if owner.get("controller")), "")
    match = _REPLICA_SET.fullmatch(name)
    return match.group(1) if match else name
