"""The chains that kube-proxy, Docker, the kubelet and kindnet keep on a node, as ``iptables-save`` lists them.

They are computed from the node's table of Services when a tool asks for them, so they cost nothing otherwise. The table
of a node whose kube-proxy has stopped is the last one that it knew.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.resources import files
from typing import Final
from zlib import crc32

from simcloud.kubernetes.network.rules import ServicePort
from simcloud.kubernetes.network.services import Table
from simcloud.machine.network import EPHEMERAL_PORTS, Route, RuleLine

POD_RANGE: Final = "10.244.0.0/16"
SYN_BYTES: Final = 60
FORWARDING: Final = ("-j KUBE-FORWARD", "RELATED,ESTABLISHED -j ACCEPT")
REFUSED: Final = "-j REJECT --reject-with icmp-port-unreachable"
COUNTED: Final = "-m nfacct --nfacct-name  localhost_nps_accepted_pkts"
"""Counts what uses node ports by the loopback interface, for a metric of kube-proxy."""
LABELS: Final = {"external": "external IP", "balancer": "loadbalancer IP", "cluster": "cluster IP"}


def list_rules(
    table: Table | None, node: str, forwarded: tuple[int, int] = (0, 0)
) -> dict[str, list[RuleLine]]:
    """The rules of a node by table; of one where kube-proxy never ran, only those of the others.

    ``forwarded`` are the packets and bytes that the node passed on to pods.
    """
    tables: dict[str, list[RuleLine]] = {"mangle": [], "filter": [], "nat": []}
    ports = {transport: find_dns_port(node, transport) for transport in ("tcp", "udp")}
    lines = [line.split(" ", 3) for line in _read_fixed_rules().format(**ports).splitlines()]
    for writer in ("proxy", "docker", "kubelet") if table is not None else ("docker", "kubelet"):
        for author, name, chain, *spec in lines:
            if author == writer:
                counts = forwarded if spec and spec[0].endswith(FORWARDING) else (0, 0)
                tables[name].append(RuleLine(chain, "".join(spec), *counts))
    if table is not None:
        seen: dict[tuple[str, str], None] = {}
        for name, line in _service_rules(table, node):
            if (line.chain, line.spec) not in seen:  # endpoints may be in two chains of a Service
                seen[line.chain, line.spec] = None
                tables[name].append(line)
        tables["nat"] += (RuleLine(line[2], line[3]) for line in lines if line[0] == "last")
    return tables


def find_dns_port(node: str, transport: str) -> int:
    """The port of a node on which Docker's name server listens; its rules lead there what is sent to the gateway's port 53."""
    return EPHEMERAL_PORTS[crc32(f"{node} dockerd {transport}".encode()) % len(EPHEMERAL_PORTS)]


def _read_fixed_rules() -> str:
    """Rules that do not depend on Services: the program that writes each, its table, chain and words."""
    return files("simcloud.kubernetes.network").joinpath("node_rules.txt").read_text()


def _service_rules(table: Table, node: str) -> Iterator[tuple[str, RuleLine]]:
    exposed = [(port, transport) for (_, transport), port in table.node_ports.items()]
    exposed += [
        (port, transport) for (_, _, transport), (kind, port) in table.fronts.items() if kind != "cluster"
    ]
    for (address, number, transport), (kind, port) in table.fronts.items():
        to_port = f"-m {transport} --dport {number}"
        name = _name_port(port)
        front = f'-d {address}/32 -p {transport} -m comment --comment "{name}'
        uses = port.uses.get(node, 0) if kind == "cluster" else 0
        if not port.usable:
            chain = "KUBE-SERVICES" if kind == "cluster" else "KUBE-EXTERNAL-SERVICES"
            yield "filter", _rule(chain, f'{front} has no endpoints" {to_port} {REFUSED}', uses)
            continue
        svc = _chain("SVC", port, transport)
        to = (_chain("SVL", port, transport) if port.internal_local else svc) if kind == "cluster" else ""
        to = to or _chain("EXT", port, transport)
        yield "nat", _rule("KUBE-SERVICES", f'{front} {LABELS[kind]}" {to_port} -j {to}', uses)
        if kind == "cluster":
            masquerade = f'! -s {POD_RANGE} {front} cluster IP" {to_port} -j KUBE-MARK-MASQ'
            yield "nat", _rule(to, masquerade)
            uses += port.node_port_uses.get(node, 0)
            if to == svc or any(port is other for other, _ in exposed):
                yield from _balance(svc, port, transport, port.usable, uses)
            if port.internal_local or (port.external_local and any(port is other for other, _ in exposed)):
                yield from _balance(
                    _chain("SVL", port, transport), port, transport, port.by_node.get(node, ()), uses
                )
    for (number, transport), port in table.node_ports.items():
        yield from _node_port(port, transport, number, node)
    for port, transport in exposed:
        if port.usable:
            yield from _external(port, transport, port.node_port_uses.get(node, 0))


def _node_port(port: ServicePort, transport: str, number: int, node: str) -> Iterator[tuple[str, RuleLine]]:
    uses, name = port.node_port_uses.get(node, 0), _name_port(port)
    to_port = f"-m {transport} --dport {number}"
    missing = f'-p {transport} -m comment --comment "{name} has no'
    if not port.usable:
        spec = f'{missing} endpoints" -m addrtype --dst-type LOCAL {to_port} {REFUSED}'
        yield "filter", _rule("KUBE-EXTERNAL-SERVICES", spec, uses)
        return
    if port.external_local and not port.by_node.get(node):
        spec = f'{missing} local endpoints" -m addrtype --dst-type LOCAL {to_port} -j DROP'
        yield "filter", _rule("KUBE-EXTERNAL-SERVICES", spec, uses)
    spec, to = f'-p {transport} -m comment --comment "{name}" {to_port}', _chain("EXT", port, transport)
    yield "nat", _rule("KUBE-NODEPORTS", f"-d 127.0.0.0/8 {spec} {COUNTED} -j {to}")
    yield "nat", _rule("KUBE-NODEPORTS", f"{spec} -j {to}", uses)


def _external(port: ServicePort, transport: str, uses: int) -> Iterator[tuple[str, RuleLine]]:
    """The chain for what comes from outside."""
    chain, svc = _chain("EXT", port, transport), _chain("SVC", port, transport)
    about = f'traffic for {_name_port(port)} external destinations"'
    if not port.external_local:
        yield "nat", _rule(chain, f'-m comment --comment "masquerade {about} -j KUBE-MARK-MASQ', uses)
        yield "nat", _rule(chain, f"-j {svc}", uses)
        return
    local = "-m addrtype --src-type LOCAL"
    yield "nat", _rule(chain, f'-s {POD_RANGE} -m comment --comment "pod {about} -j {svc}')
    yield "nat", _rule(chain, f'-m comment --comment "masquerade LOCAL {about} {local} -j KUBE-MARK-MASQ')
    yield "nat", _rule(chain, f'-m comment --comment "route LOCAL {about} {local} -j {svc}')
    yield "nat", _rule(chain, f"-j {_chain('SVL', port, transport)}", uses)


def _balance(
    chain: str, port: ServicePort, transport: str, ends: Iterable[Route], uses: int
) -> Iterator[tuple[str, RuleLine]]:
    """The choice among endpoints, and the chain of each."""
    routes, name = list(ends), _name_port(port)
    comments = [f'-m comment --comment "{name} -> {route.address}:{route.port}"' for route in routes]
    chains = [_chain("SEP", port, transport, f"{route.address}:{route.port}") for route in routes]
    if port.affinity_s is not None:
        for comment, sep in zip(comments, chains, strict=True):
            seen = f"--rcheck --seconds {port.affinity_s:.0f} --reap --name {sep} --mask 255.255.255.255 --rsource"
            yield "nat", _rule(chain, f"{comment} -m recent {seen} -j {sep}")
    for index, (comment, sep) in enumerate(zip(comments, chains, strict=True)):
        left = len(routes) - index
        chance = f" -m statistic --mode random --probability {1 / left:.11f}" if left > 1 else ""
        yield "nat", _rule(chain, f"{comment}{chance} -j {sep}", _share(uses, len(routes), index))
    for index, (route, sep) in enumerate(zip(routes, chains, strict=True)):
        yield "nat", _rule(sep, f'-s {route.address}/32 -m comment --comment "{name}" -j KUBE-MARK-MASQ')
        recent = (
            f" -m recent --set --name {sep} --mask 255.255.255.255 --rsource"
            if port.affinity_s is not None
            else ""
        )
        spec = f'-p {transport} -m comment --comment "{name}"{recent} -m {transport} -j DNAT'
        to = f"--to-destination {route.address}:{route.port}"
        yield "nat", _rule(sep, f"{spec} {to}", _share(uses, len(routes), index))


def _rule(chain: str, spec: str, packets: int = 0) -> RuleLine:
    return RuleLine(chain, spec, packets, packets * SYN_BYTES)


def _share(uses: int, ends: int, index: int) -> int:
    return uses // ends + (index < uses % ends)


def _name_port(port: ServicePort) -> str:
    name = f"{port.namespace}/{port.service}"
    return f"{name}:{port.port_name}" if port.port_name else name


def _chain(kind: str, port: ServicePort, transport: str, end: str = "") -> str:
    """The name of a chain: kube-proxy hashes what it is about."""
    digest = sha256(f"{_name_port(port)}{transport}{end}".encode()).digest()
    return f"KUBE-{kind}-{b32encode(digest).decode()[:16]}"
