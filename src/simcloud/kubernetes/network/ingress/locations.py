"""Selection of the backend for a request, by the hosts and paths of all Ingresses.

An exact host precedes a wildcard, and that precedes rules without a host. Within a host an exact path precedes the
longest prefix; of two Ingresses with the same path the older one wins. Supported annotations: ``rewrite-target``,
``use-regex``, ``ssl-redirect``, ``force-ssl-redirect`` and the proxy time-outs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from simcloud.kubernetes.api.objects import Object

PREFIX: Final = "nginx.ingress.kubernetes.io/"
CONNECT_S: Final = 5.0
READ_S: Final = 60.0


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
        stem = self.path.rstrip("/")
        return path == stem or path.startswith(f"{stem}/")

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
    """The locations of one host."""

    name: str
    locations: list[Location] = field(default_factory=list)

    def find(self, path: str) -> Location | None:
        """The location for a path; they stand in the order in which they are tried."""
        return next((location for location in self.locations if location.matches(path)), None)


class Locations:
    """All hosts."""

    def __init__(self, ingresses: Iterable[Object]) -> None:
        self._hosts: dict[str, Host] = {}
        self.default: Backend | None = None
        for ingress in sorted(ingresses, key=_age):
            self._add(ingress)
        for host in self._hosts.values():
            host.locations.sort(key=_precedence)

    def find(self, name: str, path: str) -> tuple[str, Location | None]:
        """The server that answers for a host, and its location for a path."""
        host = self._hosts.get(name) or self._hosts.get(f"*.{name.partition('.')[2]}")
        if host is None:
            host = self._hosts.get("")
        found = host.find(path) if host is not None else None
        if found is None and self.default is not None:
            found = Location("/", "Prefix", self.default)
        return (host.name if host is not None and host.name else "_"), found

    def _add(self, ingress: Object) -> None:
        metadata, spec = ingress["metadata"], ingress["spec"]
        secured = {host for tls in spec.get("tls") or () for host in tls.get("hosts") or ()}
        if spec.get("defaultBackend") and self.default is None:
            self.default = _backend(metadata["namespace"], spec["defaultBackend"])
        for rule in spec.get("rules") or ():
            host = self._hosts.setdefault(rule.get("host") or "", Host(rule.get("host") or ""))
            for path in (rule.get("http") or {}).get("paths") or ():
                made = _location(ingress, path, host.name in secured)
                if not any((each.path, each.kind) == (made.path, made.kind) for each in host.locations):
                    host.locations.append(made)


def _location(ingress: Object, path: Object, secured: bool) -> Location:
    metadata = ingress["metadata"]
    options = {
        key.removeprefix(PREFIX): value
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith(PREFIX)
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
        kind="Exact" if path.get("pathType") == "Exact" and pattern is None else "Prefix",
        backend=_backend(metadata["namespace"], path["backend"]),
        ingress=(metadata["namespace"], metadata["name"]),
        pattern=pattern,
        rewrite=rewrite,
        to_https=(secured and options.get("ssl-redirect") != "false")
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


def _age(ingress: Object) -> tuple[str, str, str]:
    metadata = ingress["metadata"]
    return metadata.get("creationTimestamp") or "", metadata["namespace"], metadata["name"]


def _precedence(location: Location) -> tuple[bool, int]:
    return location.kind != "Exact", -len(location.path)
