"""A pod's spec, in a pod or in a template, in the order the genuine server checks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, required
from simcloud.kubernetes.api.validation.common import (
    INT32_MAX,
    Errors,
    check_required_choice,
    items,
    make_errors,
    mapping,
    number,
    text,
)
from simcloud.kubernetes.api.validation.labels import label_errors
from simcloud.kubernetes.api.validation.names import (
    between,
    dns1123_label,
    dns1123_subdomain,
    dns1123_subdomain_with_underscore,
    ip,
    qualified_name,
    size,
)
from simcloud.kubernetes.api.validation.pods import affinity, containers, resources, security
from simcloud.kubernetes.api.validation.pods.volumes import volumes

_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_NAMES = {
    "serviceAccountName": dns1123_subdomain,
    "nodeName": dns1123_subdomain,
    "hostname": dns1123_label,
    "subdomain": dns1123_label,
    "priorityClassName": dns1123_subdomain,
}


def pod_spec(path: str, spec: Mapping[str, Any], pod_name: str = "", in_pod: bool = False) -> Errors:
    """Everything a pod's spec must fulfil. A template has no name and may be a little looser."""
    errors: Errors = []
    if spec.get("terminationGracePeriodSeconds") is None:
        errors.append(required(f"{path}.terminationGracePeriodSeconds"))
    sound, wrong = volumes(f"{path}.volumes", items(spec, "volumes"), pod_name)
    around = containers.of_pod(spec, sound)
    regular, init = items(spec, "containers"), items(spec, "initContainers")
    errors += wrong
    errors += containers.containers(f"{path}.containers", regular, around)
    errors += containers.init_containers(f"{path}.initContainers", init, regular, around)
    errors += containers.ephemeral_containers(f"{path}.ephemeralContainers", spec, around)
    errors += resources.pod_level(f"{path}.resources", spec)
    errors += _ports_of_host(f"{path}.containers", spec, in_pod)
    restart = ("Always", "OnFailure", "Never")
    errors += check_required_choice(f"{path}.restartPolicy", text(spec, "restartPolicy"), restart)
    errors += check_required_choice(f"{path}.dnsPolicy", text(spec, "dnsPolicy"), _DNS_POLICIES)
    errors += label_errors(f"{path}.nodeSelector", spec.get("nodeSelector"))
    errors += security.of_pod(f"{path}.securityContext", spec.get("securityContext"))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        message = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{path}.shareProcessNamespace", True, message))
    errors += affinity.affinity(f"{path}.affinity", spec.get("affinity"))
    errors += _dns(f"{path}.dnsConfig", spec.get("dnsConfig"), text(spec, "dnsPolicy"))
    errors += _gates(path, spec)
    spread = items(spec, "topologySpreadConstraints")
    errors += affinity.spread(f"{path}.topologySpreadConstraints", spread)
    return errors + _rest(path, spec)


def each_container(path: str, spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every container of a pod with its path: init, regular, ephemeral."""
    return [
        (f"{path}.{key}[{index}]", container)
        for key in ("initContainers", "containers", "ephemeralContainers")
        for index, container in enumerate(items(spec, key))
    ]


def _rest(path: str, spec: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for key in ("serviceAccountName", "nodeName"):
        errors += _check_name(path, spec, key)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= INT32_MAX:
        errors.append(invalid(f"{path}.activeDeadlineSeconds", deadline, between(1, INT32_MAX)))
    for key in ("hostname", "subdomain"):
        errors += _check_name(path, spec, key)
    errors += affinity.tolerations(f"{path}.tolerations", items(spec, "tolerations"))
    errors += _aliases(f"{path}.hostAliases", items(spec, "hostAliases"))
    errors += _check_name(path, spec, "priorityClassName")
    preemption = spec.get("preemptionPolicy")
    if preemption is not None:
        known = ("PreemptLowerPriority", "Never")
        errors += check_required_choice(f"{path}.preemptionPolicy", preemption, known)
    return errors


def _check_name(path: str, spec: Mapping[str, Any], key: str) -> Errors:
    name = text(spec, key)
    return make_errors(f"{path}.{key}", name, _NAMES[key](name)) if name else []


def _ports_of_host(path: str, spec: Mapping[str, Any], in_pod: bool) -> Errors:
    if not spec.get("hostNetwork"):
        return []
    message = "must match `containerPort` when `hostNetwork` is true"
    return [
        invalid(f"{path}[{index}].ports[{at}].hostPort", number(port, "hostPort"), message)
        for index, container in enumerate(items(spec, "containers"))
        for at, port in enumerate(items(container, "ports"))
        if (in_pod or number(port, "hostPort")) and number(port, "hostPort") != number(port, "containerPort")
    ]


def _dns(path: str, config: Mapping[str, Any] | None, policy: str) -> Errors:
    if policy == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not items(config, "nameservers"):
            message = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", message)]
    if config is None:
        return []
    servers, searches = items(config, "nameservers"), items(config, "searches")
    errors: Errors = []
    if len(servers) > 3:
        errors.append(invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers"))
    for index, server in enumerate(servers):
        errors += make_errors(f"{path}.nameservers[{index}]", server, ip(server))
    if len(searches) > 32:
        errors.append(invalid(f"{path}.searches", searches, "must not have more than 32 search paths"))
    if size(" ".join(searches)) > 2048:
        message = "must not have more than 2048 characters (including spaces) in the search list"
        errors.append(invalid(f"{path}.searches", searches, message))
    for index, search in enumerate(searches):
        if search != ".":
            domain = search.removesuffix(".")
            messages = dns1123_subdomain_with_underscore(domain)
            errors += make_errors(f"{path}.searches[{index}]", domain, messages)
    return errors + [
        required(f"{path}.options[{index}]", "must not be empty")
        for index, option in enumerate(items(config, "options"))
        if not text(option, "name")
    ]


def _gates(path: str, spec: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for index, gate in enumerate(items(spec, "readinessGates")):
        name = text(gate, "conditionType")
        errors += make_errors(f"{path}.readinessGates[{index}].conditionType", name, qualified_name(name))
    seen: set[str] = set()
    for index, gate in enumerate(items(spec, "schedulingGates")):
        at, name = f"{path}.schedulingGates[{index}]", text(gate, "name")
        errors += make_errors(at, name, qualified_name(name))
        if name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)
    return errors


def _aliases(path: str, aliases: list[Any]) -> Errors:
    errors: Errors = []
    for index, alias in enumerate(aliases):
        errors += make_errors(f"{path}[{index}].ip", text(alias, "ip"), ip(text(alias, "ip")))
        for at, name in enumerate(items(alias, "hostnames")):
            errors += make_errors(f"{path}[{index}].hostnames[{at}]", name, dns1123_subdomain(name))
    return errors


def service_account_tokens(path: str, spec: Mapping[str, Any]) -> Errors:
    """A pod without a service account has no token to mount."""
    if text(spec, "serviceAccountName"):
        return []
    message = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"{path}.volumes[{index}].projected.sources[{at}].serviceAccountToken", message)
        for index, volume in enumerate(items(spec, "volumes"))
        for at, source in enumerate(items(mapping(volume, "projected"), "sources"))
        if source.get("serviceAccountToken") is not None
    ]
