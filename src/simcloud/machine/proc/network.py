"""The network as /proc/net shows it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from simcloud.machine.network import SocketInfo
from simcloud.machine.proc.entries import Fact

if TYPE_CHECKING:
    from simcloud.machine.process import Container

STATES: Final = {"ESTAB": 1, "SYN-SENT": 2, "SYN-RECV": 3, "FIN-WAIT-1": 4, "FIN-WAIT-2": 5, "TIME-WAIT": 6, "UNCONN": 7,
                 "CLOSED": 7, "CLOSE-WAIT": 8, "LAST-ACK": 9, "LISTEN": 10}  # fmt: skip
SOCKET_TITLES: Final = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
)


def _hexadecimal(endpoint: tuple[str, int]) -> str:
    """An IPv4 address with its bytes in the order of the machine, and the port."""
    address, port = endpoint
    packed = ip_address(address).packed
    return f"{packed[-4:][::-1].hex().upper()}:{port:04X}"


def _socket_line(number: int, socket: SocketInfo) -> str:
    is_listener = socket.state == "LISTEN"
    queues = f"{0 if is_listener else socket.send_queue:08X}:{socket.receive_queue:08X}"
    line = (
        f"{number:4d}: {_hexadecimal(socket.local)} {_hexadecimal(socket.remote)} {STATES.get(socket.state, 7):02X} "
        f"{queues} 00:00000000 00000000     0        0 {number + 1} 1 0000000000000000 100 0 0 10 0"
    )
    return f"{line:<149}\n"


def _sockets(transport: str) -> Fact:
    def make(container: Container) -> str:
        sockets = [each for each in container.namespace.sockets() if each.transport == transport]
        return f"{SOCKET_TITLES:<149}\n" + "".join(map(_socket_line, range(len(sockets)), sockets))

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


NETWORK: Final[dict[str, Fact]] = {"dev": _devices, "tcp": _sockets("tcp"), "udp": _sockets("udp")}
