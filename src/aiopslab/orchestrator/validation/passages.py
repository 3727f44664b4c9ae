"""Passages: all texts of a world that an agent could read, with their places.

An administrator can read every object of the API (also those of the last minutes, by watching from an old version), every
file of its own host, of the nodes and of all containers, arguments and environments of processes, and all telemetry.
These are read from the world's own stores, so that no agent's command is missed.

Data that is only in a program's memory (database rows that are in no file) is not read.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from aiopslab.cloud import Environment
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.kubelet import SNAPSHOTS
from simcloud.machine.files import FileError
from simcloud.machine.process import Container

FILE_BYTES: Final = 1 << 20
"""Maximum number of bytes read of each file."""
UNPACKED_BYTES: Final = 8 << 20
NUL: Final = b"\0"
"""Fills most of a database's files."""
SKIPPED: Final = frozenset(
    {
        *("/proc", "/dev", "/sys"),
        *("/host/proc", "/host/sys", "/host/root"),
        "/run/containerd",
        "/var/lib/kubelet/pods",
        SNAPSHOTS,
    }
)
"""Folders that the kernel generates when they are read, or that show the files of containers and of the host once more.

Processes and containers are read directly instead."""


class Passage(NamedTuple):
    """A text, and its place."""

    where: str
    text: str


def read_world(environment: Environment) -> Iterator[Passage]:
    """Yield all passages except those of the agent's own host; see ``read_containers``."""
    yield from _read_objects(environment)
    nodes = [kubelet.node.machine for kubelet in environment.cluster.kubelets.values()]
    yield from read_containers(container for machine in nodes for container in machine.containers.values())
    for machine in nodes:
        text = "\n".join(entry.text for entry in machine.journal.list_entries())
        yield Passage(f"journal of {machine.name}", text)
    yield from _read_telemetry(environment)


def read_containers(containers: Iterable[Container]) -> Iterator[Passage]:
    """Yield the passages of containers' files and processes."""
    seen: set[bytes] = set()
    for container in containers:
        yield from _read_files(container, seen)
        yield from _read_processes(container)


def _read_objects(environment: Environment) -> Iterator[Passage]:
    log = environment.cluster.api.log
    for group, plural in dict.fromkeys(resource.key for resource in environment.cluster.api.catalogue):
        for obj in log.objects(group, plural):
            yield from _read_object(plural, obj)
        for write in log.since(group, plural, log.compacted):
            if write.change == "DELETED":
                yield from _read_object(f"deleted {plural}", write.object)
            elif write.before is not None:
                yield from _read_object(f"earlier {plural}", write.before)
    authors = dict.fromkeys(write.by for write in log.history())
    yield Passage("authors of objects", "\n".join(authors))


def _read_object(plural: str, obj: Object) -> Iterator[Passage]:
    metadata = obj["metadata"]
    where = f"{plural} {'/'.join(part for part in (metadata.get('namespace'), metadata['name']) if part)}"
    yield Passage(where, "\n".join(_flatten(obj)))
    if plural.endswith("secrets"):
        for key, value in (obj.get("data") or {}).items():
            yield Passage(f"{where}, {key}", _unpack(value))


def _flatten(value: Any, name: str = "") -> Iterator[str]:
    """Yield a line for each leaf of a tree with its name, so that equal fields of two objects give equal lines."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _flatten(child, str(key))
        if not value:
            yield name
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _flatten(child, name)
    else:
        yield f"{name}: {value}"


def _unpack(value: str) -> str:
    """Decode a value of a Secret: base64, which Helm applies twice to a compressed document."""
    data = value.encode()
    for _ in range(3):
        if data[:2] == b"\x1f\x8b":
            try:
                return gzip.decompress(data)[:UNPACKED_BYTES].decode(errors="replace")
            except (OSError, EOFError, zlib.error):
                break
        try:
            data = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            break
    return data.decode(errors="replace")


def _read_files(container: Container, seen: set[bytes]) -> Iterator[Passage]:
    """Yield names and contents of files; equal contents, as from a shared image, only once."""
    files = container.files
    pending = ["/"]
    while pending:
        folder = pending.pop()
        names: list[str] = []
        for name in _list_folder(container, folder):
            path = f"{folder.rstrip('/')}/{name}"
            kind = files.node_kind(path, follow=False)
            names.append(name)
            if kind == "directory" and path not in SKIPPED:
                pending.append(path)
            elif kind == "link":
                names.append(files.readlink(path))
            elif kind == "file" and (data := _read_file(container, path)) and data not in seen:
                seen.add(data)
                text = data.translate(None, NUL).decode(errors="replace")
                yield Passage(f"file {path} in {container.name}", text)
        yield Passage(f"folder {folder} in {container.name}", "\n".join(names))


def _list_folder(container: Container, folder: str) -> list[str]:
    try:
        return container.files.listdir(folder)
    except FileError:
        return []


def _read_file(container: Container, path: str) -> bytes:
    try:
        file = container.files.open(path)
    except FileError:
        return b""
    try:
        return file.read(FILE_BYTES)
    except FileError:
        return b""
    finally:
        file.close()


def _read_processes(container: Container) -> Iterator[Passage]:
    for process in container.processes.values():
        lines = [" ".join(process.argv), *(f"{name}={value}" for name, value in process.env.items())]
        yield Passage(f"process {process.pid} in {container.name}", "\n".join(lines))


def _read_telemetry(environment: Environment) -> Iterator[Passage]:
    telemetry, store = environment.world.emitter, environment.monitoring.store
    for stream in telemetry.logs.streams():
        labels = dict(stream.labels)
        where = labels.get("pod") or labels.get("host") or "unknown"
        yield Passage(f"labels of logs of {where}", _format_labels(stream.labels))
        yield Passage(f"logs of {where}", "\n".join(stream.texts))
    for name in store.label_names():
        yield Passage(f"metrics' label {name}", "\n".join((name, *store.label_values(name))))
    for name, metadata in store.metadata.items():
        yield Passage(f"metric {name}", metadata.help)
    for rules in environment.monitoring.rules.groups:
        yield Passage(f"rules of {rules.name}", "\n".join(_flatten(rules.document(""))))
    telemetry.traces.settle()
    for group in telemetry.traces.groups.values():
        yield Passage(f"traces of {group.service}", f"{group.service}\n{group.operation}")
    for shape in dict.fromkeys(telemetry.traces.shapes):
        common = (_format_labels(shape.tags), _format_labels(shape.process), shape.error or "")
        yield Passage(f"traces of {shape.group.service}", "\n".join(common))


def _format_labels(labels: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{name}={value}" for name, value in labels)
