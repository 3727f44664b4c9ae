"""What the writer of a pod or a template is warned of, though it is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import shown
from simcloud.kubernetes.api.validation.common import amount, amount_text, items, mapping, number, text
from simcloud.kubernetes.api.validation.names import dns1123_label, read_ip
from simcloud.kubernetes.api.validation.pods.affinity import PREFERRED, REQUIRED
from simcloud.kubernetes.api.validation.pods.annotations import APP_ARMOR, SECCOMP_CONTAINER, SECCOMP_POD
from simcloud.kubernetes.api.validation.pods.spec import each_container

_OLD_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
}
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_OLD_VOLUMES = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_PORT_WARNINGS_LIMIT = 100
"""Ports are compared each with each; no reply has room for more warnings than this."""
_NO_SELECTOR = "a null labelSelector results in matching no pod"
_SECCOMP_GONE = 'non-functional in v1.27+; use the "seccompProfile" field instead'


def for_pod(name: str, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> list[str]:
    """The warnings of a new pod."""
    told = hostname_warning(name, "the Pod's hostname")
    return told + _for_spec("", metadata, spec)


def for_template(path: str, template: Mapping[str, Any]) -> list[str]:
    """The warnings of a pod template."""
    return _for_spec(f"{path}.", mapping(template, "metadata"), mapping(template, "spec"))


def hostname_warning(name: str, use: str) -> list[str]:
    """A name that becomes a hostname had better be one."""
    broken = dns1123_label(name)
    if not broken:
        return []
    return [
        f"metadata.name: this is used in {use}, which can result in surprising behavior; a DNS label is "
        f"recommended: [{' '.join(broken)}]"
    ]


def _for_spec(prefix: str, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> list[str]:
    at = f"{prefix}spec"
    annotations = mapping(metadata, "annotations")
    told = [
        f"{at}.nodeSelector[{key}]: {_OLD_LABELS[key]}"
        for key in sorted(mapping(spec, "nodeSelector"))
        if key in _OLD_LABELS
    ]
    told += _node_affinity(f"{at}.affinity.nodeAffinity", mapping(mapping(spec, "affinity"), "nodeAffinity"))
    told += _spread(f"{at}.topologySpreadConstraints", items(spec, "topologySpreadConstraints"))
    told += [
        f"{prefix}metadata.annotations[{key}]: {why}"
        for key, why in _OLD_ANNOTATIONS.items()
        if key in annotations
    ]
    told += _volumes(f"{at}.volumes", items(spec, "volumes"))
    told += _repeated(f"{at}.hostAliases", items(spec, "hostAliases"), "ip")
    secrets = items(spec, "imagePullSecrets")
    told += _repeated(f"{at}.imagePullSecrets", secrets, "name")
    told += [
        f'{at}.imagePullSecrets[{index}].name: invalid empty name ""'
        for index, secret in enumerate(secrets)
        if not text(secret, "name")
    ]
    told += _fractions(f"{at}.overhead", mapping(spec, "overhead"))
    told += _containers(prefix, annotations, spec)
    told += _ports(each_container(at, spec))
    if number(spec, "terminationGracePeriodSeconds") < 0:
        why = "must be >= 0; negative values are invalid and will be treated as 1"
        told.append(f"{at}.terminationGracePeriodSeconds: {why}")
    for key in ("podAffinity", "podAntiAffinity"):
        told += _pod_affinity(f"{at}.affinity.{key}", mapping(mapping(spec, "affinity"), key))
    servers = items(mapping(spec, "dnsConfig"), "nameservers")
    for index, server in enumerate(servers):
        told += address_warnings(f"{at}.dnsConfig.nameservers[{index}]", server)
    for index, alias in enumerate(items(spec, "hostAliases")):
        told += address_warnings(f"{at}.hostAliases[{index}].ip", text(alias, "ip"))
    return told


def address_warnings(path: str, value: str) -> list[str]:
    """Addresses that are read, but not written as they should be."""
    address = read_ip(value)
    if address is None:
        return []
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped or (address.version == 4 and str(address) != value):
        why = "will be considered invalid in a future Kubernetes release: use"
        return [f"{path}: non-standard IP address {shown(value)} {why} {shown(str(mapped or address))}"]
    if str(address) != value:
        why = f"should be in RFC 5952 canonical format ({shown(str(address))})"
        return [f"{path}: IPv6 address {shown(value)} {why}"]
    return []


def _node_affinity(path: str, affinity: Mapping[str, Any]) -> list[str]:
    terms = [
        (f"{path}.{REQUIRED}.nodeSelectorTerms[{index}]", term)
        for index, term in enumerate(items(mapping(affinity, REQUIRED), "nodeSelectorTerms"))
    ]
    terms += [
        (f"{path}.{PREFERRED}[{index}].preference", mapping(term, "preference"))
        for index, term in enumerate(items(affinity, PREFERRED))
    ]
    return [
        f"{at}.matchExpressions[{index}].key: {text(one, 'key')} is {_OLD_LABELS[text(one, 'key')]}"
        for at, term in terms
        for index, one in enumerate(items(term, "matchExpressions"))
        if text(one, "key") in _OLD_LABELS
    ]


def _spread(path: str, constraints: list[Any]) -> list[str]:
    told = []
    for index, constraint in enumerate(constraints):
        key = text(constraint, "topologyKey")
        if key in _OLD_LABELS:
            told.append(f"{path}[{index}].topologyKey: {key} is {_OLD_LABELS[key]}")
        if constraint.get("labelSelector") is None:
            told.append(f"{path}[{index}].labelSelector: {_NO_SELECTOR}")
    return told


def _volumes(path: str, volumes: list[Any]) -> list[str]:
    told = [
        f"{path}[{index}].{spelt}: {why}"
        for index, volume in enumerate(volumes)
        for key, (spelt, why) in _OLD_VOLUMES.items()
        if volume.get(key) is not None
    ]
    sources = [(index, one) for index, volume in enumerate(volumes) for one in _sources(volume)]
    tokens = [
        text(one["serviceAccountToken"], "path")
        for _, one in sources
        if one.get("serviceAccountToken") is not None
    ]
    for index, source in sources:
        for key, spelt in (("configMap", "configMap"), ("secret", "secrets"), ("downwardAPI", "downwardAPI")):
            for number_of, item in enumerate(items(mapping(source, key), "items")):
                if text(item, "path") in tokens:
                    at = f"{path}[{index}].projected.sources.{spelt}[{number_of}]"
                    told.append(
                        f"{at}: has duplicated path with ServiceAccountToken {shown(text(item, 'path'))}"
                    )
    return told


def _sources(volume: Mapping[str, Any]) -> list[Any]:
    return items(mapping(volume, "projected"), "sources")


def _repeated(path: str, given: list[Any], key: str) -> list[str]:
    told = []
    seen: set[str] = set()
    for index, item in enumerate(given):
        value = text(item, key)
        if value in seen:
            told.append(f"{path}[{index}].{key}: duplicate {key} {shown(value)}")
        seen.add(value)
    return told


def _fractions(path: str, amounts: Mapping[str, Any]) -> list[str]:
    return [
        f"{path}[{name}]: fractional byte value {shown(amount_text(amounts[name]))} is invalid, must be an integer"
        for name in ("memory", "ephemeral-storage")
        if name in amounts and amount(amounts[name]).denominator != 1
    ]


def _containers(prefix: str, annotations: Mapping[str, str], spec: Mapping[str, Any]) -> list[str]:
    told = []
    pod = mapping(spec, "securityContext")
    of_annotation = f"{prefix}metadata.annotations"
    if pod.get("seccompProfile") is None and SECCOMP_POD in annotations:
        told.append(f"{of_annotation}[{SECCOMP_POD}]: {_SECCOMP_GONE}")
    for at, container in each_container(f"{prefix}spec", spec):
        name, own = text(container, "name"), mapping(container, "securityContext")
        if own.get("seccompProfile") is None and f"{SECCOMP_CONTAINER}{name}" in annotations:
            told.append(f"{of_annotation}[{SECCOMP_CONTAINER}{name}]: {_SECCOMP_GONE}")
        has_profile = pod.get("appArmorProfile") is not None or own.get("appArmorProfile") is not None
        if prefix and not has_profile and f"{APP_ARMOR}{name}" in annotations:
            why = 'deprecated since v1.30; use the "appArmorProfile" field instead'
            told.append(f"{of_annotation}[{APP_ARMOR}{name}]: {why}")
        resources = mapping(container, "resources")
        for kind in ("limits", "requests"):
            told += _fractions(f"{at}.resources.{kind}", mapping(resources, kind))
        told += _hidden(f"{at}.env", items(container, "env"))
    return told


def _hidden(path: str, variables: list[Any]) -> list[str]:
    """Variables that hide an earlier one of the same name."""
    told = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = text(variable, "name"), text(variable, "value")
        reference = f"$({name})"
        extends = variable.get("valueFrom") is None and value != reference and reference in value
        if name in seen and not extends:
            why = f"hides previous definition of {shown(name)}, which may be dropped when using apply"
            told.append(f"{path}[{index}]: {why}")
        seen.add(name)
    return told


def _ports(containers: list[tuple[str, Mapping[str, Any]]]) -> list[str]:
    told = []
    seen: dict[tuple[int, str], list[tuple[str, Mapping[str, Any]]]] = {}
    for path, container in containers:
        for index, port in enumerate(items(container, "ports")):
            at = f"{path}.ports[{index}]"
            if text(port, "hostIP") and not number(port, "hostPort"):
                told.append(f"{at}: hostIP set without hostPort: {_port_as_go(port)}")
            others = seen.setdefault((number(port, "containerPort"), text(port, "protocol")), [])
            if len(told) < _PORT_WARNINGS_LIMIT:
                told += [f"{at}: {why} with {other}" for other, one in others if (why := _clash(port, one))]
                others.append((at, port))
    return told


def _port_as_go(port: Mapping[str, Any]) -> str:
    return (
        f"{{Name:{text(port, 'name')} HostPort:{number(port, 'hostPort')} "
        f"ContainerPort:{number(port, 'containerPort')} Protocol:{text(port, 'protocol')} "
        f"HostIP:{text(port, 'hostIP')}}}"
    )


def _clash(port: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    here, there = number(port, "hostPort"), number(other, "hostPort")
    ip, other_ip = text(port, "hostIP"), text(other, "hostIP")
    if ip == other_ip and here == there:
        return "duplicate port definition"
    if here == 0 or there == 0:
        return "overlapping port definition"
    if here == there and bool(ip) != bool(other_ip):
        return "dangerously ambiguous port definition"
    return ""


def _pod_affinity(path: str, affinity: Mapping[str, Any]) -> list[str]:
    told = [
        f"{path}.{REQUIRED}[{index}].labelSelector: {_NO_SELECTOR}"
        for index, term in enumerate(items(affinity, REQUIRED))
        if term.get("labelSelector") is None
    ]
    return told + [
        f"{path}.{PREFERRED}[{index}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"
        for index, term in enumerate(items(affinity, PREFERRED))
        if mapping(term, "podAffinityTerm").get("labelSelector") is None
    ]
