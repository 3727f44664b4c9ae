"""Ports of ``kubectl port-forward``: ``8080:80``, ``:80``, ``8080:http``, and target ports of Services."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from simcloud.kubectl.errors import KubectlError
from simcloud.kubernetes.api import Object

LAST_PORT: Final = 65_535


class PortPair(Struct):
    """A port of this machine (0: any free one) and one of the pod."""

    local: int
    remote: int


def split_port(word: str) -> tuple[str, str]:
    """Local and remote port; a word of more than two parts means only its first, as with the genuine tool."""
    parts = word.split(":")
    return (parts[0], parts[1]) if len(parts) == 2 else (parts[0], parts[0])


def number(word: str) -> int | None:
    """The number that a word is."""
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,18}", word) else None


def pod_ports(words: list[str], pod: Object) -> list[str]:
    """The words with names of ports replaced by their numbers."""
    declared = [port for container in pod["spec"]["containers"] for port in container.get("ports") or ()]
    _refuse_udp(words, declared, "containerPort", lambda name: container_port(pod, name))
    found = []
    for word in words:
        local, remote = split_port(word)
        if not remote:
            raise KubectlError("remote port cannot be empty")
        port = remote if number(remote) is not None else str(container_port(pod, remote))
        found.append(f"{local}:{port}" if local != remote else port)
    return found


def service_ports(words: list[str], service: Object, pod: Object) -> list[str]:
    """The words with a Service's ports replaced by those of the pod."""
    _refuse_udp(words, service["spec"].get("ports") or [], "port", lambda name: _service_port(service, name))
    found = []
    for word in words:
        local, remote = split_port(word)
        port = number(remote)
        if port is None:
            port = _service_port(service, remote)
            local = str(port) if local == remote else local
        behind = str(_behind(service, pod, port))
        found.append(f"{local}:{behind}" if local != behind else behind)
    return found


def container_port(pod: Object, name: str) -> int:
    """The port that a container gave a name to."""
    sidecars = [
        entry for entry in pod["spec"].get("initContainers") or () if entry.get("restartPolicy") == "Always"
    ]
    for container in [*pod["spec"]["containers"], *sidecars]:
        for port in container.get("ports") or ():
            if port.get("name", "") == name and name:
                return int(port["containerPort"])
    raise KubectlError(f"Pod '{pod['metadata']['name']}' does not have a named port '{name}'")


def read_pairs(words: list[str]) -> list[PortPair]:
    """Numbers of ports, as words give them."""
    found = []
    for word in words:
        parts = word.split(":")
        if len(parts) > 2:
            raise KubectlError(f"invalid port format '{word}'")
        local = _port("local", (parts[0] or "0") if len(parts) == 2 else parts[0])
        remote = _port("remote", parts[-1])
        if remote == 0:
            raise KubectlError("remote port must be > 0")
        found.append(PortPair(local, remote))
    return found


def _port(which: str, text: str) -> int:
    problem = ""
    if not re.fullmatch(r"[0-9]+", text):
        problem = "invalid syntax"
    elif len(text.lstrip("0")) > len(str(LAST_PORT)) or int(text) > LAST_PORT:
        problem = "value out of range"
    if problem:
        raise KubectlError(
            f"error parsing {which} port '{text}': strconv.ParseUint: parsing \"{text}\": {problem}"
        )
    return int(text)


def _service_port(service: Object, name: str) -> int:
    for port in service["spec"].get("ports") or ():
        if port.get("name", "") == name:
            return int(port["port"])
    raise KubectlError(f"Service '{service['metadata']['name']}' does not have a named port '{name}'")


def _behind(service: Object, pod: Object, port: int) -> int:
    """The pod's port that a Service's port leads to."""
    for entry in service["spec"].get("ports") or ():
        if entry["port"] != port:
            continue
        target = entry.get("targetPort") or port
        if service["spec"].get("clusterIP") == "None":
            return port
        return target if isinstance(target, int) else container_port(pod, target)
    raise KubectlError(f"Service {service['metadata']['name']} does not have a service port {port}")


def _refuse_udp(words: list[str], declared: list[Object], field: str, by_name: Callable[[str], int]) -> None:
    """Only TCP can be forwarded."""
    tcp = {port[field] for port in declared if port.get("protocol", "TCP") == "TCP"}
    udp = {port[field] for port in declared if port.get("protocol") == "UDP"}
    for word in words:
        _, remote = split_port(word)
        port = number(remote)
        if (by_name(remote) if port is None else port) in udp - tcp:
            raise KubectlError(f"UDP protocol is not supported for {remote}")
