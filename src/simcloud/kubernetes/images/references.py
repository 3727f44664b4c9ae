"""Image references in Docker's grammar: ``nginx`` is ``docker.io/library/nginx:latest``."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

DEFAULT_HOST: Final = "docker.io"
DEFAULT_TAG: Final = "latest"

_TAG = re.compile(r"[\w][\w.-]{0,127}\Z", re.ASCII)
_DIGEST = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}\Z")
_HOST = re.compile(
    r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
    r"(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?\Z"
)
_PATH = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*\Z")


class InvalidReference(ValueError):
    """The text names no image; the message is the grammar's."""


class Reference(Struct, frozen=True):
    """Which image is meant. ``digest`` wins over ``tag`` where both are said."""

    host: str
    path: str
    tag: str
    digest: str = ""

    @property
    def repository(self) -> str:
        """Host and path."""
        return f"{self.host}/{self.path}"

    @property
    def name(self) -> str:
        """The full name, as container runtimes print it."""
        suffix = f"@{self.digest}" if self.digest else f":{self.tag}"
        return self.repository + suffix

    @property
    def manifest(self) -> str:
        """Where a registry keeps it, below its root."""
        return f"/v2/{self.path}/manifests/{self.digest or self.tag}"


def parse(text: str) -> Reference:
    """The image that a text names. ``InvalidReference`` if it names none."""
    rest, _, digest = text.partition("@")
    if digest and not _DIGEST.match(digest):
        raise InvalidReference("invalid reference format")
    host, path = _split_host(rest)
    tag = ""
    if ":" in path:
        path, _, tag = path.partition(":")
        if not _TAG.match(tag):
            raise InvalidReference("invalid reference format")
    if path != path.lower() and _PATH.match(path.lower()):
        raise InvalidReference(f"invalid reference format: repository name ({path}) must be lowercase")
    if not _PATH.match(path) or not _HOST.match(host):
        raise InvalidReference("invalid reference format")
    return Reference(host, path, tag or ("" if digest else DEFAULT_TAG), digest)


def _split_host(text: str) -> tuple[str, str]:
    first, slash, rest = text.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost" or first != first.lower()):
        host, path = first, rest
    else:
        host, path = DEFAULT_HOST, text
    if host == "index.docker.io":
        host = DEFAULT_HOST
    if host == DEFAULT_HOST and "/" not in path:
        path = f"library/{path}"
    return host, path
