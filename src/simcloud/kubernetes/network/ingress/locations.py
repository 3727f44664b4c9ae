"""Selection of the backend for a request, by the hosts and paths of all Ingresses.

An exact host precedes a wildcard, and that precedes rules without a host. Within a host an exact path precedes the
longest prefix; of two Ingresses with the same path the older one wins. A path of type ``ImplementationSpecific`` is a prefix of
nginx: ``/api`` also matches ``/apis``. Supported annotations: ``rewrite-target``, ``use-regex``, ``ssl-redirect``,
``force-ssl-redirect`` and the proxy time-outs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from simcloud.kubernetes.api.objects import Object

PREFIX: Final = "nginx.ingress.kubernetes.io/"
CONNECT_S: Final = 5.0
READ_S: Final = 60.0
CATCH_ALL: Final = "_"
"""The server for all hosts without one of their own."""


class Backend(NamedTuple):
    """A port of a Service, by number or by name."""

    namespace: str
    service: str
    port: int | str

    @property
    def upstream_name(self) -> str:
        """How the access log calls it."""
        return f"{self.namespace}-{self.service}-{self.port}"


@dataclass(frozen=True, slots=True)
class Location:
    """One path of a host and where it leads."""

    path: str
    kind: str
    backend: Backend | None
    ingress: tuple[str, str] = ("", "")
    pattern: re.Pattern[str] | None = None
    rewrite: str = ""
    to_https: bool = False
    connect_s: float = CONNECT_S
    read_s: float = READ_S

    def matches(self, path: str) -> bool:
        """Whether a request for this path belongs here."""
        if self.pattern is not None:
            return self.pattern.match(path) is not None
        if self.kind == "Exact":
            return path == self.path
        if self.kind == "Prefix":
            return path.startswith(self.stem) or path == self.stem[:-1]
        return path.startswith(self.path)

    @property
    def stem(self) -> str:
        """The path with a slash at its end, which all paths below it begin with."""
        return f"{self.path.rstrip('/')}/"

    def rewritten(self, path: str) -> str:
        """The path that the backend sees."""
        found = self.pattern.match(path) if self.pattern is not None and self.rewrite else None
        if found is None:
            return path
        return re.sub(
            r"\$(\d)",
            lambda place: (found[int(place[1])] or "") if int(place[1]) <= len(found.groups()) else "",
            self.rewrite,
        )


@dataclass(slots=True)
class Host:
    """The locations of one host, in the order in which they are tried, and the one for all other paths."""

    locations: list[Location] = field(default_factory=list)
    default: Location | None = None

    def find(self, path: str) -> Location | None:
        """Return the location for a path, or None."""
        for location in self.locations:
            if location.matches(path):
                return location
        return self.default


class Locations:
    """All hosts. ``options`` are those of the controller's ConfigMap, which annotations precede."""

    def __init__(self, ingresses: Iterable[Object], options: Mapping[str, str] | None = None) -> None:
        self.hosts: dict[str, Host] = {}
        self._options = options or {}
        self.backends: dict[Backend, None] = {}
        for ingress in ingresses:
            self._add(ingress)
        for host in self.hosts.values():
            host.locations.sort(key=_precedence)

    def find(self, name: str, path: str) -> tuple[str, Location | None]:
        """Return the name of the server that answers for a host, and its location for a path."""
        for server in (name, f"*.{name.partition('.')[2]}", CATCH_ALL):
            host = self.hosts.get(server)
            if host is not None:
                return server, host.find(path)
        return CATCH_ALL, None

    def _add(self, ingress: Object) -> None:
        spec = ingress["spec"]
        rules = spec.get("rules") or ()
        for name in list_hosts(ingress) if rules else (CATCH_ALL,):
            host = self.hosts.setdefault(name, Host())
            if spec.get("defaultBackend") and host.default is None:
                host.default = self._make(ingress, {"backend": spec["defaultBackend"]})
        for rule in rules:
            locations = self.hosts[rule.get("host") or CATCH_ALL].locations
            for path in (rule.get("http") or {}).get("paths") or ():
                made = self._make(ingress, path)
                if not any((each.path, each.kind) == (made.path, made.kind) for each in locations):
                    locations.append(made)

    def _make(self, ingress: Object, path: Object) -> Location:
        location = _location(ingress, path, self._options)
        if location.backend is not None:
            self.backends[location.backend] = None
        return location


def list_hosts(ingress: Object) -> list[str]:
    """Return the names of the servers that an Ingress has rules for, each once."""
    return list(dict.fromkeys(rule.get("host") or CATCH_ALL for rule in ingress["spec"].get("rules") or ()))


def get_age(ingress: Object) -> tuple[str, str, str]:
    """Return a key that sorts the oldest Ingress first."""
    metadata = ingress["metadata"]
    return metadata.get("creationTimestamp") or "", metadata["namespace"], metadata["name"]


def _location(ingress: Object, path: Object, defaults: Mapping[str, str]) -> Location:
    metadata = ingress["metadata"]
    options = {
        **defaults,
        **{
            key.removeprefix(PREFIX): value
            for key, value in (metadata.get("annotations") or {}).items()
            if key.startswith(PREFIX)
        },
    }
    text = path.get("path") or "/"
    rewrite = options.get("rewrite-target", "")
    pattern = None
    if rewrite or options.get("use-regex") == "true":
        try:
            pattern = re.compile(text, re.IGNORECASE)
        except re.error:
            pattern = re.compile(re.escape(text), re.IGNORECASE)
    return Location(
        path=text,
        kind=path.get("pathType") or "ImplementationSpecific",
        backend=_backend(metadata["namespace"], path["backend"]),
        ingress=(metadata["namespace"], metadata["name"]),
        pattern=pattern,
        rewrite=rewrite,
        to_https=(bool(ingress["spec"].get("tls")) and options.get("ssl-redirect") != "false")
        or options.get("force-ssl-redirect") == "true",
        connect_s=_seconds(options.get("proxy-connect-timeout"), CONNECT_S),
        read_s=_seconds(options.get("proxy-read-timeout"), READ_S),
    )


def _backend(namespace: str, backend: Object) -> Backend | None:
    service = backend.get("service")
    if not service:
        return None
    port = service.get("port") or {}
    return Backend(namespace, service["name"], port.get("number") or port.get("name") or 0)


def _seconds(text: str | None, otherwise: float) -> float:
    return float(text) if text and text.isdecimal() else otherwise


def _precedence(location: Location) -> tuple[bool, int]:
    return location.kind != "Exact", -len(location.stem if location.kind == "Prefix" else location.path)
