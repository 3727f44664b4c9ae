"""nc: bytes between standard streams and a connection, in the manner of the traditional netcat."""

from __future__ import annotations

from typing import Any

from aiopslab.machine.network import Closed, Connection, NameNotFound, NetworkError, ResolverFailure
from aiopslab.machine.network.http import HTTP, HttpResponse, parse_request
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.options import Options, UsageError, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.sim import TimedOut, first_of

RAW = "raw"


@command("nc", "netcat", "ncat")
async def nc(ctx: Context) -> int:
    """Connect to a port, or listen on one, and pass bytes both ways."""
    options = parse(ctx.args, "lp:zvw:q:unkNs:46")
    operands = options.operands
    if options.any("l"):
        port = options.last("p") or (operands[-1] if operands else "")
        if not port.isdigit():
            raise UsageError("nc: missing port number")
        return await _listen(ctx, options, int(port))
    if len(operands) < 2:
        raise UsageError("nc: missing hostname and port" if not operands else "nc: missing port number")
    status = 0
    for number in _ports(operands[1]):
        status = await _dial(ctx, options, operands[0], number)
    return status


def _ports(text: str) -> list[int]:
    first, dash, last = text.partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise UsageError(f"nc: port number invalid: {text}")
    return list(range(int(first), min(int(last or first), int(first) + 1024) + 1))


async def _listen(ctx: Context, options: Options, port: int) -> int:
    try:
        listener = ctx.listen(port, RAW)
    except NetworkError as error:
        await ctx.err(f"nc: {error}\n")
        return 1
    if options.any("v"):
        await ctx.err(f"Listening on 0.0.0.0 {port}\n")
    while True:
        connection = await listener.accept()
        if options.any("v"):
            await ctx.err(f"Connection received on {connection.remote[0]} {connection.remote[1]}\n")
        await _pass_bytes(ctx, options, connection)
        if not options.any("k"):
            return 0


async def _dial(ctx: Context, options: Options, host: str, port: int) -> int:
    wait_s = float(options.last("w") or 127.0)
    first = b"" if options.any("z") else await ctx.stdin.read()
    request = parse_request(first)
    try:
        connection = await ctx.dial(host, port, HTTP if request is not None else RAW, wait_s)
    except (NameNotFound, ResolverFailure):
        await ctx.err(f'nc: getaddrinfo for host "{host}" port {port}: Name or service not known\n')
        return 1
    except (NetworkError, TimedOut) as error:
        if options.any("v"):
            await ctx.err(f"nc: connect to {host} port {port} (tcp) failed: {error}\n")
        return 1
    if options.any("v"):
        await ctx.err(f"Connection to {host} {port} port [tcp/*] succeeded!\n")
    if options.any("z"):
        connection.close()
        return 0
    connection.send(request if request is not None else first, len(first))
    await _pass_bytes(ctx, options, connection, typed=request is not None)
    return 0


async def _pass_bytes(ctx: Context, options: Options, connection: Connection, typed: bool = False) -> None:
    """Until the peer hangs up; or, with -q or -N, until stdin ends and so many seconds have passed."""

    async def out() -> None:
        while not typed and (data := await ctx.stdin.read()):
            ctx.spend_bytes(len(data))
            connection.send(data, len(data))
            await connection.drain()
        if options.any("q", "N"):
            await ctx.sleep(float(options.last("q") or 0))
            connection.close()
        else:
            await ctx.sleep(1e9)

    async def back() -> None:
        while True:
            message: Any = await connection.receive(float(options.last("w")) if options.any("w") else None)
            data = message.head() + message.body if isinstance(message, HttpResponse) else message
            ctx.spend_bytes(len(data))
            await ctx.stdout.write(data)
            if typed:
                return

    try:
        await first_of(ctx.kernel, (out(), back()), "nc")
    except (NetworkError, TimedOut, Closed):
        pass
    connection.close()
