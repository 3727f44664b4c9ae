"""The rules of a Service and what its writes are warned of.

Addresses this cluster does not have and node ports outside its range are refused here, first and alone,
as the genuine server's allocators refuse them before any other rule is looked at. Which addresses and
ports are free is not known here.
"""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors
from simcloud.kubernetes.api.validation.labels import label_errors
from simcloud.kubernetes.api.validation.names import (
    dns1123_label,
    dns1123_subdomain,
    port_name,
    port_number,
    qualified_name,
)
from simcloud.kubernetes.api.validation.registry import validates, warns
from simcloud.kubernetes.api.validation.service_addresses import (
    ONCE,
    ONLY_LOAD_BALANCER,
    check_cluster_ips_update,
    cluster_ips,
    external_ips,
    families_served,
    is_headless,
    source_ranges,
)

NODE_PORTS = range(30000, 32768)

_TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
_PROTOCOLS = ["SCTP", "TCP", "UDP"]
_AFFINITIES = ["ClientIP", "None"]
_TRAFFIC_POLICIES = ["Cluster", "Local"]
_DISTRIBUTIONS = ["PreferClose", "PreferSameNode", "PreferSameZone"]
_NO_EXTERNAL_NAME = "may not be set for ExternalName services"
_LONGEST_AFFINITY_S = 86400


@validates("", "Service")
def service(new: Object, old: Object | None) -> Errors:
    """The rules of a Service."""
    spec: Object = new.get("spec") or {}
    before: Object = (old or {}).get("spec") or {}
    # The genuine server hands out addresses and ports before it looks at any other rule.
    unserved = cluster_ips(spec) or families_served(spec, before) or _node_port_range(spec, before)
    if unserved:
        return unserved
    errors = _update(spec, before) if old is not None else []
    errors += _type_rules(spec)
    names: list[str] = []
    for index, port in enumerate(spec.get("ports") or []):
        errors += _port(f"spec.ports[{index}]", port, len(spec["ports"]) > 1, names)
    errors += label_errors("spec.selector", spec.get("selector"))
    errors += _session_affinity(spec)
    errors += external_ips(spec)
    errors += _type_known(spec)
    errors += _port_clashes(spec)
    errors += source_ranges(spec)
    errors += _load_balancer(spec)
    errors += _external_traffic(spec)
    return errors + _internal_traffic(spec)


@warns("", "Service")
def service_warnings(new: Object, old: Object | None) -> list[str]:
    """What a write of a Service is warned of."""
    spec: Object = new.get("spec") or {}
    return _headless_warnings(spec) + _field_warnings(spec)


def _headless_warnings(spec: Object) -> list[str]:
    if not (spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None"):
        return []
    ignored = {
        "spec.loadBalancerIP": bool(spec.get("loadBalancerIP")),
        "spec.externalIPs": bool(spec.get("externalIPs")),
        "spec.SessionAffinity": spec.get("sessionAffinity") != "None",
    }
    return [f"{field} is ignored for headless services" for field, given in ignored.items() if given]


def _field_warnings(spec: Object) -> list[str]:
    messages = []
    kind = spec.get("type")
    external = spec.get("externalIPs") or []
    headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if external and not headless and kind != "ExternalName":
        messages.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if kind == "ExternalName" and external:
        messages.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if kind != "ExternalName" and spec.get("externalName"):
        messages.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        messages.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return messages


def _node_port_range(spec: Object, before: Object) -> Errors:
    if spec.get("type") not in ("NodePort", "LoadBalancer"):
        return []
    had = [port.get("nodePort", 0) for port in before.get("ports") or []]
    message = (
        "provided port is not in the valid range. "
        f"The range of valid ports is {NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
    )
    return [
        invalid(f"spec.ports[{index}].nodePort", port["nodePort"], message)
        for index, port in enumerate(spec.get("ports") or [])
        if port.get("nodePort", 0) and port["nodePort"] not in NODE_PORTS and port["nodePort"] not in had
    ]


def _update(spec: Object, before: Object) -> Errors:
    errors: Errors = []
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        errors += check_cluster_ips_update(spec, before)
    both_balanced = spec.get("type") == before.get("type") == "LoadBalancer"
    if both_balanced and spec.get("loadBalancerClass") != before.get("loadBalancerClass"):
        given = spec.get("loadBalancerClass", "null")
        errors.append(invalid("spec.loadBalancerClass", given, ONCE))
    errors += _load_balancer_class(spec)
    changed_check = spec.get("healthCheckNodePort", 0) != before.get("healthCheckNodePort", 0)
    if _needs_health_check(spec) and _needs_health_check(before) and changed_check:
        errors.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return errors


def _type_rules(spec: Object) -> Errors:
    kind = spec.get("type", "")
    errors = []
    if not spec.get("ports") and not is_headless(spec) and kind != "ExternalName":
        errors.append(required("spec.ports"))
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        errors.append(invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services"))
    if kind == "ExternalName":
        errors += [
            forbidden(f"spec.{field}", _NO_EXTERNAL_NAME)
            for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
            if spec.get(field)
        ]
        name = spec.get("externalName", "").removesuffix(".")
        if name:
            errors += [invalid("spec.externalName", name, message) for message in dns1123_subdomain(name)]
        else:
            errors.append(required("spec.externalName"))
    return errors


def _port(path: str, port: Object, named: bool, names: list[str]) -> Errors:
    errors = []
    name = port.get("name", "")
    if name:
        errors += [invalid(f"{path}.name", name, message) for message in dns1123_label(name)]
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.append(name)
    elif named:
        errors.append(required(f"{path}.name"))
    number = port.get("port", 0)
    errors += [invalid(f"{path}.port", number, message) for message in port_number(number)]
    errors += protocol(f"{path}.protocol", port.get("protocol", ""))
    errors += port_number_or_name(f"{path}.targetPort", port.get("targetPort", 0))
    if "appProtocol" in port:
        given = port["appProtocol"]
        errors += [invalid(f"{path}.appProtocol", given, message) for message in qualified_name(given)]
    return errors


def protocol(path: str, value: str) -> Errors:
    """The protocol of a port."""
    if not value:
        return [required(path)]
    return [] if value in _PROTOCOLS else [not_supported(path, value, _PROTOCOLS)]


def port_number_or_name(path: str, value: int | str) -> Errors:
    """A port by its number or by the name a container gives it."""
    errors = port_number(value) if isinstance(value, int) else port_name(value)
    return [invalid(path, value, message) for message in errors]


def _session_affinity(spec: Object) -> Errors:
    affinity = spec.get("sessionAffinity", "")
    if not affinity:
        return [required("spec.sessionAffinity")]
    if affinity not in _AFFINITIES:
        return [not_supported("spec.sessionAffinity", affinity, _AFFINITIES)]
    if affinity == "None":
        if spec.get("sessionAffinityConfig") is None:
            return []
        return [forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None")]
    path = "spec.sessionAffinityConfig"
    value: Any = spec.get("sessionAffinityConfig")
    for step in ("clientIP", "timeoutSeconds"):
        if value is None:
            return [required(path, "when session affinity type is ClientIP")]
        path, value = f"{path}.{step}", value.get(step)
    if value is None:
        return [required(path, "when session affinity type is ClientIP")]
    if 0 < value <= _LONGEST_AFFINITY_S:
        return []
    return [invalid(path, value, f"must be greater than 0 and less than {_LONGEST_AFFINITY_S}")]


def _type_known(spec: Object) -> Errors:
    kind = spec.get("type", "")
    errors = []
    if not kind:
        errors.append(required("spec.type"))
    elif kind not in _TYPES:
        errors.append(not_supported("spec.type", kind, _TYPES))
    if kind == "ClusterIP":
        errors += [
            forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
            for index, port in enumerate(spec.get("ports") or [])
            if port.get("nodePort", 0)
        ]
    return errors


def _port_clashes(spec: Object) -> Errors:
    errors = []
    node_ports: list[tuple[str, int]] = []
    for index, port in enumerate(spec.get("ports") or []):
        key = (port.get("protocol", ""), port.get("nodePort", 0))
        if key[1] and key in node_ports:
            errors.append(duplicate(f"spec.ports[{index}].nodePort", key[1]))
        node_ports.append(key)
    ports: list[tuple[str, int]] = []
    for index, port in enumerate(spec.get("ports") or []):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in ports:
            shown = {"Name": "", "Protocol": key[0], "AppProtocol": None, "Port": key[1]}
            errors.append(duplicate(f"spec.ports[{index}]", shown | {"TargetPort": 0, "NodePort": 0}))
        ports.append(key)
    return errors


def _load_balancer(spec: Object) -> Errors:
    errors = []
    balanced = spec.get("type") == "LoadBalancer"
    allocated = spec.get("allocateLoadBalancerNodePorts") is not None
    if allocated and not balanced:
        errors.append(forbidden("spec.allocateLoadBalancerNodePorts", ONLY_LOAD_BALANCER))
    if balanced and not allocated:
        errors.append(required("allocateLoadBalancerNodePorts"))
    return errors + _load_balancer_class(spec)


def _load_balancer_class(spec: Object) -> Errors:
    given = spec.get("loadBalancerClass")
    if given is None:
        return []
    if spec.get("type") != "LoadBalancer":
        return [forbidden("spec.loadBalancerClass", ONLY_LOAD_BALANCER)]
    return [invalid("spec.loadBalancerClass", given, message) for message in qualified_name(given)]


def _needs_health_check(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _external_traffic(spec: Object) -> Errors:
    kind, policy = spec.get("type"), spec.get("externalTrafficPolicy", "")
    reachable = kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and spec.get("externalIPs"))
    path = "spec.externalTrafficPolicy"
    errors = []
    if not reachable:
        if policy:
            errors.append(invalid(path, policy, "may only be set for externally-accessible services"))
    elif not policy:
        errors.append(required(path))
    elif policy not in _TRAFFIC_POLICIES:
        errors.append(not_supported(path, policy, _TRAFFIC_POLICIES))
    port, path = spec.get("healthCheckNodePort", 0), "spec.healthCheckNodePort"
    if _needs_health_check(spec):
        if port:
            errors += [invalid(path, port, message) for message in port_number(port)]
        else:
            errors.append(required(path))
    elif port:
        message = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(invalid(path, port, message))
    return errors


def _internal_traffic(spec: Object) -> Errors:
    errors = []
    policy, path = spec.get("internalTrafficPolicy"), "spec.internalTrafficPolicy"
    if policy is None:
        if spec.get("type") in ("NodePort", "LoadBalancer", "ClusterIP"):
            errors.append(required(path))
    elif policy not in _TRAFFIC_POLICIES:
        errors.append(not_supported(path, policy, _TRAFFIC_POLICIES))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS))
    return errors
