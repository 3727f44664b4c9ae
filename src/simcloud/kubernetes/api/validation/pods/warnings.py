"""What the writer of a pod or a template is warned of, though it is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import format_value
from simcloud.kubernetes.api.validation.common import amount, amount_text, items, mapping, number, text
from simcloud.kubernetes.api.validation.names import dns1123_label
from simcloud.kubernetes.api.validation.pods.affinity import PREFERRED, REQUIRED
from simcloud.kubernetes.api.validation.pods.spec import each_container

_PORT_WARNINGS_LIMIT = 100
"""Ports are compared each with each; no reply has room for more warnings than this."""
_NO_SELECTOR = "a null labelSelector results in matching no pod"


def for_pod(name: str, spec: Mapping[str, Any]) -> list[str]:
    """The warnings of a new pod."""
    return hostname_warning(name, "the Pod's hostname") + _for_spec("spec", spec)


def for_template(path: str, template: Mapping[str, Any]) -> list[str]:
    """The warnings of a pod template."""
    return _for_spec(f"{path}.spec", mapping(template, "spec"))


def hostname_warning(name: str, use: str) -> list[str]:
    """A name that becomes a hostname had better be one."""
    broken = dns1123_label(name)
    if not broken:
        return []
    return [
        f"metadata.name: this is used in {use}, which can result in surprising behavior; a DNS label is "
        f"recommended: [{' '.join(broken)}]"
    ]


def _for_spec(at: str, spec: Mapping[str, Any]) -> list[str]:
    messages = _spread(f"{at}.topologySpreadConstraints", items(spec, "topologySpreadConstraints"))
    messages += _warn_of_duplicates(f"{at}.hostAliases", items(spec, "hostAliases"), "ip")
    secrets = items(spec, "imagePullSecrets")
    messages += _warn_of_duplicates(f"{at}.imagePullSecrets", secrets, "name")
    messages += [
        f'{at}.imagePullSecrets[{index}].name: invalid empty name ""'
        for index, secret in enumerate(secrets)
        if not text(secret, "name")
    ]
    messages += _containers(at, spec)
    messages += _ports(each_container(at, spec))
    if number(spec, "terminationGracePeriodSeconds") < 0:
        why = "must be >= 0; negative values are invalid and will be treated as 1"
        messages.append(f"{at}.terminationGracePeriodSeconds: {why}")
    for key in ("podAffinity", "podAntiAffinity"):
        messages += _pod_affinity(f"{at}.affinity.{key}", mapping(mapping(spec, "affinity"), key))
    return messages


def _spread(path: str, constraints: list[Any]) -> list[str]:
    return [
        f"{path}[{index}].labelSelector: {_NO_SELECTOR}"
        for index, constraint in enumerate(constraints)
        if constraint.get("labelSelector") is None
    ]


def _warn_of_duplicates(path: str, given: list[Any], key: str) -> list[str]:
    messages = []
    seen: set[str] = set()
    for index, item in enumerate(given):
        value = text(item, key)
        if value in seen:
            messages.append(f"{path}[{index}].{key}: duplicate {key} {format_value(value)}")
        seen.add(value)
    return messages


def _fractions(path: str, amounts: Mapping[str, Any]) -> list[str]:
    return [
        f"{path}[{name}]: fractional byte value {format_value(amount_text(amounts[name]))} is invalid, must be an integer"
        for name in ("memory", "ephemeral-storage")
        if name in amounts and amount(amounts[name]).denominator != 1
    ]


def _containers(path: str, spec: Mapping[str, Any]) -> list[str]:
    messages = []
    for at, container in each_container(path, spec):
        resources = mapping(container, "resources")
        for kind in ("limits", "requests"):
            messages += _fractions(f"{at}.resources.{kind}", mapping(resources, kind))
        messages += _warn_of_hidden_variables(f"{at}.env", items(container, "env"))
    return messages


def _warn_of_hidden_variables(path: str, variables: list[Any]) -> list[str]:
    """Variables that hide an earlier one of the same name."""
    messages = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = text(variable, "name"), text(variable, "value")
        reference = f"$({name})"
        extends = variable.get("valueFrom") is None and value != reference and reference in value
        if name in seen and not extends:
            why = f"hides previous definition of {format_value(name)}, which may be dropped when using apply"
            messages.append(f"{path}[{index}]: {why}")
        seen.add(name)
    return messages


def _ports(containers: list[tuple[str, Mapping[str, Any]]]) -> list[str]:
    messages = []
    seen: dict[tuple[int, str], list[tuple[str, Mapping[str, Any]]]] = {}
    for path, container in containers:
        for index, port in enumerate(items(container, "ports")):
            at = f"{path}.ports[{index}]"
            if text(port, "hostIP") and not number(port, "hostPort"):
                messages.append(f"{at}: hostIP set without hostPort: {_port_as_go(port)}")
            others = seen.setdefault((number(port, "containerPort"), text(port, "protocol")), [])
            if len(messages) < _PORT_WARNINGS_LIMIT:
                messages += [
                    f"{at}: {why} with {other}"
                    for other, other_port in others
                    if (why := _clash(port, other_port))
                ]
                others.append((at, port))
    return messages


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
    messages = [
        f"{path}.{REQUIRED}[{index}].labelSelector: {_NO_SELECTOR}"
        for index, term in enumerate(items(affinity, REQUIRED))
        if term.get("labelSelector") is None
    ]
    return messages + [
        f"{path}.{PREFERRED}[{index}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"
        for index, term in enumerate(items(affinity, PREFERRED))
        if mapping(term, "podAffinityTerm").get("labelSelector") is None
    ]
