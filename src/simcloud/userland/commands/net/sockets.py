"""ss and netstat: list open sockets."""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import SocketInfo
from simcloud.machine.process import Context
from simcloud.userland.commands.net.endpoints import (
    format_endpoint,
    service_name,
    sockets_with_owners,
)
from simcloud.userland.commands.net.ifconfig import interface_table, routing_table
from simcloud.userland.commands.net.socket_filter import read_filter
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command

LISTENING: Final = ("LISTEN", "UNCONN")
LONG_STATES: Final = {
    "ESTAB": "ESTABLISHED",
    "UNCONN": "",
    "FIN-WAIT-2": "FIN_WAIT2",
    "FIN-WAIT-1": "FIN_WAIT1",
}
SS_LONG: Final = ("numeric", "resolve", "all", "listening", "options", "extended", "memory", "processes", "info", "summary",
                  "ipv4", "ipv6", "tcp", "udp", "unix", "raw", "no-header", "oneline", "help", "version", "threads")  # fmt: skip
SS_USAGE: Final = "Usage: ss [ OPTIONS ]\n       ss [ OPTIONS ] [ FILTER ]"
SS_FAILED: Final = 255
NETSTAT_USAGE: Final = (
    "usage: netstat [-vWeenNcCF] [<Af>] -r         netstat {-V|--version|-h|--help}\n"
    "       netstat [-vWnNcaeol] [<Socket> ...]\n"
    "       netstat { [-vWeenNac] -i | [-cnNe] -M | -s [-6tuw] }"
)
NETSTAT_FAILED: Final = 3


def _select_sockets(ctx: Context, tcp: bool, udp: bool) -> list[SocketInfo]:
    """Return the sockets of the selected transports, datagrams first."""
    wanted = [name for name, is_wanted in (("udp", udp), ("tcp", tcp)) if is_wanted] or ["udp", "tcp"]
    sockets = ctx.container.namespace.sockets()
    return [socket for name in wanted for socket in sockets if socket.transport == name]


@command("ss")
async def ss(ctx: Context) -> int:
    """Show sockets and their states."""
    try:
        options = parse(ctx.args, "nraloempTisbEN:460tudwxSfFA:HOKVhZzM", SS_LONG)
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{SS_USAGE}", SS_FAILED) from None
    if options.any("h", "help", "V", "version"):
        await ctx.out("ss utility, iproute2-6.1.0\n" if options.any("V", "version") else f"{SS_USAGE}\n")
        return 0
    if options.any("Z", "z"):
        raise UsageError("ss: SELinux is not enabled.")
    if options.any("s", "summary"):
        await ctx.out(_summary(ctx.container.namespace.sockets()))
        return 0
    wanted = read_filter(ctx.args[0], options.operands)
    sockets = _select_sockets(ctx, options.any("t", "tcp"), options.any("u", "udp"))
    if not wanted.states:
        if options.any("l", "listening"):
            sockets = [socket for socket in sockets if socket.state in LISTENING]
        elif not options.any("a", "all"):
            sockets = [socket for socket in sockets if socket.state not in LISTENING]
    sockets = [socket for socket in sockets if wanted.accepts(socket)]
    await ctx.out(_table(ctx, options, sockets, with_state=len(wanted.states) != 1))
    return 0


def _table(ctx: Context, options: Options, sockets: list[SocketInfo], with_state: bool) -> str:
    """Address and port are columns of their own, which meet at the colon."""
    users = _users(ctx) if options.any("p", "processes") else {}
    both = options.any("t", "tcp") == options.any("u", "udp")
    rows = []
    for socket in sockets:
        state = socket.state if with_state else ""
        cells = [socket.transport, state, f"{socket.receive_queue:<6}", f"{socket.send_queue:<6}"]
        for address, port in (socket.local, socket.remote):
            cells += [address, _port(ctx, options, port, socket.transport)]
        rows.append([*cells, users.get(_key(socket), "")])
    titles = [
        "Netid",
        "State",
        "Recv-Q",
        "Send-Q",
        "Local Address",
        "Port",
        "Peer Address",
        "Port",
        "Process",
    ]
    if not options.any("H", "no-header"):
        rows.insert(0, titles)
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(titles))]
    first = 0 if both else 1
    lines = []
    for row in rows:
        text = [cell.ljust(width) for cell, width in zip(row[:4], widths, strict=False)]
        if not with_state:
            text[1] = ""
        head = " ".join(cell for cell in text[first:] if cell)
        ends = [f"{row[at].rjust(widths[at])}:{row[at + 1].ljust(widths[at + 1])}" for at in (4, 6)]
        lines.append(f"{head} {ends[0]} {ends[1]}{row[8].ljust(widths[8])}\n")
    return "".join(lines)


def _port(ctx: Context, options: Options, port: int, transport: str) -> str:
    name = None if options.any("n", "numeric") or not port else service_name(ctx, port, transport)
    return name or str(port or "*")


def _key(socket: SocketInfo) -> tuple[object, ...]:
    return socket.sort_key


def _users(ctx: Context) -> dict[tuple[object, ...], str]:
    return {
        _key(socket): f' users:(("{owner.name}",pid={ctx.container.pid_seen(owner)},fd={fd}))'
        for socket, owner, fd in sockets_with_owners(ctx)
    }


def _summary(sockets: list[SocketInfo]) -> str:
    tcp = [socket for socket in sockets if socket.transport == "tcp"]
    udp = len(sockets) - len(tcp)
    states = {name: sum(socket.state == name for socket in tcp) for name in ("ESTAB", "TIME-WAIT")}
    open_now = len(tcp) - states["TIME-WAIT"]
    rows = (("RAW", 0), ("UDP", udp), ("TCP", open_now), ("INET", udp + open_now), ("FRAG", 0))
    table = "".join(f"{name}\t  {count:<9} {count:<9} {0:<9}\n" for name, count in rows)
    return (
        f"Total: {len(sockets)}\nTCP:   {len(tcp)} (estab {states['ESTAB']}, closed {states['TIME-WAIT']}, orphaned 0, "
        f"timewait {states['TIME-WAIT']})\n\nTransport Total     IP        IPv6\n{table}\n"
    )


@command("netstat")
async def netstat(ctx: Context) -> int:
    """Show sockets, in the older form; with -r routes, with -i interfaces."""
    try:
        options = parse(
            ctx.args, "acCeFghiIlMnNoprsStTuUvVWwxZ46",
            ("tcp", "udp", "listening", "numeric", "programs", "all", "wide", "route", "interfaces", "statistics", "continuous"),
        )  # fmt: skip
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{NETSTAT_USAGE}", NETSTAT_FAILED) from None
    if options.any("r", "route"):
        await ctx.out(routing_table(ctx, "netstat"))
    elif options.any("i", "interfaces"):
        await ctx.out(interface_table(ctx))
    elif options.any("s", "statistics"):
        await ctx.out(_statistics(ctx))
    else:
        await ctx.out(_connections(ctx, options))
    return 0


def _connections(ctx: Context, options: Options) -> str:
    sockets = _select_sockets(ctx, options.any("t", "tcp"), options.any("u", "udp"))[::-1]
    sockets.sort(key=lambda socket: socket.transport)
    what = "(w/o servers)"
    if options.any("l", "listening"):
        what = "(only servers)"
        sockets = [socket for socket in sockets if socket.state in LISTENING]
    elif options.any("a", "all"):
        what = "(servers and established)"
    else:
        sockets = [socket for socket in sockets if socket.state not in LISTENING]
    programs = options.any("p", "programs")
    owners = {
        _key(socket): f"{ctx.container.pid_seen(owner)}/{owner.name}"
        for socket, owner, _ in sockets_with_owners(ctx)
    }
    text = f"Active Internet connections {what}\n"
    text += "Proto Recv-Q Send-Q Local Address           Foreign Address         State      "
    text += " PID/Program name    \n" if programs else "\n"
    for socket in sorted(sockets, key=lambda socket: socket.sort_key):
        state = LONG_STATES.get(socket.state, socket.state.replace("-", "_"))
        queue = 0 if socket.state == "LISTEN" else socket.send_queue
        row = (
            f"{socket.transport:<5} {socket.receive_queue:6d} {queue:6d} {format_endpoint(socket.local):<23} "
            f"{format_endpoint(socket.remote):<23} {state:<11}"
        )
        text += row + (f" {owners.get(_key(socket), '-'):<20}\n" if programs else "\n")
    return text


def _statistics(ctx: Context) -> str:
    """The counters that the simulated network keeps."""
    namespace = ctx.container.namespace
    interfaces = namespace.interfaces()
    received = sum(each.received_packets for each in interfaces)
    sent = sum(each.sent_packets for each in interfaces)
    dropped = sum(each.receive_dropped + each.send_dropped for each in interfaces)
    broken = sum(each.receive_errors for each in interfaces)
    repeated = sum(each.retransmits for each in interfaces)
    established = sum(socket.state == "ESTAB" for socket in namespace.sockets())
    return (
        f"Ip:\n    Forwarding: 2\n    {received} total packets received\n    0 forwarded\n"
        f"    {dropped} incoming packets discarded\n    {received} incoming packets delivered\n"
        f"    {sent} requests sent out\nTcp:\n    {established} connections established\n"
        f"    {received} segments received\n    {sent} segments sent out\n    {repeated} segments retransmitted\n"
        f"    {broken} bad segments received\n"
    )
