"""Defaults of pods and of pod templates, wherever they stand."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.images import pull_policy
from simcloud.kubernetes.api.defaults.pod_resources import default_container_requests, default_pod_resources
from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.defaults.volumes import default_volume
from simcloud.kubernetes.api.objects import Object

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


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
