"""Paths of ``kubectl cp``: ``web-1:/tmp/a``, ``lab/web-1:a``, ``./a``."""

from __future__ import annotations

import posixpath

from msgspec import Struct

from simcloud.kubectl.errors import KubectlError


class FileSpec(Struct, frozen=True):
    """A file here, or, if a pod is named, in that pod."""

    file: str
    pod: str = ""
    namespace: str = ""


def read_spec(word: str) -> FileSpec:
    """What a word of ``kubectl cp`` means."""
    pod, colon, file = word.partition(":")
    if not colon:
        return FileSpec(_without_slash(word))
    *namespace, name = pod.split("/")
    if not pod or len(namespace) > 1:
        raise KubectlError("filespec must match the canonical format: [[namespace/]pod:]file/path")
    return FileSpec(_without_slash(file), name, namespace[0] if namespace else "")


def _without_slash(file: str) -> str:
    return file[:-1] if file != "/" and file.endswith("/") else file


def clean_path(path: str) -> str:
    """Return a normalised path; an empty one becomes ``.``."""
    # POSIX keeps two leading slashes apart from one; Go does not.
    return posixpath.normpath(path.replace("//", "/") if path.startswith("//") else path) if path else "."


def join_paths(*parts: str) -> str:
    """Join and clean parts of a path; a later absolute part does not replace earlier ones."""
    said = [part for part in parts if part]
    return clean_path("/".join(said)) if said else ""


def folder_of(path: str) -> str:
    """The folder that a path lies in."""
    return clean_path(path.rpartition("/")[0] or ("/" if path.startswith("/") else "."))


def base_of(path: str) -> str:
    """The last part of a path."""
    return clean_path(path).rpartition("/")[2] or "/"


def without_shortcuts(path: str) -> str:
    """A path that does not lead out of where it starts."""
    while path.startswith("../"):
        path = path[3:]
    if path in (".", ".."):
        path = ""
    return path.removeprefix("/")


def lies_in(folder: str, path: str) -> bool:
    """Whether a path stays inside a folder."""
    if folder.startswith("/") != path.startswith("/"):
        return False
    relative = (
        posixpath.relpath(path or ".", folder or ".") if folder.startswith("/") else _relative(folder, path)
    )
    return relative == "." or relative == without_shortcuts(relative)


def _relative(folder: str, path: str) -> str:
    """The way between two relative paths, without asking where here is."""
    return posixpath.relpath(join_paths("/", path), join_paths("/", folder))
