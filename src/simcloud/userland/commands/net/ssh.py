"""ssh: log in to a machine, or run one command there."""

from __future__ import annotations

from typing import Final

from simcloud.machine import secure_shell
from simcloud.machine.files import FileError
from simcloud.machine.network import Connection, NameNotFound, NetworkError, ResolverFailure
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.tool import tool

TROUBLE: Final = 255
CONNECT_TIMEOUT_S: Final = 127.0
KEY: Final = ".ssh/id_ed25519"
USAGE: Final = (
    "usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface]\n           [-b bind_address] [-c cipher_spec] "
    "[-D [bind_address:]port]\n           [-E log_file] [-e escape_char] [-F configfile] [-I pkcs11]\n           "
    "[-i identity_file] [-J [user@]host[:port]] [-L address]\n           [-l login_name] [-m mac_spec] [-O ctl_cmd] "
    "[-o option] [-p port]\n           [-Q query_option] [-R address] [-S ctl_path] [-W host:port]\n           "
    "[-w local_tun[:remote_tun]] destination [command [argument ...]]"
)


@tool("ssh", options="4 6 A a C f N n q T t V v X x i= l= o= p= F= J=", usage="destination [command]", trouble=TROUBLE,
      stop_early=True)  # fmt: skip
async def ssh(ctx: Context, options: Options) -> int:
    """Run a shell or a command on another machine."""
    if options.any("V"):
        await ctx.err("OpenSSH_9.2p1 Debian-2+deb12u7, OpenSSL 3.0.17 1 Jul 2025\n")
        return 0
    if not options.operands:
        raise UsageError(USAGE, TROUBLE)
    destination, *words = options.operands
    user, at, host = destination.rpartition("@")
    user = options.last("l", default=user if at else "root")
    port = options.last("p", default=str(secure_shell.PORT))
    if not port.isdecimal() or not 0 < int(port[:6]) < 65_536:
        raise UsageError(f"Bad port '{port}'", TROUBLE)
    connection = await _connect(ctx, host, int(port), _timeout_s(options))
    try:
        return await _session(
            ctx, connection, secure_shell.Login(user, _key(ctx, options), " ".join(words)), host, options
        )
    except NetworkError:
        raise UsageError(
            f"client_loop: send disconnect: Broken pipe\nConnection to {host} closed.", TROUBLE
        ) from None
    finally:
        connection.close()


def _timeout_s(options: Options) -> float:
    for word in options.all("o"):
        name, _, value = word.partition("=")
        if name.strip().lower() == "connecttimeout" and value.strip().isdecimal():
            return float(min(int(value.strip()[:6]), CONNECT_TIMEOUT_S)) or CONNECT_TIMEOUT_S
    return CONNECT_TIMEOUT_S


async def _connect(ctx: Context, host: str, port: int, timeout_s: float) -> Connection:
    try:
        return await ctx.dial(host, port, secure_shell.PROTOCOL, timeout_s)
    except NameNotFound:
        why = f"Could not resolve hostname {host}: Name or service not known"
    except ResolverFailure:
        why = f"Could not resolve hostname {host}: Temporary failure in name resolution"
    except NetworkError as error:
        why = f"connect to host {host} port {port}: {str(error).removeprefix('connect: ')}"
    raise UsageError(f"ssh: {why}", TROUBLE)


def _key(ctx: Context, options: Options) -> str:
    path = options.last("i", default=f"{ctx.env.get('HOME', '/root')}/{KEY}")
    try:
        return secure_shell.public_key(ctx.files.read(path), "")
    except FileError:
        return ""


async def _session(
    ctx: Context, connection: Connection, login: secure_shell.Login, host: str, options: Options
) -> int:
    connection.send(login, 1024)
    if not login.command and not ctx.stdin.isatty and not options.any("T", "q"):
        await ctx.err("Pseudo-terminal will not be allocated because stdin is not a terminal.\n")
    if options.any("n", "f"):
        connection.send(secure_shell.Typed(b""))
    else:
        ctx.spawn(_type(ctx, connection), "input")
    while True:
        message = await connection.receive()
        if isinstance(message, secure_shell.Shown):
            await ctx.process.streams[message.number].write(message.data)
        elif isinstance(message, secure_shell.Ended):
            return message.status
        elif message == secure_shell.DENIED:
            raise UsageError(f"{login.user}@{host}: Permission denied (publickey).", TROUBLE)


async def _type(ctx: Context, connection: Connection) -> None:
    try:
        while data := await ctx.stdin.read():
            connection.send(secure_shell.Typed(data), len(data) + 64)
            await connection.drain()
        connection.send(secure_shell.Typed(b""))
    except NetworkError:
        pass
