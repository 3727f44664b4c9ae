"""Read-only trees made from a mapping, laid out as the kubelet lays out ConfigMaps and Secrets.

The files stand in a directory named after the time of the update; ``..data`` links to it, and each
visible name links through ``..data``. An update fills a new directory and renames one link, so a
reader sees all of the old state or all of the new. A mount of a single file (subPath) keeps the
file it found, and so never sees an update: as in life.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from simcloud.machine.files.disk import Disk
from simcloud.machine.files.view import Files
from simcloud.machine.files.volume import Volume

TREE_BYTES: Final = 1 << 26
"""Room for the old and the new state of any object the API would store."""

DATA: Final = "..data"


def tree_volume(
    mapping: Mapping[str, bytes], clock: Callable[[], float], name: str = "", mode: int = 0o644
) -> Volume:
    """A read-only volume with these files; keys may have slashes."""
    volume = Volume(Disk(name, TREE_BYTES), clock, name)
    volume.directory_blocks = 0
    volume.root.mode |= 0o777
    update_tree(volume, mapping, mode)
    return volume


def update_tree(volume: Volume, mapping: Mapping[str, bytes], mode: int = 0o644) -> None:
    """Replace the files of a ``tree_volume`` at one stroke; the same content again changes nothing."""
    files = Files(volume, umask=0)
    if files.exists(DATA) and dict(mapping) == _contents(files):
        return
    volume.read_only = False
    try:
        _replace(files, mapping, mode, _directory_name(files, volume.clock()))
        volume.sync()
    finally:
        volume.read_only = True


def _replace(files: Files, mapping: Mapping[str, bytes], mode: int, new: str) -> None:
    """Fill the new directory, switch to it, then bring the visible names up to date."""
    old = files.readlink(DATA) if files.exists(DATA) else None
    files.mkdir(new, 0o755)
    for key in sorted(mapping):
        files.mkdir(f"{new}/{key}".rpartition("/")[0], 0o755, parents=True)
        files.put(f"{new}/{key}", mapping[key], mode)
    files.symlink(new, DATA + "_tmp")
    files.rename(DATA + "_tmp", DATA)
    tops = sorted({key.partition("/")[0] for key in mapping})
    for name in files.listdir():
        if not name.startswith("..") and name not in tops:
            files.remove(name)
    for name in tops:
        if files.node_kind(name, follow=False) is None:
            files.symlink(f"{DATA}/{name}", name)
    if old is not None:
        _remove_tree(files, old)


def _contents(files: Files) -> dict[str, bytes]:
    top = f"/{files.readlink(DATA)}"
    return {
        f"{where}/{name}".removeprefix(top + "/"): files.read(f"{where}/{name}")
        for where, _, names in files.walk(top)
        for name in names
    }


def _directory_name(files: Files, now: float) -> str:
    """The time to the second and a number that makes it unique (the kubelet draws one at random)."""
    stem = datetime.fromtimestamp(int(now), UTC).strftime("..%Y_%m_%d_%H_%M_%S")
    number = int(now % 1 * 1_000_000_000)
    while files.exists(f"{stem}.{number:09d}"):
        number += 1
    return f"{stem}.{number:09d}"


def _remove_tree(files: Files, path: str) -> None:
    for where, _, names in reversed(list(files.walk(path))):
        for name in names:
            files.remove(f"{where}/{name}")
        files.rmdir(where)
