"""Other servers' groups of the API: what an APIService that names a Service stands for.

An extension server is a program in a pod that says here what it serves, at the address and port where it listens; that
stands in for the request that the genuine API server would proxy to it. Which of them answers is decided as in life:
the APIService names a Service, its ready endpoints name addresses, and where nobody listens nobody answers. The
condition ``Available`` is kept by a controller; while it does not hold, the group is told as stale and refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from simcloud.kubernetes.api.errors import ServiceUnavailable
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.store import Key, RevisionLog

REGISTRATION: Final = "apiregistration.k8s.io"
SERVICE_NAME: Final = "kubernetes.io/service-name"

Provider: TypeAlias = Callable[[str | None], list[Object]]
"""Makes the objects of a resource in a namespace, or in all of them for None."""


@dataclass(frozen=True, slots=True)
class ExtensionServer:
    """The resources of one group and version, and who makes their objects, by plural."""

    resources: tuple[Resource, ...]
    providers: Mapping[str, Provider]


class Unserved(ServiceUnavailable):
    """Nobody can answer for an aggregated group at present, in the words that clients tell it with."""

    def __init__(self, resource: Resource) -> None:
        what = f"{resource.plural}.{resource.group}"
        super().__init__(f"the server is currently unable to handle the request (get {what})")


class Aggregation:
    """The extension servers that listen, and the resources they serve."""

    def __init__(
        self, log: RevisionLog, catalogue: Catalogue, providers: dict[tuple[str, str], Provider]
    ) -> None:
        self._log = log
        self._catalogue = catalogue
        self._providers = providers
        self._listening: dict[tuple[str, int], ExtensionServer] = {}

    def listen(self, address: str, port: int, server: ExtensionServer) -> None:
        """A server has begun to listen."""
        self._listening[address, port] = server

    def leave(self, address: str, port: int) -> None:
        """It does not listen any more."""
        self._listening.pop((address, port), None)

    def behind(self, api_service: Object) -> ExtensionServer | None:
        """The server that answers for an APIService now, of those that are ready."""
        spec = api_service["spec"]
        for place in self._ready(spec["service"]):
            server = self._listening.get(place)
            if server is not None and _serves(server, spec):
                return server
        return None

    def offer(self, server: ExtensionServer) -> None:
        """Serve a server's resources from now on; each request finds who answers it."""
        for resource in server.resources:
            self._catalogue.add(resource)
            self._providers[resource.key] = self._asking(resource)

    def withdraw(self, group: str, version: str) -> None:
        """Serve a group and version no longer."""
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
        """The addresses and ports of a Service's ready endpoints."""
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
    """Whether an APIService's condition says that it can be used."""
    conditions = at(api_service, "status", "conditions", default=None) or ()
    return any(condition["type"] == "Available" and condition["status"] == "True" for condition in conditions)


def _serves(server: ExtensionServer, spec: Object) -> bool:
    wanted = (spec.get("group", ""), spec["version"])
    return any((resource.group, resource.version) == wanted for resource in server.resources)
