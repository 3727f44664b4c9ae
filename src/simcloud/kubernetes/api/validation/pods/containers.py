"""The containers of a pod: what all need, and what only some may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
)
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required,
    check_required_choice,
    items,
    make_errors,
    mapping,
    number,
    one_of,
    text,
)
from simcloud.kubernetes.api.validation.names import dns1123_label, port_name, port_number
from simcloud.kubernetes.api.validation.pods import env, probes, resources, security, volumes
from simcloud.kubernetes.api.validation.pods.volumes import PULL_POLICIES

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL = (
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe"),
    *("readinessProbe", "startupProbe", "lifecycle"),
)


class Surroundings(Struct, frozen=True):
    """What of its pod a container's rules depend on."""

    volumes: Mapping[str, Any]
    grace_s: int | None


def of_pod(spec: Mapping[str, Any], volumes: Mapping[str, Any]) -> Surroundings:
    """The surroundings a pod gives its containers."""
    return Surroundings(volumes, spec.get("terminationGracePeriodSeconds"))


def containers(path: str, given: list[Any], around: Surroundings) -> Errors:
    """The containers that run a pod's work; at least one."""
    if not given:
        return [required(path)]
    errors: Errors = []
    seen: set[str] = set()
    for index, container in enumerate(given):
        at, name = f"{path}[{index}]", text(container, "name")
        errors += _common(at, container, around)
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        errors += _running(at, container, around) + _restarts(at, container)
    return errors + _host_ports(path, given)


def init_containers(path: str, given: list[Any], regular: list[Any], around: Surroundings) -> Errors:
    """The containers that run before; those that always restart stay beside the others."""
    errors: Errors = []
    seen = {text(container, "name") for container in regular}
    for index, container in enumerate(given):
        at, name = f"{path}[{index}]", text(container, "name")
        errors += _common(at, container, around)
        errors += _restarts(at, container)
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        elif name:
            seen.add(name)
        errors += _host_ports(path, [container])
        stays = text(container, "restartPolicy") == "Always"
        errors += _running(at, container, around) if stays else _not_for_init(at, container)
    return errors


def ephemeral_containers(path: str, spec: Mapping[str, Any], around: Surroundings) -> Errors:
    """The containers added to a running pod to look into it."""
    others = {
        text(regular, "name") for key in ("containers", "initContainers") for regular in items(spec, key)
    }
    seen = set(others)
    errors: Errors = []
    message = "cannot be set for an Ephemeral Container"
    for index, container in enumerate(items(spec, "ephemeralContainers")):
        at, name = f"{path}[{index}]", text(container, "name")
        errors += _common(at, container, around) + only_in_pods(at, container)
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        target = text(container, "targetContainerName")
        if target and target not in others:
            errors.append(not_found(f"{at}.targetContainerName", target))
        errors += [forbidden(f"{at}.{key}", message) for key in _NOT_EPHEMERAL if container.get(key)]
        for number_of, mount in enumerate(items(container, "volumeMounts")):
            errors += [
                forbidden(f"{at}.volumeMounts[{number_of}].{key}", message)
                for key in ("subPath", "subPathExpr")
                if text(mount, key)
            ]
    return errors


def only_in_pods(path: str, container: Mapping[str, Any]) -> Errors:
    """What a template may have and a pod may not."""
    image = text(container, "image")
    if image == image.strip():
        return []
    return [invalid(f"{path}.image", image, "must not have leading or trailing whitespace")]


def _common(path: str, container: Mapping[str, Any], around: Surroundings) -> Errors:
    errors = check_required(f"{path}.name", text(container, "name"), dns1123_label)
    if not text(container, "image"):
        errors.append(required(f"{path}.image"))
    policy = text(container, "terminationMessagePolicy")
    errors += check_required_choice(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES)
    errors += _ports(f"{path}.ports", items(container, "ports"))
    errors += env.variables(f"{path}.env", items(container, "env"))
    errors += env.sources(f"{path}.envFrom", items(container, "envFrom"))
    errors += volumes.mounts(f"{path}.volumeMounts", container, around.volumes)
    errors += check_required_choice(
        f"{path}.imagePullPolicy", text(container, "imagePullPolicy"), PULL_POLICIES
    )
    errors += resources.requirements(f"{path}.resources", mapping(container, "resources"))
    return errors + security.of_container(f"{path}.securityContext", container.get("securityContext"))


def _ports(path: str, ports: list[Any]) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        at, name = f"{path}[{index}]", text(port, "name")
        messages = port_name(name) if name else []
        errors += make_errors(f"{at}.name", name, messages)
        if name and not messages and name in names:
            errors.append(duplicate(f"{at}.name", name))
        names |= {name} if name and not messages else set()
        inside, outside = number(port, "containerPort"), number(port, "hostPort")
        if inside == 0:
            errors.append(required(f"{at}.containerPort"))
        else:
            errors += make_errors(f"{at}.containerPort", inside, port_number(inside))
        if outside:
            errors += make_errors(f"{at}.hostPort", outside, port_number(outside))
        errors += check_required_choice(f"{at}.protocol", text(port, "protocol"), _PROTOCOLS)
    return errors


def _host_ports(path: str, given: list[Any]) -> Errors:
    errors: Errors = []
    taken: set[str] = set()
    for index, container in enumerate(given):
        for number_of, port in enumerate(items(container, "ports")):
            if not number(port, "hostPort"):
                continue
            place = f"{text(port, 'protocol')}/{text(port, 'hostIP')}/{port['hostPort']}"
            if place in taken:
                errors.append(duplicate(f"{path}[{index}].ports[{number_of}].hostPort", place))
            taken.add(place)
    return errors


def _running(path: str, container: Mapping[str, Any], around: Surroundings) -> Errors:
    """Hooks and probes: only for containers that stay."""
    errors: Errors = []
    hooks = container.get("lifecycle")
    if hooks is not None:
        errors += probes.lifecycle(f"{path}.lifecycle", hooks, around.grace_s)
    errors += probes.liveness(f"{path}.livenessProbe", container.get("livenessProbe"), around.grace_s)
    errors += probes.readiness(f"{path}.readinessProbe", container.get("readinessProbe"), around.grace_s)
    return errors + probes.liveness(f"{path}.startupProbe", container.get("startupProbe"), around.grace_s)


def _not_for_init(path: str, container: Mapping[str, Any]) -> Errors:
    message = "may not be set for init containers without restartPolicy=Always"
    keys = ("lifecycle", *_PROBES)
    return [forbidden(f"{path}.{key}", message) for key in keys if container.get(key) is not None]


def _restarts(path: str, container: Mapping[str, Any]) -> Errors:
    policy = container.get("restartPolicy")
    return [] if policy is None else one_of(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
