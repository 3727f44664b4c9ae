"""Files and folders of /proc from plain functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from simcloud.machine.files import VirtualDirectory, VirtualEntry, VirtualFile, virtual_directory

if TYPE_CHECKING:
    from simcloud.machine.process import Container

Fact = Callable[["Container"], str]
"""Makes the text of a file for those in a container."""


def text_file(make: Callable[[], str], mode: int = 0o444, uid: int = 0) -> VirtualFile:
    """A file with that text."""
    return VirtualFile(lambda: make().encode("utf-8", "surrogateescape"), mode=mode, uid=uid)


def fact_file(make: Fact, container: Container) -> VirtualFile:
    """A file with a fact, as seen from a container."""
    return text_file(lambda: make(container))


def fact_folder(facts: Mapping[str, Fact], container: Container) -> VirtualDirectory:
    """A folder of such files; a slash in a name makes a folder below."""
    return folder_of({name: fact_file(make, container) for name, make in facts.items()})


def folder_of(files: Mapping[str, VirtualEntry], mode: int = 0o555) -> VirtualDirectory:
    """A folder of files by path; a slash in a name makes a folder below."""
    entries: dict[str, VirtualEntry] = {}
    below: dict[str, dict[str, VirtualEntry]] = {}
    for name, entry in files.items():
        first, slash, rest = name.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = entry
        else:
            entries[name] = entry
    entries.update({name: folder_of(inside, mode) for name, inside in below.items()})
    return virtual_directory(entries, mode)
