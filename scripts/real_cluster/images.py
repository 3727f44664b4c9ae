"""Container images from files of a root filesystem and built programs, in a folder that ``registry.py`` serves.

An image has the name under which manifests ask for it, with the name of its registry in front.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

from scripts.real_cluster.nodes import run
from scripts.real_cluster.registry import MANIFEST

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
FOLDERS = {"tmp": 0o1777, "root": 0o700, "etc": 0o755, "var": 0o755, "var/run": 0o755}
TEXTS = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Image:
    """What an image contains and how it starts."""

    names: tuple[str, ...]
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    root: Path = Path("/")
    taken: tuple[str, ...] = ()
    """Programs of the root filesystem ``root``, which bring their shared libraries."""
    files: dict[str, Path] = field(default_factory=dict)
    """Other files and folders by their path in the image."""
    texts: dict[str, str] = field(default_factory=dict)
    """Executable files by their path in the image."""
    folders: tuple[str, ...] = ()
    links: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = "/"


def add_image(image: Image, folder: Path) -> None:
    """Add an image to ``folder`` unless it has one under all its names."""
    manifests = [folder / name.replace(":", "/") for name in image.names]
    if all(file.exists() for file in manifests):
        return
    print(f"Making the image {image.names[0]} ...", flush=True)
    layer = make_layer(image)
    configuration = json.dumps(make_configuration(image, layer)).encode()
    content = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _write_blob(configuration, "application/vnd.docker.container.image.v1+json", folder),
        "layers": [_write_blob(layer, "application/vnd.docker.image.rootfs.diff.tar", folder)],
    }
    encoded = json.dumps(content).encode()
    _write_blob(encoded, MANIFEST, folder)
    for file in manifests:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded)


def make_layer(image: Image) -> bytes:
    """Return the files of an image as a tar archive."""
    files = dict(image.files)
    for program in image.taken:
        for path in (program, *find_libraries(image.root, program)):
            files[path] = find_file(image.root, path)
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as packed:
        for path, mode in {**FOLDERS, **dict.fromkeys(image.folders, 0o777)}.items():
            packed.addfile(_make_entry(path, type=tarfile.DIRTYPE, mode=mode))
        for path, text in {**TEXTS, **image.texts}.items():
            packed.addfile(_make_entry(path, size=len(text.encode()), mode=0o755), io.BytesIO(text.encode()))
        for path, source in files.items():
            packed.add(source, arcname=path.lstrip("/"))
        for path, target in image.links.items():
            packed.addfile(_make_entry(path, type=tarfile.SYMTYPE, linkname=target))
    return layer.getvalue()


def make_configuration(image: Image, layer: bytes) -> dict[str, object]:
    """Return the configuration of an image with one layer, as Docker's image specification defines it."""
    environment = {"PATH": PATH} | image.environment
    return {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {
            "Env": [f"{name}={value}" for name, value in environment.items()],
            "Entrypoint": list(image.entrypoint),
            "Cmd": list(image.command),
            "WorkingDir": image.directory,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }


def find_libraries(root: Path, program: str) -> list[str]:
    """Return the paths of the shared libraries that a program of ``root`` loads; none for a static program."""
    listed = run("chroot", root, LOADERS[platform.machine()], "--list", program, check=False)
    return sorted(set(re.findall(r"(/\S+) \(0x", listed)))


def find_file(root: Path, path: str) -> Path:
    """Return the file that ``path`` names inside ``root``, where links are absolute or relative."""
    file = root / path.lstrip("/")
    while file.is_symlink():
        target = file.readlink()
        file = root / target.relative_to("/") if target.is_absolute() else file.parent / target
    return file


def _make_entry(path: str, **fields: object) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.lstrip("/"))
    for name, value in fields.items():
        setattr(entry, name, value)
    return entry


def _write_blob(content: bytes, kind: str, folder: Path) -> dict[str, object]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    file = folder / "blobs" / digest
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return {"mediaType": kind, "digest": digest, "size": len(content)}
