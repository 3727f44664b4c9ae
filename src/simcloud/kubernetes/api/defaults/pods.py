"""Defaults of pods and pod templates: containers, pull policies, resource requests and volumes."""

from __future__ import annotations

import re
from typing import Any

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.amounts import containers_amounts
from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part, status_defaults
from simcloud.kubernetes.api.objects import Object, copy

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")

_PATH = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_IMAGE = re.compile(
    rf"(?:(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?"
    rf"{_PATH}(?:/{_PATH})*"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_LONGEST = 1024

_SHARED = ("cpu", "memory")
"""The resources whose pod-wide request follows from the containers' requests."""

_READABLE = 0o644

_SOURCES: dict[str, dict[str, Any]] = {
    "configMap": {"defaultMode": _READABLE},
    "downwardAPI": {"defaultMode": _READABLE},
    "hostPath": {"type": ""},
    "projected": {"defaultMode": _READABLE},
    "secret": {"defaultMode": _READABLE},
}


@defaults("", "Pod")
def default_pod(pod: Object) -> None:
    """A pod gets more than a template: requests from limits, service links, host ports."""
    spec = part(pod, "spec")
    default_pod_spec(spec)
    for kind in ("initContainers", "containers"):
        for container in each(spec, kind):
            default_container_requests(container)
            if spec.get("hostNetwork"):
                _default_host_ports(container)
    default_pod_resources(spec)
    fill(spec, enableServiceLinks=True)
    _align_addresses(part(pod, "status"))


def default_pod_template(template: Object) -> None:
    """A template of pods in a workload."""
    default_pod_spec(part(template, "spec"))


def default_pod_spec(spec: Object) -> None:
    """What pods and templates of pods have in common."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    fill(
        spec,
        dnsPolicy="ClusterFirst",
        restartPolicy="Always",
        schedulerName="default-scheduler",
        terminationGracePeriodSeconds=30,
    )
    part(spec, "securityContext")
    for kind in CONTAINERS:
        for container in each(spec, kind):
            _default_container(container)
    for volume in each(spec, "volumes"):
        default_volume(volume)


def _default_container(container: Object) -> None:
    fill(
        container,
        imagePullPolicy=pull_policy(container.get("image", "")),
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    for port in each(container, "ports"):
        fill(port, protocol="TCP")
    for variable in each(container, "env"):
        field = variable.get("valueFrom", {}).get("fieldRef")
        if field is not None:
            fill(field, apiVersion="v1")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            _default_probe(container[name])
    for hook in ("postStart", "preStop"):
        _default_http_get(container.get("lifecycle", {}).get(hook, {}))


def _default_probe(probe: Object) -> None:
    fill(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    _default_http_get(probe)
    if "grpc" in probe:
        fill(probe["grpc"], service="")


def _default_http_get(handler: Object) -> None:
    if "httpGet" in handler:
        fill(handler["httpGet"], path="/", scheme="HTTP")


@status_defaults("", "Pod")
def _align_addresses(status: Object) -> None:
    """The first of the addresses and the one address are the same; a kubelet may say either."""
    address = status.get("podIP")
    listed = [entry.get("ip") for entry in each(status, "podIPs")]
    if address and listed[:1] != [address]:
        status["podIPs"] = [{"ip": address}]
    elif listed and listed[0]:
        status["podIP"] = listed[0]


def _default_host_ports(container: Object) -> None:
    for port in each(container, "ports"):
        if "containerPort" in port:
            fill(port, hostPort=port["containerPort"])


def pull_policy(image: str) -> str:
    """``Always`` for an image whose tag is ``latest``, said or implied; a malformed name has no tag."""
    found = _IMAGE.fullmatch(image) if len(image) <= _LONGEST else None
    if found is None:
        return "IfNotPresent"
    implied = found["tag"] is None and found["digest"] is None
    return "Always" if implied or found["tag"] == "latest" else "IfNotPresent"


def default_container_requests(container: Object) -> None:
    """Default the requests of a container to its limits."""
    resources = container.get("resources", {})
    if "limits" in resources:
        _inherit(resources, resources["limits"])


def default_pod_resources(spec: Object) -> None:
    """A pod with limits of its own asks for the sum of its containers, or else for its limits."""
    resources = spec.get("resources", {})
    limits = resources.get("limits")
    if not limits:
        return
    asked = {name: text for name in _SHARED if (text := _total_request(spec, name)) is not None}
    _inherit(resources, asked)
    _inherit(resources, {name: text for name, text in limits.items() if _pod_wide(name)})


def _inherit(resources: Object, amounts: Object) -> None:
    requests = {**amounts, **resources.get("requests", {})}
    if requests:
        resources["requests"] = requests


def _pod_wide(name: str) -> bool:
    return name in _SHARED or name.startswith("hugepages-")


def _total_request(spec: Object, name: str) -> str | None:
    """Return the sum of the container requests, rendered with the usual suffixes."""
    total = containers_amounts(spec, "requests").get(name)
    return (
        None if total is None else quantity.render(total.value, "binary" if name == "memory" else "decimal")
    )


def default_volume(volume: Object) -> None:
    """A volume of a pod; one that names no source is an empty directory."""
    if not any(isinstance(source, dict) for source in volume.values()):
        volume["emptyDir"] = {}
    default_source(volume)
    image = volume.get("image")
    if image is not None:
        fill(image, pullPolicy=pull_policy(image.get("reference", "")))
    _default_downward(volume.get("downwardAPI", {}))
    for source in each(volume.get("projected", {}), "sources"):
        _default_downward(source.get("downwardAPI", {}))
        if "serviceAccountToken" in source:
            fill(source["serviceAccountToken"], expirationSeconds=3600)
    template = volume.get("ephemeral", {}).get("volumeClaimTemplate")
    if template is not None:
        fill(template.setdefault("spec", {}), volumeMode="Filesystem")


def default_source(holder: Object) -> None:
    """The source that a volume or a PersistentVolume names."""
    for name, values in _SOURCES.items():
        if name in holder:
            fill(holder[name], **copy(values))


def _default_downward(source: Object) -> None:
    for item in each(source, "items"):
        if "fieldRef" in item:
            fill(item["fieldRef"], apiVersion="v1")
