"""A service's container is killed repeatedly, because its liveness probe uses a port that nothing listens on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object, at

RESTARTING: Final = ("livenessProbe", "startupProbe")
"""Probes whose failure restarts a container."""
TRIAL_S: Final = 1
"""Time limit of a probe, as by default in Kubernetes."""


@fault
@dataclass(frozen=True)
class ContainerKill(DeployedContainerFault):
    """An operator adds a liveness probe with a wrong port to a service of HotelReservation."""

    port: int = 8080
    name: ClassVar[str] = "container_kill"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True
    declared: ClassVar[bool] = False
    may_return: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting of the service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    def inject(self, site: Site) -> None:
        """Roll out the probe."""
        probe = {"tcpSocket": {"port": self.port}, "periodSeconds": 5, "failureThreshold": 1}
        self.patch(site, {"livenessProbe": probe})

    def recover(self, site: Site) -> None:
        """Remove the probe."""
        self.patch(site, {"livenessProbe": None})

    def is_wrong(self, container: Object) -> bool:
        """Return whether the container has a probe that may restart it."""
        return any(kind in container for kind in RESTARTING)

    def present(self, site: Site) -> bool:
        """Return whether a probe that restarts the container fails when it is tried now, whatever its delay is."""
        if not super().present(site):
            return False
        containers = at(
            site.find("deployments.apps", self.service), "spec", "template", "spec", "containers", default=[]
        )
        probes = [
            (container, container[kind])
            for container in containers
            for kind in RESTARTING
            if kind in container
        ]
        return not probes or not all(self._succeeds(site, *pair) for pair in probes)

    def _succeeds(self, site: Site, container: Object, probe: Object) -> bool:
        """Try a probe at every running pod, as the kubelet does; return whether all succeed and there is one."""
        columns = "{.metadata.name} {.spec.nodeName} {.status.podIP}"
        listing = site.operate(
            f"kubectl -n {site.namespace} get pods -l io.kompose.service={self.service} --field-selector status.phase=Running "
            f"-o jsonpath='{{range .items[*]}}{columns}{{\"\\n\"}}{{end}}'"
        )
        rows = [line.split() for line in listing.stdout.decode().splitlines()]
        lines = [_format_trial(site.namespace, container, probe, *row) for row in rows if len(row) == 3]
        return bool(lines) and all(
            site.operate(f"{line} > /dev/null 2>&1 && echo alive || true").stdout for line in lines
        )


def _format_trial(namespace: str, container: Object, probe: Object, pod: str, node: str, address: str) -> str:
    """Return a line that does what a probe does, at the place where the kubelet does it."""
    if "exec" in probe:
        command = shlex.join(probe["exec"]["command"])
        return f"timeout {TRIAL_S} kubectl -n {namespace} exec {pod} -c {container['name']} -- {command}"
    action = next(probe[kind] for kind in ("tcpSocket", "httpGet", "grpc") if kind in probe)
    ports = {port.get("name"): port["containerPort"] for port in container.get("ports", ())}
    port = ports.get(action["port"], action["port"])
    if "httpGet" in probe:
        url = f"{action.get('scheme', 'HTTP').lower()}://{address}:{port}{action.get('path', '/')}"
        return f"ssh {node} curl -skf -m {TRIAL_S} {shlex.quote(shlex.quote(url))}"
    return f"ssh {node} timeout {TRIAL_S} bash -c \"'</dev/tcp/{address}/{port}'\""
