"""The host of the nodes, at the first address of their network, as with a container engine.

It refuses connections and answers DNS queries: no name outside the cluster exists.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import Datagram, Network, dns

NAME: Final = "gateway"
ADDRESS: Final = "172.18.0.1"
DNS_PORT: Final = 53


def install_gateway(network: Network) -> None:
    """Put the gateway into the nodes' network, unless the world has one."""
    if network.find(ADDRESS) is not None:
        return
    network.add_machine(NAME)
    socket = network.namespace(NAME, ADDRESS, NAME).bind(DNS_PORT, dns.DNS)

    def answer(datagram: Datagram) -> None:
        if isinstance(datagram.message, dns.Question):
            reply = dns.Reply(datagram.message, dns.NXDOMAIN)
            socket.send_to(*datagram.source, reply, reply.size_bytes)

    socket.on_datagram = answer
