"""``kubectl create service`` and ``kubectl create ingress``."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_creation import create_built, the_name
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.validation import dns1123_subdomain, port_number

group("create service", "Create a service of one of the types", aliases=("svc",), silent=True)

RULE: Final = re.compile(
    r"^(?P<host>[\w\*\-\.]*)(?P<path>/.*)=(?P<service>[\w\-]+):(?P<port>[\w\-]+)(?P<tls>,tls(=[\w\-]+)?)?$"
)


@command(
    "create service clusterip",
    "Create a service with an address inside the cluster",
    examples=("kubectl create service clusterip web --tcp=80:8080",),
)
async def cluster_ip(kubectl: Kubectl) -> None:
    """Make a Service of type ClusterIP."""
    await _service(kubectl, "ClusterIP")


@command(
    "create service nodeport",
    "Create a service with a port on every node",
    examples=("kubectl create service nodeport web --tcp=80 --node-port=30080",),
)
async def node_port(kubectl: Kubectl) -> None:
    """Make a Service of type NodePort."""
    await _service(kubectl, "NodePort")


@command(
    "create service loadbalancer",
    "Create a service with a load balancer before it",
    examples=("kubectl create service loadbalancer web --tcp=80",),
)
async def load_balancer(kubectl: Kubectl) -> None:
    """Make a Service of type LoadBalancer."""
    await _service(kubectl, "LoadBalancer")


@command(
    "create service externalname",
    "Create a service that is another name for a host",
    examples=("kubectl create service externalname db --external-name=db.example.com",),
    required=("external-name",),
)
async def external_name(kubectl: Kubectl) -> None:
    """Make a Service of type ExternalName."""
    await _service(kubectl, "ExternalName")


async def _service(kubectl: Kubectl, kind: str) -> None:
    flags, name = kubectl.flags, the_name(kubectl)
    address, outside = flags.get("clusterip", ""), flags.get("external-name", "")
    if kind == "ExternalName" and dns1123_subdomain(outside):
        raise KubectlError(f"invalid service external name {outside}")
    if kind != "ExternalName" and address != "None" and not flags["tcp"]:
        raise KubectlError("at least one tcp port specifier must be provided")
    spec: Object = {
        "type": kind,
        "selector": {"app": name},
        "ports": [_port(said, flags.get("node-port", 0)) for said in flags["tcp"]],
        "clusterIP": address,
        "externalName": outside,
    }
    obj = {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {key: value for key, value in spec.items() if value},
    }
    await create_built(kubectl, "services", obj, f"failed to create {kind} service:")


def _port(said: str, on_node: int) -> Object:
    """``80``, ``80:8080`` or ``80:http``."""
    parts = said.split(":")
    number = _number(parts[0])
    target: Any = number
    if len(parts) > 1:
        target = int(parts[1]) if re.fullmatch(r"[+-]?\d+", parts[1]) else parts[1]
        if isinstance(target, int) and (faults := port_number(target)):
            raise KubectlError(",".join(faults))
    port = {
        "name": said.replace(":", "-"),
        "port": number,
        "targetPort": target,
        "protocol": "TCP",
    }
    return {**port, "nodePort": on_node} if on_node else port


def _number(text: str) -> int:
    if not re.fullmatch(r"\d+", text):
        raise KubectlError(f'strconv.ParseUint: parsing "{text}": invalid syntax')
    number = int(text)
    if number >= 1 << 32:
        raise KubectlError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return number


@command(
    "create ingress",
    "Create an ingress with rules for hosts and paths",
    examples=(
        'kubectl create ingress web --rule="shop.example.com/*=web:80"',
        'kubectl create ingress web --rule="shop.example.com/pay=pay:8080,tls=cert"',
        "kubectl create ingress all --default-backend=web:80",
    ),
    aliases=("ing",),
)
async def ingress(kubectl: Kubectl) -> None:
    """Make an Ingress."""
    flags, name = kubectl.flags, the_name(kubectl)
    rules, backend = flags["rule"], flags["default-backend"]
    if not rules and not backend:
        raise KubectlError(
            "not enough information provided: every ingress has to either specify a default-backend (which catches "
            "all traffic) or a list of rules (which catch specific paths)"
        )
    for rule in rules:
        if RULE.match(rule) is None:
            raise KubectlError(
                f"rule {rule} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
    if backend and len(backend.split(":")) != 2:
        raise KubectlError("default-backend should be in format servicename:serviceport")
    metadata: Object = {"name": name}
    annotations = dict(_annotation(said) for said in flags["annotation"])
    if annotations:
        metadata["annotations"] = annotations
    spec: Object = {**_rules(rules)}
    if flags["class"]:
        spec["ingressClassName"] = flags["class"]
    if backend:
        spec["defaultBackend"] = _backend(*backend.split(":"))
    await create_built(
        kubectl,
        "ingresses.networking.k8s.io",
        {"metadata": metadata, "spec": spec},
        "failed to create ingress:",
    )


def _annotation(said: str) -> tuple[str, str]:
    key, equals, value = said.partition("=")
    if not equals:
        raise KubectlError(f"annotation {said} is invalid and should be in format key=[value]")
    return key, value


def _rules(rules: list[str]) -> Object:
    """Rules by their hosts, and the certificates that they ask for."""
    paths: dict[str, list[Object]] = {}
    certificates: dict[str, list[str]] = {}
    for rule in rules:
        found = RULE.match(rule)
        assert found is not None
        host, path = found["host"], found["path"]
        prefix = path.endswith("*")
        paths.setdefault(host, []).append(
            {
                "path": path[:-1] if prefix else path,
                "pathType": "Prefix" if prefix else "Exact",
                "backend": _backend(found["service"], found["port"]),
            }
        )
        if found["tls"]:
            hosts = certificates.setdefault(found["tls"].partition("=")[2], [])
            if host and host not in hosts:
                hosts.append(host)
    spec: Object = {}
    if paths:
        spec["rules"] = [
            {**({"host": host} if host else {}), "http": {"paths": listed}} for host, listed in paths.items()
        ]
    if certificates:
        spec["tls"] = [
            {**({"hosts": hosts} if hosts else {}), **({"secretName": secret} if secret else {})}
            for secret, hosts in certificates.items()
        ]
    return spec


def _backend(service: str, port: str) -> Object:
    by = {"number": int(port)} if port.isdecimal() else {"name": port}
    return {"service": {"name": service, "port": by}}
