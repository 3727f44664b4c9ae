"""The network as /proc/net shows it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from simcloud.machine.network import ONLY_IPV6, SocketInfo, host_tables
from simcloud.machine.proc.entries import Fact

if TYPE_CHECKING:
    from simcloud.machine.process import Container

STATES: Final = {"ESTAB": 1, "SYN-SENT": 2, "SYN-RECV": 3, "FIN-WAIT-1": 4, "FIN-WAIT-2": 5, "TIME-WAIT": 6, "UNCONN": 7,
                 "CLOSED": 7, "CLOSE-WAIT": 8, "LAST-ACK": 9, "LISTEN": 10}  # fmt: skip
SOCKET_TITLES: Final = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
)


def _hexadecimal(endpoint: tuple[str, int], newer: bool) -> str:
    """An address with its bytes in the order of the machine, and the port."""
    address, port = endpoint
    packed = ip_address("::" if address == ONLY_IPV6 else address).packed
    if newer and len(packed) == 4:
        packed = ip_address(f"::ffff:{address}").packed
    words = [packed[at : at + 4][::-1].hex().upper() for at in range(0, len(packed), 4)]
    return f"{''.join(words)}:{port:04X}"


def _socket_line(number: int, socket: SocketInfo) -> str:
    newer = socket.is_ipv6
    is_listener = socket.state == "LISTEN"
    queues = f"{0 if is_listener else socket.send_queue:08X}:{socket.receive_queue:08X}"
    line = (
        f"{number:4d}: {_hexadecimal(socket.local, newer)} {_hexadecimal(socket.remote, newer)} {STATES.get(socket.state, 7):02X} "
        f"{queues} 00:00000000 00000000     0        0 {20_000 + sum(socket.local[1:]) + number} 1 0000000000000000 100 0 0 10 0"
    )
    return f"{line:<149}\n"


def _sockets(transport: str, newer: bool = False) -> Fact:
    titles = SOCKET_TITLES.replace("address rem_address  ", f"address{' ' * 25}remote_address{' ' * 24}")

    def make(container: Container) -> str:
        found = container.namespace.sockets()
        sockets = [each for each in found if each.transport == transport and each.is_ipv6 is newer]
        head = f"{titles}\n" if newer else f"{SOCKET_TITLES:<149}\n"
        return head + "".join(map(_socket_line, range(len(sockets)), sockets))

    return make


def _devices(container: Container) -> str:
    text = (
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|"
        "bytes    packets errs drop fifo colls carrier compressed\n"
    )
    for i in container.namespace.interfaces():
        text += (
            f"{i.name:>6}: {i.received_bytes:7d} {i.received_packets:7d} {i.receive_errors:4d} {i.receive_dropped:4d}"
            f"    0     0          0         0 {i.sent_bytes:8d} {i.sent_packets:7d}    0 {i.send_dropped:4d}"
            "    0     0       0          0\n"
        )
    return text


def _routes(container: Container) -> str:
    text = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
    lines = [f"{text:<127}\n"]
    for route in host_tables.routes_of(container.namespace):
        flags = 1 + 2 * bool(route.gateway) + 4 * (route.target.prefixlen == 32)
        ends = [str(route.target.network_address), route.gateway or "0.0.0.0", str(route.target.netmask)]
        target, gateway, mask = (_hexadecimal((end, 0), False).partition(":")[0] for end in ends)
        line = f"{route.device}\t{target}\t{gateway}\t{flags:04X}\t0\t0\t0\t{mask}\t0\t0\t0"
        lines.append(f"{line:<127}\n")
    return "".join(lines)


def _neighbours(container: Container) -> str:
    text = "IP address       HW type     Flags       HW address            Mask     Device\n"
    for each in host_tables.neighbours_of(container.namespace):
        text += f"{each.address:<17}0x1         0x2         {each.hardware}     *        {each.device}\n"
    return text


def _socket_counts(container: Container) -> str:
    """Sockets in use are those of the namespace; what is allocated, and memory, is counted for the whole kernel."""
    sockets = container.namespace.sockets()
    namespaces = {each.namespace: None for each in container.machine.containers.values()}
    states = [(each.transport, each.state) for namespace in namespaces for each in namespace.sockets()]
    allocated = sum(transport == "tcp" and state != "TIME-WAIT" for transport, state in states)
    datagrams = sum(transport == "udp" for transport, _ in states)
    tcp = [socket for socket in sockets if socket.transport == "tcp"]
    waiting = sum(socket.state == "TIME-WAIT" for socket in tcp)
    udp, open_now = len(sockets) - len(tcp), len(tcp) - waiting
    return (
        f"sockets: used {udp + open_now + 3 * len(container.visible_programs())}\n"
        f"TCP: inuse {open_now} orphan 0 tw {waiting} alloc {allocated + allocated // 16} mem {allocated // 3}\n"
        f"UDP: inuse {udp} mem {2 * datagrams}\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n"
    )


def _two_lines(name: str, counts: dict[str, int]) -> str:
    return f"{name}: {' '.join(counts)}\n{name}: {' '.join(str(count) for count in counts.values())}\n"


def _protocol_counts(container: Container) -> str:
    """IP, TCP and UDP as /proc/net/snmp has them, from the counters of the interfaces."""
    namespace = container.namespace
    interfaces = namespace.interfaces()
    received = sum(each.received_packets for each in interfaces)
    sent = sum(each.sent_packets for each in interfaces)
    dropped = sum(each.receive_dropped for each in interfaces)
    sockets = namespace.sockets()
    established = sum(socket.state == "ESTAB" for socket in sockets)
    opened, accepted = namespace.count_openings()
    forwarded = sum(each.received_packets for each in interfaces if each.netns)
    ip = {"Forwarding": 1, "DefaultTTL": 64, "InReceives": received, "InHdrErrors": 0, "InAddrErrors": 0,
          "ForwDatagrams": forwarded, "InUnknownProtos": 0, "InDiscards": 0, "InDelivers": received - dropped - forwarded,
          "OutRequests": sent, "OutDiscards": 0, "OutNoRoutes": 0, "ReasmTimeout": 0, "ReasmReqds": 0,
          "ReasmOKs": 0, "ReasmFails": 0, "FragOKs": 0, "FragFails": 0, "FragCreates": 0}  # fmt: skip
    tcp = {"RtoAlgorithm": 1, "RtoMin": 200, "RtoMax": 120_000, "MaxConn": -1, "ActiveOpens": opened,
           "PassiveOpens": accepted, "AttemptFails": 0, "EstabResets": 0, "CurrEstab": established,
           "InSegs": received, "OutSegs": sent, "RetransSegs": sum(each.retransmits for each in interfaces),
           "InErrs": sum(each.receive_errors for each in interfaces), "OutRsts": 0, "InCsumErrors": 0}  # fmt: skip
    udp = {"InDatagrams": 0, "NoPorts": 0, "InErrors": 0, "OutDatagrams": 0, "RcvbufErrors": 0,
           "SndbufErrors": 0, "InCsumErrors": 0, "IgnoredMulti": 0, "MemErrors": 0}  # fmt: skip
    return _two_lines("Ip", ip) + _two_lines("Tcp", tcp) + _two_lines("Udp", udp)


def _count_octets(container: Container) -> str:
    interfaces = container.namespace.interfaces()
    repeated = sum(each.retransmits for each in interfaces)
    tcp = {"SyncookiesSent": 0, "SyncookiesRecv": 0, "SyncookiesFailed": 0, "TW": 0, "ListenOverflows": 0,
           "ListenDrops": 0, "TCPLostRetransmit": 0, "TCPTimeouts": repeated, "TCPSynRetrans": 0}  # fmt: skip
    ip = {"InOctets": sum(each.received_bytes for each in interfaces),
          "OutOctets": sum(each.sent_bytes for each in interfaces)}  # fmt: skip
    return _two_lines("TcpExt", tcp) + _two_lines("IpExt", ip)


def _count_tracked(container: Container) -> str:
    return f"{len(host_tables.flows_on(container.namespace.network, container.machine.name))}\n"


def _most_tracked(_container: Container) -> str:
    """The kernel's default for more than 4 GiB of memory, which kind's kube-proxy keeps."""
    return "262144\n"


NETWORK: Final[dict[str, Fact]] = {
    "arp": _neighbours,
    "dev": _devices,
    "netstat": _count_octets,
    "route": _routes,
    "snmp": _protocol_counts,
    "sockstat": _socket_counts,
    "tcp": _sockets("tcp"),
    "tcp6": _sockets("tcp", newer=True),
    "udp": _sockets("udp"),
    "udp6": _sockets("udp", newer=True),
}
TRACKING: Final[dict[str, Fact]] = {
    "net/netfilter/nf_conntrack_buckets": _most_tracked,
    "net/netfilter/nf_conntrack_count": _count_tracked,
    "net/netfilter/nf_conntrack_max": _most_tracked,
    "net/netfilter/nf_conntrack_tcp_timeout_close_wait": lambda _: "3600\n",
    "net/netfilter/nf_conntrack_tcp_timeout_established": lambda _: "86400\n",
    "net/nf_conntrack_max": _most_tracked,
}
