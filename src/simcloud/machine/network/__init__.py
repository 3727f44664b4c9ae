"""The simulated network: machines, links, namespaces with addresses and ports, connections, datagrams."""

from simcloud.machine.network.connection import Connection
from simcloud.machine.network.datagram import Datagram, DatagramSocket
from simcloud.machine.network.errors import (
    AddressInUse,
    AddressNotAvailable,
    BrokenPipe,
    Closed,
    ConnectionRefused,
    ConnectionReset,
    ConnectionTimedOut,
    ConnectTimedOut,
    HostUnreachable,
    InvalidArgument,
    NameNotFound,
    NetworkError,
    NetworkUnreachable,
    NoBufferSpace,
    NotConnected,
    ProtocolMismatch,
    ResolverFailure,
)
from simcloud.machine.network.fabric import Network
from simcloud.machine.network.link import Impairment, Link, Nic
from simcloud.machine.network.listener import Listener
from simcloud.machine.network.namespace import Namespace, Resolver
from simcloud.machine.network.path import Interface, Router
from simcloud.machine.network.routing import (
    DROP,
    REFUSE,
    UNREACHABLE,
    Endpoint,
    HostsResolver,
    PlainRouter,
    Route,
    Verdict,
    is_address,
    is_loopback,
)
from simcloud.machine.network.tables import InterfaceInfo, SocketInfo

__all__ = [
    "DROP",
    "REFUSE",
    "UNREACHABLE",
    "AddressInUse",
    "AddressNotAvailable",
    "BrokenPipe",
    "Closed",
    "ConnectTimedOut",
    "Connection",
    "ConnectionRefused",
    "ConnectionReset",
    "ConnectionTimedOut",
    "Datagram",
    "DatagramSocket",
    "Endpoint",
    "HostUnreachable",
    "HostsResolver",
    "Impairment",
    "Interface",
    "InterfaceInfo",
    "InvalidArgument",
    "Link",
    "Listener",
    "NameNotFound",
    "Namespace",
    "Network",
    "NetworkError",
    "NetworkUnreachable",
    "Nic",
    "NoBufferSpace",
    "NotConnected",
    "PlainRouter",
    "ProtocolMismatch",
    "Resolver",
    "ResolverFailure",
    "Route",
    "Router",
    "SocketInfo",
    "Verdict",
    "is_address",
    "is_loopback",
]
