"""API aggregation: API groups that an APIService delegates to an extension server.

An extension server is a program in a pod. It registers here what it serves, with the address and port where it
listens; this replaces the request that the genuine API server would proxy to it. The server for a request is found as
in a real cluster: the APIService names a Service, and the Service's ready endpoints give the addresses. A controller
maintains the condition ``Available``; while it is not true, discovery lists the group as stale and requests fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from simcloud.kubernetes.api.errors import ServiceUnavailable
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.store import Key, RevisionLog

REGISTRATION: Final = "apiregistration.k8s.io"
SERVICE_NAME: Final = "kubernetes.io/service-name"

Provider: TypeAlias = Callable[[str | None], list[Object]]
"""Returns the objects of a resource in a namespace, or in all namespaces for None."""


class ExtensionServer(Struct, frozen=True):
    """The resources of a group and version, and the providers of their objects, by plural."""

    resources: tuple[Resource, ...]
    providers: Mapping[str, Provider]


class Unserved(ServiceUnavailable):
    """No extension server is available for an aggregated group; the message is that of the clients."""

    def __init__(self, resource: Resource) -> None:
        what = f"{resource.plural}.{resource.group}"
        super().__init__(f"the server is currently unable to handle the request (get {what})")


class Aggregation:
    """The registered extension servers and the resources they serve."""

    def __init__(
        self, log: RevisionLog, catalogue: Catalogue, providers: dict[tuple[str, str], Provider]
    ) -> None:
        self._log = log
        self._catalogue = catalogue
        self._providers = providers
        self._listening: dict[tuple[str, int], ExtensionServer] = {}

    def listen(self, address: str, port: int, server: ExtensionServer) -> None:
        """Register a server that listens at an address."""
        self._listening[address, port] = server

    def leave(self, address: str, port: int) -> None:
        """Remove the server of an address."""
        self._listening.pop((address, port), None)

    def behind(self, api_service: Object) -> ExtensionServer | None:
        """Return the first ready server behind an APIService, or None."""
        spec = api_service["spec"]
        for place in self._ready(spec["service"]):
            server = self._listening.get(place)
            if server is not None and _serves(server, spec):
                return server
        return None

    def offer(self, server: ExtensionServer) -> None:
        """Serve a server's resources; each request looks up the server that answers it."""
        for resource in server.resources:
            self._catalogue.add(resource)
            self._providers[resource.key] = self._asking(resource)

    def withdraw(self, group: str, version: str) -> None:
        """Stop serving a group and version."""
        self._catalogue.stale.pop((group, version), None)
        for resource in list(self._catalogue.of(group, version)):
            self._catalogue.remove(resource)
            self._providers.pop(resource.key, None)

    def _asking(self, resource: Resource) -> Provider:
        def ask(namespace: str | None) -> list[Object]:
            name = f"{resource.version}.{resource.group}"
            api_service = self._log.get(Key(REGISTRATION, "apiservices", "", name))
            server = None
            if api_service is not None and is_available(api_service):
                server = self.behind(api_service)
            if server is None:
                raise Unserved(resource)
            return server.providers[resource.plural](namespace)

        return ask

    def _ready(self, service: Object) -> Iterator[tuple[str, int]]:
        """Yield the addresses and ports of a Service's ready endpoints."""
        namespace, name = service["namespace"], service["name"]
        found = self._log.get(Key("", "services", namespace, name))
        ports = at(found or {}, "spec", "ports", default=[])
        wanted = [port.get("name", "") for port in ports if port["port"] == service.get("port", 443)]
        for each in self._log.objects("discovery.k8s.io", "endpointslices", namespace):
            if at(each, "metadata", "labels", default={}).get(SERVICE_NAME) != name:
                continue
            numbers = [port["port"] for port in each.get("ports") or () if (port.get("name") or "") in wanted]
            for endpoint in each.get("endpoints") or ():
                if at(endpoint, "conditions", "ready", default=True) is not False:
                    yield from ((endpoint["addresses"][0], number) for number in numbers)


def is_available(api_service: Object) -> bool:
    """Return whether the APIService has the condition ``Available``."""
    conditions = at(api_service, "status", "conditions", default=None) or ()
    return any(condition["type"] == "Available" and condition["status"] == "True" for condition in conditions)


def _serves(server: ExtensionServer, spec: Object) -> bool:
    wanted = (spec.get("group", ""), spec["version"])
    return any((resource.group, resource.version) == wanted for resource in server.resources)
