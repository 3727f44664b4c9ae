"""The control loop of the ingress controller: makes locations and upstreams from Ingresses, Services and endpoints.

Changes are processed together a moment later, as by the genuine controller's queue. Each served Ingress gets its
address in its status and an event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import Recorder
from simcloud.kubernetes.network.ingress.locations import Backend, Locations
from simcloud.kubernetes.network.rules import SERVICE_NAME
from simcloud.machine.network import Endpoint

CONTROLLER: Final = "k8s.io/ingress-nginx"
CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
USER: Final = "system:serviceaccount:ingress-nginx:ingress-nginx"
SYNC_S: Final = 1.0
STATUS_S: Final = 1.0


class IngressController:
    """What the controller knows; ``locations`` and ``upstream`` are what nginx works with."""

    def __init__(self, api: Api, publish: Object, without_class: bool) -> None:
        self._kernel = api.kernel
        self._client = ComponentClient(api, USER, "nginx-ingress-controller")
        self._recorder = Recorder(self._client, "nginx-ingress-controller")
        self._publish = publish
        self._without_class = without_class
        self._slices: dict[tuple[str, str], dict[str, Object]] = {}
        self._upstreams: dict[Backend, tuple[Endpoint, ...] | str] = {}
        self._scheduled = False
        self._stops: list[Callable[[], None]] = []
        self._reported: dict[str, None] = {}
        self.locations = Locations(())
        self.reloads = 0

    def start(self) -> None:
        """Read all there is and follow it."""
        for name in ("ingresses.networking.k8s.io", "ingressclasses.networking.k8s.io", "services"):
            self._stops.append(self._client.follow(name, self._on_change))
        self._stops.append(self._client.follow("endpointslices.discovery.k8s.io", self._slice_changed))
        self.sync()

    def stop(self) -> None:
        """Follow no more."""
        for stop in self._stops:
            stop()
        self._stops.clear()

    def upstream(self, backend: Backend) -> tuple[Endpoint, ...] | str:
        """The endpoints of a backend, or the outside name that its Service stands for with the port."""
        found = self._upstreams.get(backend)
        if found is None:
            found = self._upstreams[backend] = self._find(backend)
        return found

    def sync(self, _argument: None = None) -> None:
        """Take up all that changed."""
        self._scheduled = False
        self._upstreams.clear()
        served = [each for each in self._client.list("ingresses.networking.k8s.io") if self._is_ours(each)]
        self.locations = Locations(served)
        self.reloads += 1
        for ingress in served:
            self._tell(ingress)

    def _tell(self, ingress: Object) -> None:
        """An event for every new version, and the address in its status."""
        metadata = ingress["metadata"]
        version = f"{metadata['uid']}/{metadata.get('generation', 1)}"
        if version not in self._reported:
            self._reported[version] = None
            self._recorder.event(ingress, "Normal", "Sync", "Scheduled for sync")
        wanted = {"loadBalancer": {"ingress": [self._publish]}}
        present = ((ingress.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
        if [{key: each.get(key) for key in self._publish} for each in present] == [self._publish]:
            return
        try:
            self._client.edit(ingress, lambda changed: changed.update(status=wanted), "status")
        except ApiError:
            self._schedule(STATUS_S)

    def _is_ours(self, ingress: Object) -> bool:
        named = ingress["spec"].get("ingressClassName")
        annotated = (ingress["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
        if named is None:
            return annotated == "nginx" or (annotated is None and self._without_class)
        found = self._client.get("ingressclasses.networking.k8s.io", "", named)
        return found is not None and found["spec"].get("controller") == CONTROLLER

    def _find(self, backend: Backend) -> tuple[Endpoint, ...] | str:
        service = self._client.get("services", backend.namespace, backend.service)
        if service is None:
            return ()
        if service["spec"].get("type") == "ExternalName":
            return f"{service['spec']['externalName']}:{backend.port or 80}"
        port = next(
            (
                each
                for each in service["spec"].get("ports") or ()
                if backend.port in (each["port"], each.get("name"))
            ),
            None,
        )
        if port is None:
            return ()
        slices = self._slices.get((backend.namespace, backend.service), {})
        return tuple(
            (endpoint["addresses"][0], endpoint_port["port"])
            for _, each in sorted(slices.items())
            for endpoint_port in each.get("ports") or ()
            if (endpoint_port.get("name") or "") == (port.get("name") or "") and endpoint_port.get("port")
            for endpoint in each.get("endpoints") or ()
            if (endpoint.get("conditions") or {}).get("ready") is not False
        )

    def _on_change(self, _write: Revision) -> None:
        self._schedule(SYNC_S)

    def _slice_changed(self, write: Revision) -> None:
        service = (write.object["metadata"].get("labels") or {}).get(SERVICE_NAME)
        if service is not None:
            slices = self._slices.setdefault((write.key.namespace, service), {})
            if write.change == "DELETED":
                slices.pop(write.key.name, None)
            else:
                slices[write.key.name] = write.object
            self._schedule(SYNC_S)

    def _schedule(self, wait_s: float) -> None:
        if not self._scheduled and self._stops:
            self._scheduled = True
            self._kernel.call_later(wait_s, self.sync)
