"""The condition ``Available`` of APIServices, and the resources served through them.

The resources of an extension server are served after its first response. When it is no longer reachable they remain
and are reported as stale; they are removed with the APIService.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.aggregation import REGISTRATION, SERVICE_NAME
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

CHECK_AGAIN_S: Final = 30.0
"""A server that stops listening changes nothing in the API: it is looked for again this often."""


@controller("apiservice-availability")
class ApiAvailability(Controller):
    """Keeps the condition of APIServices that name a Service."""

    def watch(self) -> None:
        self._names: dict[tuple[str, str], dict[str, None]] = {}
        self.follow(f"apiservices.{REGISTRATION}", self._index_service)
        self.follow("services", self._service_changed)
        self.follow("endpointslices.discovery.k8s.io", self._slice_changed)

    def sync(self, key: NamespacedName) -> None:
        api_service = self.client.get(f"apiservices.{REGISTRATION}", "", key.name)
        if api_service is None or not at(api_service, "spec", "service"):
            return
        spec = api_service["spec"]
        place = (spec.get("group", ""), spec["version"])
        status, reason, message = self._check(api_service)
        if status == "True":
            server = self.api.aggregation.behind(api_service)
            if server is not None and not any(True for _ in self.api.catalogue.of(*place)):
                self.api.aggregation.offer(server)
            self.api.catalogue.stale.pop(place, None)
        elif place[0] in self.api.catalogue.groups:
            self.api.catalogue.stale[place] = None
        self._tell(api_service, status, reason, message)
        self.queue.add_after(key, CHECK_AGAIN_S)

    def _index_service(self, write: Revision) -> None:
        service = at(write.object, "spec", "service")
        if service and write.change == "DELETED":
            spec = write.object["spec"]
            self.api.aggregation.withdraw(spec.get("group", ""), spec["version"])
        elif service:
            place = (service["namespace"], service["name"])
            self._names.setdefault(place, {})[write.key.name] = None
            self.enqueue(write)

    def _service_changed(self, write: Revision) -> None:
        self._look_at_those_of(write.key.namespace, write.key.name)

    def _slice_changed(self, write: Revision) -> None:
        labels = write.object["metadata"].get("labels") or {}
        self._look_at_those_of(write.key.namespace, labels.get(SERVICE_NAME, ""))

    def _look_at_those_of(self, namespace: str, name: str) -> None:
        for api_service_name in self._names.get((namespace, name), ()):
            self.queue.add(NamespacedName("", api_service_name))

    def _check(self, api_service: Object) -> tuple[str, str, str]:
        """The condition's status, reason and message."""
        spec = api_service["spec"]
        name, namespace = spec["service"]["name"], spec["service"]["namespace"]
        number = spec["service"].get("port", 443)
        service = self.client.get("services", namespace, name)
        if service is None:
            return "False", "ServiceNotFound", f'service/{name} in "{namespace}" is not present'
        ports = at(service, "spec", "ports", default=[])
        port = next((candidate for candidate in ports if candidate["port"] == number), None)
        if port is None:
            message = f'service/{name} in "{namespace}" is not listening on port {number}'
            return "False", "ServicePortError", message
        slices = [
            endpoint_slice
            for endpoint_slice in self.client.list("endpointslices.discovery.k8s.io", namespace)
            if (endpoint_slice["metadata"].get("labels") or {}).get(SERVICE_NAME) == name
        ]
        if not slices:
            message = f'cannot find endpointslices for service/{name} in "{namespace}"'
            return "False", "EndpointsNotFound", message
        if not any(_has_endpoint(endpoint_slice, port.get("name", "")) for endpoint_slice in slices):
            message = (
                f'endpointslices for service/{name} in "{namespace}" have no addresses with port name '
                f'"{port.get("name", "")}"'
            )
            return "False", "MissingEndpoints", message
        if self.api.aggregation.behind(api_service) is None:
            address = f"{at(service, 'spec', 'clusterIP')}:{number}"
            url = f"https://{address}/apis/{spec['group']}/{spec['version']}"
            message = f'Get "{url}": dial tcp {address}: connect: connection refused'
            return "False", "FailedDiscoveryCheck", f"failing or missing response from {url}: {message}"
        return "True", "Passed", "all checks passed"

    def _tell(self, api_service: Object, status: str, reason: str, message: str) -> None:
        known = at(api_service, "status", "conditions", default=None) or []
        before: Object = next((condition for condition in known if condition["type"] == "Available"), {})
        if (before.get("status"), before.get("reason"), before.get("message")) == (status, reason, message):
            return
        since = before.get("lastTransitionTime") if before.get("status") == status else None
        changed: Object = copy(api_service)
        changed["status"] = {
            "conditions": [
                {
                    "type": "Available",
                    "status": status,
                    "lastTransitionTime": since or self.api.timestamp(),
                    "reason": reason,
                    "message": message,
                }
            ]
        }
        self.client.update_status(changed)


def _has_endpoint(endpoints: Object, port: str) -> bool:
    ready = any(
        at(endpoint, "conditions", "ready", default=True) is not False
        for endpoint in endpoints.get("endpoints") or ()
    )
    return ready and any((candidate.get("name") or "") == port for candidate in endpoints.get("ports") or ())
