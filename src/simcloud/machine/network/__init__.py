"""The simulated network: machines, links, namespaces with addresses and ports, connections, datagrams."""

from simcloud.exports import export_lazily
from simcloud.machine.network.connection import Connection as Connection
from simcloud.machine.network.datagram import Datagram as Datagram, DatagramSocket as DatagramSocket
from simcloud.machine.network.errors import (
    AddressInUse as AddressInUse,
    AddressNotAvailable as AddressNotAvailable,
    BrokenPipe as BrokenPipe,
    Closed as Closed,
    ConnectionRefused as ConnectionRefused,
    ConnectionReset as ConnectionReset,
    ConnectionTimedOut as ConnectionTimedOut,
    ConnectTimedOut as ConnectTimedOut,
    HostUnreachable as HostUnreachable,
    InvalidArgument as InvalidArgument,
    NameNotFound as NameNotFound,
    NetworkError as NetworkError,
    NetworkUnreachable as NetworkUnreachable,
    NoBufferSpace as NoBufferSpace,
    NotConnected as NotConnected,
    ProtocolMismatch as ProtocolMismatch,
    ResolverFailure as ResolverFailure,
)
from simcloud.machine.network.fabric import Network as Network
from simcloud.machine.network.link import Impairment as Impairment, Link as Link, Nic as Nic
from simcloud.machine.network.listener import Listener as Listener
from simcloud.machine.network.namespace import Namespace as Namespace, Resolver as Resolver
from simcloud.machine.network.path import Interface as Interface, Router as Router, Sighting as Sighting
from simcloud.machine.network.ports import EPHEMERAL_PORTS as EPHEMERAL_PORTS
from simcloud.machine.network.routing import (
    DROP as DROP,
    DUAL as DUAL,
    ONLY_IPV6 as ONLY_IPV6,
    REFUSE as REFUSE,
    UNREACHABLE as UNREACHABLE,
    WILDCARDS as WILDCARDS,
    Endpoint as Endpoint,
    HostsResolver as HostsResolver,
    PlainRouter as PlainRouter,
    Route as Route,
    Verdict as Verdict,
    is_address as is_address,
    is_loopback as is_loopback,
)
from simcloud.machine.network.tables import (
    NODE_PORT as NODE_PORT,
    InterfaceInfo as InterfaceInfo,
    NodeNetworking as NodeNetworking,
    RuleLine as RuleLine,
    SocketInfo as SocketInfo,
    gateway_of as gateway_of,
    is_host as is_host,
    outside_interface as outside_interface,
    pair_name as pair_name,
    prefix_length_of as prefix_length_of,
)

with export_lazily(globals()):
    from simcloud.machine.network import (
        dns as dns,
        host_tables as host_tables,
        packet_filter as packet_filter,
        qdisc as qdisc,
        stub_resolver as stub_resolver,
        tls as tls,
    )
    from simcloud.machine.network.grpc_health import (
        HealthCheckRequest as HealthCheckRequest,
        HealthCheckResponse as HealthCheckResponse,
    )
    from simcloud.machine.network.http import (
        HTTP as HTTP,
        HTTPS as HTTPS,
        PORTS as PORTS,
        HttpHandler as HttpHandler,
        HttpMessage as HttpMessage,
        HttpRequest as HttpRequest,
        HttpResponse as HttpResponse,
        parse_request as parse_request,
        respond as respond,
        send_response as send_response,
        serve_http as serve_http,
        verify_server as verify_server,
    )
    from simcloud.machine.network.packet_filter import Packet as Packet, PacketFilter as PacketFilter
    from simcloud.machine.network.qdisc import Queueing as Queueing
    from simcloud.machine.network.reachability import find_listener as find_listener
    from simcloud.machine.network.stub_resolver import (
        DnsSettings as DnsSettings,
        StubResolver as StubResolver,
        read_resolv_conf as read_resolv_conf,
    )
