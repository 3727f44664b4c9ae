"""Defaults of the core group, pods aside."""

from __future__ import annotations

import base64

from simcloud.kubernetes.api.defaults.pods import default_pod_template, default_source
from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part, status_defaults
from simcloud.kubernetes.api.objects import Object, copy

_REACHED_FROM_OUTSIDE = ("NodePort", "LoadBalancer")


@defaults("", "PodTemplate")
def default_template(obj: Object) -> None:
    """The template in it is one of pods."""
    default_pod_template(part(obj, "template"))


@defaults("", "ReplicationController")
def default_replication_controller(controller: Object) -> None:
    """Selector and labels follow from the template."""
    spec = part(controller, "spec")
    fill(spec, replicas=1)
    template = spec.get("template")
    if template is None:
        return
    default_pod_template(template)
    labels = template.get("metadata", {}).get("labels")
    if labels:
        fill(spec, selector=copy(labels))
        fill(part(controller, "metadata"), labels=copy(labels))


@defaults("", "Service")
def default_service(service: Object) -> None:
    """All but addresses and ports of nodes, which are allocated."""
    spec = part(service, "spec")
    fill(spec, sessionAffinity="None", type="ClusterIP")
    _default_affinity(spec)
    for port in each(spec, "ports"):
        fill(port, protocol="TCP")
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port", 0)
    kind = spec["type"]
    if kind in _REACHED_FROM_OUTSIDE or (kind == "ClusterIP" and spec.get("externalIPs")):
        fill(spec, externalTrafficPolicy="Cluster")
    if kind in ("ClusterIP", *_REACHED_FROM_OUTSIDE):
        fill(spec, internalTrafficPolicy="Cluster")
    if kind == "LoadBalancer":
        fill(spec, allocateLoadBalancerNodePorts=True)
        for ingress in each(service.get("status", {}).get("loadBalancer", {}), "ingress"):
            if "ip" in ingress:
                fill(ingress, ipMode="VIP")


def _default_affinity(spec: Object) -> None:
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = spec.get("sessionAffinityConfig", {}).get("clientIP", {})
        if "timeoutSeconds" not in client:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}


@defaults("", "Secret")
def default_secret(secret: Object) -> None:
    """Plain text joins the encoded data and is never seen again."""
    fill(secret, type="Opaque")
    for key, text in (secret.pop("stringData", None) or {}).items():
        part(secret, "data")[key] = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


@defaults("", "PersistentVolume")
def default_persistent_volume(volume: Object) -> None:
    """Kept after use, with a filesystem."""
    spec = part(volume, "spec")
    fill(part(volume, "status"), phase="Pending")
    fill(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    default_source(spec)


@defaults("", "PersistentVolumeClaim")
def default_claim(claim: Object) -> None:
    """A filesystem, not yet bound."""
    fill(part(claim, "status"), phase="Pending")
    fill(part(claim, "spec"), volumeMode="Filesystem")


@defaults("", "Endpoints")
def default_endpoints(endpoints: Object) -> None:
    """Ports are TCP."""
    for subset in each(endpoints, "subsets"):
        for port in each(subset, "ports"):
            fill(port, protocol="TCP")


@defaults("", "Namespace")
def default_namespace(namespace: Object) -> None:
    """Every namespace can be selected by its name."""
    fill(part(namespace, "status"), phase="Active")
    metadata = part(namespace, "metadata")
    if metadata.get("name"):
        part(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"]


@defaults("", "Node")
def default_node(node: Object) -> None:
    """Default allocatable to capacity, and keep podCIDR equal to the first of podCIDRs."""
    spec = part(node, "spec")
    ranges = spec.get("podCIDRs")
    if spec.get("podCIDR") and (not ranges or ranges[0] != spec["podCIDR"]):
        spec["podCIDRs"] = [spec["podCIDR"]]
    elif ranges:
        spec["podCIDR"] = ranges[0]
    _default_node_status(part(node, "status"))


@status_defaults("", "Node")
def _default_node_status(status: Object) -> None:
    if "capacity" in status:
        fill(status, allocatable=copy(status["capacity"]))


@defaults("", "LimitRange")
def default_limit_range(limits: Object) -> None:
    """For containers, the default limit is the maximum, the default request the limit or the minimum."""
    for item in each(part(limits, "spec"), "limits"):
        if item.get("type") != "Container":
            continue
        limit = {**item.get("max", {}), **item.get("default", {})}
        request = {**item.get("min", {}), **limit, **item.get("defaultRequest", {})}
        item.update(
            {name: value for name, value in (("default", limit), ("defaultRequest", request)) if value}
        )
