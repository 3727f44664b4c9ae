"""Probes of containers, tried as the kubelet does, whatever their delays and thresholds are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object, at

RESTARTING: Final = ("livenessProbe", "startupProbe")
"""Probes whose failure restarts a container."""
TIMEOUT_S: Final = 1
"""Time limit of a probe that has none of its own, as in Kubernetes."""


def has_failing_probe(site: Site, workload: str, kinds: Sequence[str] = RESTARTING) -> bool:
    """Return whether a probe of a Deployment fails when it is tried now, or there is no running pod to try it at."""
    containers = at(
        site.find("deployments.apps", workload), "spec", "template", "spec", "containers", default=[]
    )
    probes = [(container, container[kind]) for container in containers for kind in kinds if kind in container]
    return not all(_succeeds(site, workload, *pair) for pair in probes)


def _succeeds(site: Site, workload: str, container: Object, probe: Object) -> bool:
    """Try a probe at every running pod; return whether all succeed and there is one."""
    columns = "{.metadata.name} {.spec.nodeName} {.status.podIP}"
    listing = site.kubectl(
        f"get pods -l {site.get_selector(workload)} --field-selector status.phase=Running "
        f"-o jsonpath='{{range .items[*]}}{columns}{{\"\\n\"}}{{end}}'"
    )
    rows = [line.split() for line in listing.splitlines()]
    lines = [_format_trial(site.namespace, container, probe, *row) for row in rows if len(row) == 3]
    return bool(lines) and all(
        site.operate(f"{line} > /dev/null 2>&1 && echo alive || true").stdout for line in lines
    )


def _format_trial(namespace: str, container: Object, probe: Object, pod: str, node: str, address: str) -> str:
    """Return a line that does what a probe does, at the place where the kubelet does it."""
    timeout_s = probe.get("timeoutSeconds", TIMEOUT_S)
    if "exec" in probe:
        command = shlex.join(probe["exec"]["command"])
        return f"timeout {timeout_s} kubectl -n {namespace} exec {pod} -c {container['name']} -- {command}"
    action = next(probe[kind] for kind in ("tcpSocket", "httpGet", "grpc") if kind in probe)
    ports = {port.get("name"): port["containerPort"] for port in container.get("ports", ())}
    port = ports.get(action["port"], action["port"])
    if "httpGet" in probe:
        url = f"{action.get('scheme', 'HTTP').lower()}://{address}:{port}{action.get('path', '/')}"
        return f"ssh {node} curl -skf -m {timeout_s} {shlex.quote(shlex.quote(url))}"
    return f"ssh {node} timeout {timeout_s} bash -c \"'</dev/tcp/{address}/{port}'\""
