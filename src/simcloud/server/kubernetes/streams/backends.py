"""The backend of a proxied request: the address and port of a pod, resolved from a pod or a service."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api import BadRequest, Object, ServiceUnavailable, at

if TYPE_CHECKING:
    from simcloud.kubernetes.api import Api

SERVICE_LABEL: Final = "kubernetes.io/service-name"
_PORTS: Final = {"": 80, "http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Backend:
    """A pod and its port; ``host`` is the name in the request."""

    pod: Object
    port: int
    host: str


def of_pod(pod: Object, port: str, scheme: str) -> Backend:
    """Return the backend of a pod: its requested port, or the first that a container declares."""
    address = at(pod, "status", "podIP", default="")
    if not address:
        raise BadRequest("address not allowed")
    containers = at(pod, "spec", "containers", default=[])
    declared = [each["containerPort"] for container in containers for each in container.get("ports", [])]
    number = _number(port) if port else declared[0] if declared else _PORTS[scheme]
    if number is None:
        raise ServiceUnavailable(f"error trying to reach service: dial tcp: lookup tcp/{port}: unknown port")
    return Backend(pod, number, f"{address}:{number}")


def of_service(api: Api, service: Object, slices: Iterable[Object], port: str) -> Backend:
    """Return the first ready pod behind a service's port."""
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    wanted = port
    if _number(port) is not None:
        named = [each for each in at(service, "spec", "ports", default=[]) if each["port"] == _number(port)]
        if not named:
            raise ServiceUnavailable(f'no service port {_number(port)} found for service "{name}"')
        wanted = named[0].get("name", "")
    pods = api.catalogue.find("pods")
    for each in slices:
        if at(each, "metadata", "labels", default={}).get(SERVICE_LABEL) != name:
            continue
        number = _port_named(each, wanted)
        for endpoint in each.get("endpoints") or []:
            if number is None or at(endpoint, "conditions", "ready", default=True) is False:
                continue
            pod = api.log.get(api.key(pods, namespace, at(endpoint, "targetRef", "name", default="")))
            if pod is not None:
                return Backend(pod, number, f"{endpoint['addresses'][0]}:{number}")
    raise ServiceUnavailable(f'no endpoints available for service "{name}"')


def _port_named(endpoints: Object, wanted: str) -> int | None:
    for port in endpoints.get("ports") or []:
        if (port.get("name") or "") == wanted and port.get("port"):
            number: int = port["port"]
            return number
    return None


def _number(port: str) -> int | None:
    """Return a port that is given as a number."""
    if port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) <= 65_535:
        return int(port)
    return None
