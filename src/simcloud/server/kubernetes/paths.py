"""The target of a request, parsed from its method and path.

``/apis/apps/v1/namespaces/demo/deployments/web/scale`` is the subresource ``scale`` of the deployment
``web`` in ``demo``. Any other path, such as ``/healthz``, is a non-resource URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NAMESPACE_PARTS: Final = frozenset({"status", "finalize"})
"""``/namespaces/demo/status`` is a part of the namespace; any other word there is a resource in it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request. ``plural`` is empty for a non-resource URL."""

    path: str
    verb: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows the subresource: the path behind ``proxy``."""

    @property
    def is_resource(self) -> bool:
        """Whether this is about objects."""
        return bool(self.plural)

    @property
    def is_namespace(self) -> bool:
        """Whether this is about the namespace itself, by its own path."""
        return self.plural == "namespaces" and self.name == self.namespace


def is_true(text: str | None) -> bool:
    """Return whether a parameter is set to anything but false or 0."""
    return text is not None and text.lower() not in ("false", "0")


def read_target(method: str, path: str, query: Mapping[str, str]) -> Target:
    """Return the target of a method and a path."""
    verb = method.lower()
    parts = [part for part in path.split("/") if part]
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return Target(path, verb)
    if parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    else:
        group, version, rest = parts[1], parts[2], parts[3:]
    if not rest:
        return Target(path, verb, group, version)
    watched = rest[0] == "watch" and len(rest) > 1
    if watched:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_PARTS:
            rest = rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    verb = _VERBS.get(method, verb)
    if method in ("GET", "HEAD"):
        verb = "get" if name else "list"
        if watched or (is_true(query.get("watch")) and (verb == "list" or not subresource)):
            verb = "watch"
    elif verb == "delete" and not name:
        verb = "deletecollection"
    return Target(path, verb, group, version, namespace, rest[0], name, subresource, "/".join(rest[3:]))
