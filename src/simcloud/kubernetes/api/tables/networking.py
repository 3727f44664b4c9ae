"""Services, Ingresses, policies and addresses."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, count, items, labels, name, part, selector, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table, wide

_SPEC = "core.v1.ServiceSpec"


@table(
    "",
    "Service",
    NAME,
    Column("Type", of=f"{_SPEC}.type"),
    Column("Cluster-IP", of=f"{_SPEC}.clusterIP"),
    Column("External-IP", of=f"{_SPEC}.externalIPs"),
    Column("Port(s)", of=f"{_SPEC}.ports"),
    AGE,
    wide("Selector", of=f"{_SPEC}.selector"),
)
def service(obj: Object, now_s: float) -> Cells:
    """A Service's row."""
    spec = part(obj, "spec")
    addresses = items(spec, "clusterIPs")
    return [
        name(obj),
        text(spec, "type"),
        addresses[0] if addresses else "<none>",
        _external(obj, spec),
        ",".join(map(_port, items(spec, "ports"))) or "<none>",
        age(obj, now_s),
        labels(spec.get("selector")),
    ]


def _external(obj: Object, spec: Object) -> str:
    external = items(spec, "externalIPs")
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or "<none>"
        case "LoadBalancer":
            return ",".join([*balancers(obj), *external]) or "<pending>"
        case "ExternalName":
            return text(spec, "externalName")
    return "<unknown>"


def balancers(obj: Object) -> list[str]:
    """The addresses a load balancer was given, in their order as text."""
    found = (
        ingress.get("ip") or ingress.get("hostname")
        for ingress in items(part(obj, "status", "loadBalancer"), "ingress")
    )
    return sorted({address for address in found if address})


def _port(port: Object) -> str:
    at_node = port.get("nodePort")
    return f"{count(port, 'port')}{f':{at_node}' if at_node else ''}/{text(port, 'protocol')}"


@table(
    "networking.k8s.io",
    "Ingress",
    NAME,
    Column("Class", "The name of the IngressClass resource that should be used for additional configuration"),
    Column("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
    Column("Address", "Address is a list containing ingress points for the load-balancer"),
    Column("Ports", "Ports of TLS configurations that open"),
    AGE,
)
def ingress(obj: Object, now_s: float) -> Cells:
    """An Ingress' row."""
    spec = part(obj, "spec")
    chosen = spec.get("ingressClassName")
    return [
        name(obj),
        "<none>" if chosen is None else chosen,
        _hosts(items(spec, "rules")),
        ",".join(balancers(obj)),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now_s),
    ]


def _hosts(rules: list[Object]) -> str:
    """Up to three hosts; the count of the rest is one of rules, as the genuine server counts them."""
    shown: list[str] = []
    for rule in rules:
        if len(shown) == 3:
            return f"{','.join(shown)} + {len(rules) - 3} more..."
        if rule.get("host"):
            shown.append(rule["host"])
    return ",".join(shown) or "*"


@table(
    "networking.k8s.io",
    "IngressClass",
    NAME,
    Column("Controller", "Controller that is responsible for handling this class"),
    Column("Parameters", "A reference to a resource with additional parameters"),
    AGE,
)
def ingress_class(obj: Object, now_s: float) -> Cells:
    """An IngressClass' row."""
    spec = part(obj, "spec")
    default = part(obj, "metadata", "annotations").get("ingressclass.kubernetes.io/is-default-class")
    parameters = "<none>"
    if spec.get("parameters") is not None:
        reference = part(spec, "parameters")
        group = reference.get("apiGroup")
        parameters = (
            f"{text(reference, 'kind')}{'' if group is None else f'.{group}'}/{text(reference, 'name')}"
        )
    return [
        name(obj) + (" (default)" if default == "true" else ""),
        text(spec, "controller"),
        parameters,
        age(obj, now_s),
    ]


@table(
    "networking.k8s.io",
    "NetworkPolicy",
    NAME,
    Column("Pod-Selector", of="networking.v1.NetworkPolicySpec.podSelector"),
    AGE,
)
def network_policy(obj: Object, now_s: float) -> Cells:
    """A NetworkPolicy's row."""
    return [name(obj), selector(part(obj, "spec", "podSelector")), age(obj, now_s)]
