"""``consul agent -dev``: one server with everything in memory, which elects itself at once."""

from __future__ import annotations

from random import Random
from typing import Final

from simcloud.datastores.consul.api import Api
from simcloud.datastores.consul.dns import DnsServer
from simcloud.datastores.consul.identity import ADDRESS, BUILD_DATE, SERF_PORT, SERVER_PORT, VERSION, Identity
from simcloud.datastores.consul.log import ConsulLog
from simcloud.datastores.consul.registrations import Writer
from simcloud.datastores.consul.state import State
from simcloud.machine.network import HTTP, NetworkError, dns as network_dns
from simcloud.machine.process import Context, Signal
from simcloud.services.languages import golang, print_line
from simcloud.sim import Event

HTTP_PORT: Final = 8500
DNS_PORT: Final = 8600
GRPC_PORT: Final = 8502
CLUSTER_PORTS: Final = (SERVER_PORT, SERF_PORT, 8302)
"""Ports for other agents; they listen on loopback only, so a dev agent has no peers."""

CLIENT_PORTS: Final = (GRPC_PORT, 8503)
PRIVATE: Final = "consul"
"""The protocol of ports that nothing simulated connects to."""

START_S: Final = 0.15
ELECTION_S: Final = (0.05, 0.1)
RESIDENT_BYTES: Final = 90 << 20

Flags = dict[str, str]


async def agent(ctx: Context, flags: Flags) -> int:
    """Run until stopped. Without -dev, -bootstrap or -bootstrap-expect=1 no leader is found."""
    if not ("dev" in flags or flags.get("data-dir")):
        await ctx.err("==> data_dir cannot be empty\n")
        return 1
    client = flags.get("client", "127.0.0.1")
    chance = ctx.random("consul")
    identity = Identity(flags.get("node-id") or uuid(chance), flags.get("node") or ctx.container.hostname)
    journal = ConsulLog(ctx, flags.get("log-level") or ("debug" if "dev" in flags else "info"))
    ctx.memory.use(RESIDENT_BYTES)
    ctx.process.start_runtime()
    stop: Event[Signal] = Event(ctx.kernel)
    for signal in (Signal.TERM, Signal.INT):
        ctx.signals.on(signal, stop.set)
    _banner(ctx, identity, client)
    await ctx.cpu(START_S)
    _log_joining(journal, identity)
    state = State(ctx.kernel, identity.node())
    writer = Writer(state, journal)
    try:
        _listen(ctx, Api(ctx, identity, state, writer, journal), DnsServer(ctx, state), client, journal)
    except NetworkError as error:
        print_line(
            ctx,
            f"==> Failed to start HTTP server: listen tcp {client}:{HTTP_PORT}: bind: {golang.errno_words(error)}",
        )
        return 1
    ctx.process.report = state.report
    if "dev" in flags or "bootstrap" in flags or flags.get("bootstrap-expect") == "1":
        ctx.spawn(_elect(ctx, identity, journal, chance), "election")
    signal = await stop.wait()
    return _leave(journal, signal)


def uuid(chance: Random) -> str:
    """Return a random UUID."""
    text = f"{chance.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _banner(ctx: Context, identity: Identity, client: str) -> None:
    built = f"{BUILD_DATE[:10]} {BUILD_DATE[11:19]} +0000 UTC"
    lines = (
        ("Version", f"'{VERSION}'"), ("Build Date", f"'{built}'"), ("Node ID", f"'{identity.node_id}'"),
        ("Node name", f"'{identity.node_name}'"), ("Datacenter", "'dc1' (Segment: '<all>')"),
        ("Server", "true (Bootstrap: false)"),
        ("Client Addr", f"[{client}] (HTTP: 8500, HTTPS: -1, gRPC: 8502, gRPC-TLS: 8503, DNS: 8600)"),
        ("Cluster Addr", f"{ADDRESS} (LAN: {SERF_PORT}, WAN: 8302)"), ("Gossip Encryption", "false"),
        ("Auto-Encrypt-TLS", "false"), ("ACL Enabled", "false"), ("Reporting Enabled", "false"),
        ("ACL Default Policy", "allow"),
        ("HTTPS TLS", "Verify Incoming: false, Verify Outgoing: false, Min Version: TLSv1_2"),
        ("gRPC TLS", "Verify Incoming: false, Min Version: TLSv1_2"),
        ("Internal RPC TLS", "Verify Incoming: false, Verify Outgoing: false (Verify Hostname: false), Min Version: TLSv1_2"),
    )  # fmt: skip
    print_line(ctx, "==> Starting Consul agent...")
    for name, value in lines:
        print_line(ctx, f"{name:>22}: {value}")
    print_line(ctx, "")
    print_line(ctx, "==> Log data will now stream in as it occurs:")
    print_line(ctx, "")


def _log_joining(journal: ConsulLog, identity: Identity) -> None:
    server = f"{ADDRESS}:{SERVER_PORT}"
    voter = f"{{Suffrage:Voter ID:{identity.node_id} Address:{server}}}"
    journal.info("agent.server.raft", f'initial configuration: index=1 servers="[{voter}]"')
    journal.info("agent.server.raft", f'entering follower state: follower="Node at {server} [Follower]" leader-address= leader-id=')  # fmt: skip
    journal.info("agent.server.serf.wan", f"serf: EventMemberJoin: {identity.node_name}.dc1 {ADDRESS}")
    journal.info("agent.server.serf.lan", f"serf: EventMemberJoin: {identity.node_name} {ADDRESS}")
    journal.info("agent.router", "Initializing LAN area manager")
    journal.info(
        "agent.server", f'Adding LAN server: server="{identity.node_name} (Addr: tcp/{server}) (DC: dc1)"'
    )
    journal.info("agent.server", f'Handled event for server in area: event=member-join server={identity.node_name}.dc1 area=wan')  # fmt: skip


def _listen(ctx: Context, api: Api, dns: DnsServer, client: str, journal: ConsulLog) -> None:
    for network in ("udp", "tcp"):
        journal.info("agent", f"Started DNS server: address={client}:{DNS_PORT} network={network}")
    address = "127.0.0.1" if client in ("127.0.0.1", "localhost") else "0.0.0.0"
    socket = ctx.container.namespace.bind(DNS_PORT, network_dns.DNS, address, owner=ctx.process)
    socket.on_datagram = lambda datagram: dns.take(socket, datagram)
    listener = ctx.listen(HTTP_PORT, HTTP, address)
    listener.on_accept = api.accept
    for port in CLUSTER_PORTS:
        ctx.listen(port, PRIVATE, ADDRESS)
    for port in CLIENT_PORTS:
        ctx.listen(port, PRIVATE, address)
    shown = "[::]" if address == "0.0.0.0" else address
    journal.info("agent", f"Starting server: address={shown}:{HTTP_PORT} network=tcp protocol=http")
    journal.info("agent", f"Started gRPC listeners: port_name=grpc address={shown}:{GRPC_PORT} network=tcp")
    journal.info("agent", "started state syncer")
    journal.info("agent", "Consul agent running!")


async def _elect(ctx: Context, identity: Identity, journal: ConsulLog, chance: Random) -> None:
    """A single voter wins its election as soon as its first heartbeat time-out is over."""
    await ctx.sleep(chance.uniform(*ELECTION_S))
    server = f"{ADDRESS}:{SERVER_PORT}"
    raft = "agent.server.raft"
    journal.warn(raft, "heartbeat timeout reached, starting election: last-leader-addr= last-leader-id=")
    journal.info(raft, f'entering candidate state: node="Node at {server} [Candidate]" term=2')
    journal.debug(raft, "votes: needed=1 term=2")
    journal.info(raft, "election won: term=2 tally=1")
    journal.info(raft, f'entering leader state: leader="Node at {server} [Leader]"')
    journal.info("agent.server", "cluster leadership acquired")
    journal.info("agent.server", f"New leader elected: payload={identity.node_name}")
    identity.is_leader = True
    await ctx.cpu(0.01)
    journal.info("agent.leader", 'started routine: routine="federation state anti-entropy"')
    journal.info("agent.server.connect", "initialized primary datacenter CA with provider: provider=consul")
    journal.info(
        "agent.server", f"member joined, marking health alive: member={identity.node_name} partition=default"
    )
    journal.info("agent", "Synced node info")


def _leave(journal: ConsulLog, signal: Signal) -> int:
    name = "terminated" if signal is Signal.TERM else "interrupt"
    journal.info("agent", f"Caught: signal={name}")
    if signal is not Signal.TERM:
        journal.info("agent", "Gracefully shutting down agent...")
    journal.info("agent", "Requesting shutdown")
    journal.info("agent.server", "shutting down server")
    journal.info("agent", "consul server down")
    journal.info("agent", "shutdown complete")
    journal.info("agent", f"Exit code: code={1 if signal is Signal.TERM else 0}")
    return 1 if signal is Signal.TERM else 0
