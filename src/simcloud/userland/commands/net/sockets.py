"""ss and netstat: list open sockets."""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import SocketInfo, is_loopback
from simcloud.machine.process import Context
from simcloud.userland.commands.net.endpoints import (
    format_endpoint,
    service_name,
    show_address,
    sockets_with_owners,
)
from simcloud.userland.commands.net.ifconfig import interface_table, routing_table
from simcloud.userland.commands.net.socket_filter import read_filter
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command

LOCAL_SOCKETS_PER_PROCESS: Final = 3
"""UNIX sockets are not simulated; a machine has about this many for each process."""

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
        local = LOCAL_SOCKETS_PER_PROCESS * len(ctx.container.visible_programs())
        await ctx.out(_summary(ctx.container.namespace.sockets(), local))
        return 0
    wanted = read_filter(ctx.args[0], options.operands)
    sockets = _select_sockets(ctx, options.any("t", "tcp"), options.any("u", "udp"))
    if not wanted.states:
        if options.any("l", "listening"):
            sockets = [socket for socket in sockets if socket.state in LISTENING]
        elif not options.any("a", "all"):
            sockets = [socket for socket in sockets if socket.state not in LISTENING]
    sockets = [socket for socket in sockets if wanted.accepts(socket)]
    if options.any("4", "ipv4") != options.any("6", "ipv6"):
        sockets = [socket for socket in sockets if socket.is_ipv6 == options.any("6", "ipv6")]
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
            cells += [show_address(socket, address), _port(ctx, options, port, socket.transport)]
        rows.append([*cells, users.get(socket.sort_key, "")])
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
    if sockets and options.any("i", "info"):
        lines[-len(sockets) :] = [
            f"{line}{_describe(socket)}" for line, socket in zip(lines[-len(sockets) :], sockets, strict=True)
        ]
    return "".join(lines)


def _describe(socket: SocketInfo) -> str:
    """What ``-i`` adds: the state of TCP, as far as it is simulated."""
    if socket.transport != "tcp" or socket.state == "TIME-WAIT":
        return ""
    if socket.state == "LISTEN":
        return "\t cubic cwnd:10\n"
    connection = socket.connection
    mss, rtt_ms, counts = (32_741 if is_loopback(socket.remote[0]) else 1_448), 0.5, ""
    if connection is not None and connection.state != "SYN-SENT":
        sent, received = connection.bytes_sent, connection.bytes_received
        rtt_ms = max(0.02, (connection.outbound.delay_s + connection.inbound.delay_s) * 1e3)
        segments = [2 + size // mss + bool(size) for size in (sent, received)]
        repeated = f" retrans:0/{connection.retransmits}" if connection.retransmits else ""
        counts = (
            f" bytes_sent:{sent} bytes_acked:{sent + 1} bytes_received:{received} segs_out:{segments[0]} "
            f"segs_in:{segments[1]}{repeated}"
        )
    rate = f"{10 * mss * 8 / rtt_ms * 1e3:.0f}bps"
    return (
        f"\t cubic wscale:7,7 rto:{200 + round(rtt_ms * 3)} rtt:{rtt_ms:.3f}/{rtt_ms / 2:.3f} ato:40 mss:{mss} "
        f"pmtu:{65_535 if mss > 1_500 else 1_500} rcvmss:536 advmss:{mss} cwnd:10{counts} send {rate} "
        f"pacing_rate {rate.replace('bps', '')}bps rcv_space:14480 rcv_ssthresh:64088 minrtt:{rtt_ms * 0.8:.3f}\n"
    )


def _port(ctx: Context, options: Options, port: int, transport: str) -> str:
    name = None if options.any("n", "numeric") or not port else service_name(ctx, port, transport)
    return name or str(port or "*")


def _users(ctx: Context) -> dict[tuple[object, ...], str]:
    return {
        socket.sort_key: f' users:(("{owner.name}",pid={ctx.container.pid_seen(owner)},fd={fd}))'
        for socket, owner, fd in sockets_with_owners(ctx)
    }


def _summary(sockets: list[SocketInfo], local: int) -> str:
    tcp = [socket for socket in sockets if socket.transport == "tcp"]
    udp = len(sockets) - len(tcp)
    newer = sum(socket.is_ipv6 for socket in tcp)
    states = {name: sum(socket.state == name for socket in tcp) for name in ("ESTAB", "TIME-WAIT")}
    open_now = len(tcp) - states["TIME-WAIT"]
    rows = (
        ("RAW", 0, 0),
        ("UDP", udp, 0),
        ("TCP", open_now, newer),
        ("INET", udp + open_now, newer),
        ("FRAG", 0, 0),
    )
    table = "".join(f"{name}\t  {count:<9} {count - v6:<9} {v6:<9}\n" for name, count, v6 in rows)
    return (
        f"Total: {udp + open_now + local}\nTCP:   {len(tcp)} (estab {states['ESTAB']}, closed {states['TIME-WAIT']}, orphaned 0, "
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
    sockets = _select_sockets(ctx, options.any("t", "tcp"), options.any("u", "udp"))
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
        socket.sort_key: f"{ctx.container.pid_seen(owner)}/{owner.name}"
        for socket, owner, _ in sockets_with_owners(ctx)
    }
    text = f"Active Internet connections {what}\n"
    text += "Proto Recv-Q Send-Q Local Address           Foreign Address         State      "
    text += " PID/Program name    \n" if programs else "\n"
    for socket in sorted(sockets, key=lambda socket: socket.sort_key):
        state = LONG_STATES.get(socket.state, socket.state.replace("-", "_"))
        queue = 0 if socket.state == "LISTEN" else socket.send_queue
        row = (
            f"{socket.transport + ('6' if socket.is_ipv6 else ''):<5} {socket.receive_queue:6d} {queue:6d} {format_endpoint(socket.local):<23} "
            f"{format_endpoint(socket.remote):<23} {state:<11}"
        )
        text += row + (f" {owners.get(socket.sort_key, '-'):<20}\n" if programs else "\n")
    return text


def _statistics(ctx: Context) -> str:
    """A part of /proc/net/snmp in words."""
    rows = [line.split() for line in ctx.files.read("/proc/net/snmp").decode().splitlines()]
    ip, tcp = (dict(zip(rows[at], rows[at + 1], strict=True)) for at in (0, 2))
    return (
        f"Ip:\n    Forwarding: {ip['Forwarding']}\n    {ip['InReceives']} total packets received\n"
        f"    {ip['ForwDatagrams']} forwarded\n    {ip['InDiscards']} incoming packets discarded\n"
        f"    {ip['InDelivers']} incoming packets delivered\n    {ip['OutRequests']} requests sent out\n"
        f"Tcp:\n    {tcp['ActiveOpens']} active connection openings\n    {tcp['PassiveOpens']} passive connection openings\n"
        f"    {tcp['CurrEstab']} connections established\n    {tcp['InSegs']} segments received\n"
        f"    {tcp['OutSegs']} segments sent out\n    {tcp['RetransSegs']} segments retransmitted\n"
        f"    {tcp['InErrs']} bad segments received\n"
    )
