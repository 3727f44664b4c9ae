"""Open sockets: ss and netstat."""

from __future__ import annotations

from aiopslab.machine.network import SocketInfo
from aiopslab.machine.process import Context, Process
from aiopslab.machine.shell.commands.options import parse
from aiopslab.machine.shell.commands.registry import command

LONG_STATES = {"ESTAB": "ESTABLISHED", "UNCONN": ""}


def _chosen(ctx: Context, tcp: bool, udp: bool, listening: bool, everything: bool) -> list[SocketInfo]:
    wanted = {"tcp"} if tcp and not udp else {"udp"} if udp and not tcp else {"tcp", "udp"}
    sockets = [socket for socket in ctx.container.namespace.sockets() if socket.transport in wanted]
    if listening:
        return [socket for socket in sockets if socket.state in ("LISTEN", "UNCONN")]
    if everything:
        return sockets
    return [socket for socket in sockets if socket.state not in ("LISTEN", "UNCONN")]


def _at(endpoint: tuple[str, int]) -> str:
    return f"{endpoint[0]}:{endpoint[1] or '*'}"


@command("ss")
async def ss(ctx: Context) -> int:
    """Sockets and their states."""
    options = parse(
        ctx.args,
        "tulnpaHsieomr4",
        ("tcp", "udp", "listening", "numeric", "processes", "all", "no-header", "summary"),
    )
    sockets = _chosen(
        ctx,
        options.any("t", "tcp"),
        options.any("u", "udp"),
        options.any("l", "listening"),
        options.any("a", "all"),
    )
    if options.any("s", "summary"):
        every = ctx.container.namespace.sockets()
        tcp = [socket for socket in every if socket.transport == "tcp"]
        established = sum(socket.state == "ESTAB" for socket in tcp)
        await ctx.out(f"Total: {len(every)}\nTCP:   {len(tcp)} (estab {established})\n")
        return 0
    both = options.any("t", "tcp") == options.any("u", "udp")
    rows = (
        []
        if options.any("H", "no-header")
        else [["Netid", "State", "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port", "Process"]]
    )
    for socket in sockets:
        rows.append([
            socket.transport, socket.state, str(socket.receive_queue), str(socket.send_queue),
            _at(socket.local), _at(socket.remote), _process(ctx, socket) if options.any("p", "processes") else "",
        ])  # fmt: skip
    if not both:
        rows = [row[1:] for row in rows]
    await ctx.out(_columns(rows, {"Recv-Q", "Send-Q", "Local Address:Port"}))
    return 0


def _process(ctx: Context, socket: SocketInfo) -> str:
    owner = socket.owner
    if not isinstance(owner, Process):
        return ""
    return f'users:(("{owner.name}",pid={ctx.container.pid_seen(owner)},fd=3))'


def _columns(rows: list[list[str]], right: set[str]) -> str:
    if not rows:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if rows[0][i] in right else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(" ".join(cells).rstrip() + "\n")
    return "".join(lines)


@command("netstat")
async def netstat(ctx: Context) -> int:
    """Sockets, in the older form."""
    options = parse(
        ctx.args, "tulnpaWrise", ("tcp", "udp", "listening", "numeric", "programs", "all", "wide", "route")
    )
    if options.any("r", "route"):
        await ctx.out(
            "Kernel IP routing table\nDestination     Gateway         Genmask         Flags Iface\n"
        )
        return 0
    listening = options.any("l", "listening")
    every = options.any("a", "all")
    sockets = _chosen(ctx, options.any("t", "tcp"), options.any("u", "udp"), listening, every)
    what = "(only servers)" if listening else "(servers and established)" if every else "(w/o servers)"
    head = "Proto Recv-Q Send-Q Local Address           Foreign Address         State      "
    programs = options.any("p", "programs")
    await ctx.out(
        f"Active Internet connections {what}\n{head}{' PID/Program name    ' if programs else ''}".rstrip()
        + "\n"
    )
    for socket in sockets:
        state = LONG_STATES.get(socket.state, socket.state.replace("-", "_"))
        row = (
            f"{socket.transport:<5} {socket.receive_queue:6d} {socket.send_queue:6d} {_at(socket.local):<23} "
            f"{_at(socket.remote):<23} {state:<11}"
        )
        if programs:
            owner = socket.owner
            row += f" {ctx.container.pid_seen(owner)}/{owner.name}" if isinstance(owner, Process) else " -"
        await ctx.out(row.rstrip() + "\n")
    return 0
