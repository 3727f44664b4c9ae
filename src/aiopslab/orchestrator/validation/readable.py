"""Everything that an agent could read of a world, as passages of text with their places.

An agent with an administrator's rights sees every object of the API (those of the last minutes, too, by watching from an
old version), every file of its own host, of the nodes and of all containers, what processes run with, and all telemetry.
This is read here from the world's own stores: no command has to be thought of that an agent might type.

What only data in memory of a program would tell (rows of a database that are in no file) is not looked at.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from aiopslab.cloud.environment import Environment
from simcloud.kubernetes.api.objects import Object
from simcloud.machine.files import FileError
from simcloud.machine.process import Container

FILE_BYTES: Final = 1 << 20
"""So much of each file is read."""
UNPACKED_BYTES: Final = 8 << 20
SKIPPED: Final = ("/proc", "/dev", "/sys")
"""Made up by the machine's kernel at the time of reading. What they tell of processes is read from these."""


class Passage(NamedTuple):
    """A text, and where it is to be read."""

    where: str
    text: str


def readable(environment: Environment) -> Iterator[Passage]:
    """All of it, except for what is on the host that the agent types at: see ``on_hosts``."""
    yield from _objects(environment)
    nodes = [kubelet.node.machine for kubelet in environment.cluster.kubelets.values()]
    yield from on_hosts(container for machine in nodes for container in machine.containers.values())
    for machine in nodes:
        yield Passage(f"kernel log of {machine.name}", "\n".join(text for _, text in machine.kernel_log))
    yield from _telemetry(environment)


def on_hosts(containers: Iterable[Container]) -> Iterator[Passage]:
    """What files and processes tell."""
    seen: set[bytes] = set()
    for container in containers:
        yield from _files(container, seen)
        yield from _processes(container)


def _objects(environment: Environment) -> Iterator[Passage]:
    log = environment.cluster.api.log
    for group, plural in dict.fromkeys(resource.key for resource in environment.cluster.api.catalogue):
        for obj in log.objects(group, plural):
            yield from _object(plural, obj)
        for write in log.since(group, plural, log.compacted):
            if write.change == "DELETED":
                yield from _object(f"deleted {plural}", write.object)
            elif write.before is not None:
                yield from _object(f"earlier {plural}", write.before)
    authors = dict.fromkeys(write.by for write in log.history())
    yield Passage("who wrote objects", "\n".join(authors))


def _object(plural: str, obj: Object) -> Iterator[Passage]:
    metadata = obj["metadata"]
    where = f"{plural} {'/'.join(part for part in (metadata.get('namespace'), metadata['name']) if part)}"
    yield Passage(where, "\n".join(_words(obj)))
    if plural.endswith("secrets"):
        for key, value in (obj.get("data") or {}).items():
            yield Passage(f"{where}, {key}", _unpacked(value))


def _words(value: Any, name: str = "") -> Iterator[str]:
    """Each leaf of a tree with its own name, a line each: so that two objects are alike where they say the same."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _words(below, str(key))
        if not value:
            yield name
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _words(below, name)
    else:
        yield f"{name}: {value}"


def _unpacked(value: str) -> str:
    """What a Secret keeps: base64, which Helm uses twice around a compressed document."""
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


def _files(container: Container, seen: set[bytes]) -> Iterator[Passage]:
    """Names and contents; a content that many containers have from one image is read once."""
    files = container.files
    waiting = ["/"]
    while waiting:
        folder = waiting.pop()
        names: list[str] = []
        for name in _listed(container, folder):
            path = f"{folder.rstrip('/')}/{name}"
            kind = files.node_kind(path, follow=False)
            names.append(name)
            if kind == "directory" and path not in SKIPPED:
                waiting.append(path)
            elif kind == "link":
                names.append(files.readlink(path))
            elif kind == "file" and (data := _read(container, path)) and data not in seen:
                seen.add(data)
                yield Passage(f"file {path} in {container.name}", data.decode(errors="replace"))
        yield Passage(f"folder {folder} in {container.name}", "\n".join(names))


def _listed(container: Container, folder: str) -> list[str]:
    try:
        return container.files.listdir(folder)
    except FileError:
        return []


def _read(container: Container, path: str) -> bytes:
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


def _processes(container: Container) -> Iterator[Passage]:
    for process in container.processes.values():
        told = [" ".join(process.argv), *(f"{name}={value}" for name, value in process.env.items())]
        yield Passage(f"process {process.pid} in {container.name}", "\n".join(told))


def _telemetry(environment: Environment) -> Iterator[Passage]:
    telemetry, store = environment.world.emitter, environment.monitoring.store
    for stream in telemetry.logs.streams():
        labels = dict(stream.labels)
        where = labels.get("pod") or labels.get("host") or "somebody"
        yield Passage(f"labels of logs of {where}", _pairs(stream.labels))
        yield Passage(f"logs of {where}", "\n".join(stream.texts))
    for name in store.label_names():
        yield Passage(f"metrics' label {name}", "\n".join((name, *store.label_values(name))))
    for name, told in store.metadata.items():
        yield Passage(f"metric {name}", told.help)
    for rules in environment.monitoring.rules.groups:
        yield Passage(f"rules of {rules.name}", "\n".join(_words(rules.document(""))))
    telemetry.traces.settle()
    for group in telemetry.traces.groups.values():
        yield Passage(f"traces of {group.service}", f"{group.service}\n{group.operation}")
    for shape in dict.fromkeys(telemetry.traces.shapes):
        common = (_pairs(shape.tags), _pairs(shape.process), shape.error or "")
        yield Passage(f"traces of {shape.group.service}", "\n".join(common))


def _pairs(labels: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{name}={value}" for name, value in labels)
