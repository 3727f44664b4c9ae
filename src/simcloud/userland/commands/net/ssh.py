"""ssh and scp: log in to a machine, run one command there, or copy files."""

from __future__ import annotations

from shlex import quote
from typing import Final

from simcloud.machine import secure_shell
from simcloud.machine.files import FileError
from simcloud.machine.network import Connection, NameNotFound, NetworkError, ResolverFailure
from simcloud.machine.process import SIZE, Context, Tty
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
        login = secure_shell.Login(
            user, _key(ctx, options), " ".join(words), _terminal_size(ctx, options, asks_command=bool(words))
        )
        return await _session(ctx, connection, login, host, options)
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


def _terminal_size(ctx: Context, options: Options, *, asks_command: bool) -> tuple[int, int] | None:
    """Return the size of the terminal that the session gets: for a shell, or with -t for any command."""
    if not ctx.stdin.isatty or options.any("T") or (asks_command and not options.any("t")):
        return None
    return ctx.stdin.size if isinstance(ctx.stdin, Tty) else SIZE


async def _session(
    ctx: Context, connection: Connection, login: secure_shell.Login, host: str, options: Options
) -> int:
    if not isinstance(ctx.stdin, Tty):
        return await _exchange(ctx, connection, login, host, options)
    with ctx.stdin.pass_on(raw=login.terminal is not None):
        status = await _exchange(ctx, connection, login, host, options)
    if login.terminal is not None:
        await ctx.err(f"Connection to {host} closed.\n")
    return status


async def _exchange(
    ctx: Context, connection: Connection, login: secure_shell.Login, host: str, options: Options
) -> int:
    connection.send(login, 1024)
    typed = [0]
    if not login.command and not ctx.stdin.isatty and not options.any("T", "q"):
        await ctx.err("Pseudo-terminal will not be allocated because stdin is not a terminal.\n")
    if options.any("n", "f"):
        connection.send(secure_shell.Typed(b""))
    else:
        ctx.spawn(_type(ctx, connection, typed), "input")
    while True:
        message = await connection.receive()
        if isinstance(message, secure_shell.Shown):
            await ctx.process.streams[message.number].write(message.data)
        elif isinstance(message, secure_shell.Waits):
            if message.read_bytes == typed[0] and isinstance(ctx.stdin, Tty):
                ctx.stdin.relay_wait()
        elif isinstance(message, secure_shell.Ended):
            return message.status
        elif message == secure_shell.DENIED:
            raise UsageError(f"{login.user}@{host}: Permission denied (publickey).", TROUBLE)


async def _type(ctx: Context, connection: Connection, typed: list[int]) -> None:
    """Send what is typed; ``typed`` holds the number of bytes so far."""
    try:
        while data := await ctx.stdin.read():
            typed[0] += len(data)
            connection.send(secure_shell.Typed(data), len(data) + 64)
            await connection.drain()
        connection.send(secure_shell.Typed(b""))
    except NetworkError:
        pass


# -- scp ---------------------------------------------------------------------------------------


@tool("scp", options="3 4 6 B C p q r T v i= o= P= F= l=", usage="[-r] source ... target", trouble=1)
async def scp(ctx: Context, options: Options) -> int:
    """Copy files from or to another machine; folders travel as archives of tar."""
    if len(options.operands) < 2:
        raise UsageError(
            "usage: scp [-346ABCOpqRrsTv] [-i identity_file] [-o ssh_option] source ... target", 1
        )
    *sources, target = options.operands
    for source in sources:
        copy = _download if _is_remote(source) else _upload
        if not await copy(ctx, options, source, target):
            return 1
    return 0


def _is_remote(word: str) -> bool:
    return ":" in word and "/" not in word.partition(":")[0]


async def _download(ctx: Context, options: Options, source: str, target: str) -> bool:
    place, _, path = source.partition(":")
    folder, name = path.rstrip("/").rpartition("/")[::2]
    if options.any("r"):
        data = await _run_remote(
            ctx, options, place, f"tar -C {quote(folder or '.')} -cf - {quote(name)}", path
        )
        return data is not None and (await ctx.run(["tar", "-C", target, "-xf", "-"], data)).status == 0
    data = await _run_remote(ctx, options, place, f"cat {quote(path)}", path)
    if data is not None:
        ctx.files.write(f"{target}/{name}" if ctx.files.is_dir(target) else target, data)
    return data is not None


async def _upload(ctx: Context, options: Options, source: str, target: str) -> bool:
    place, _, path = target.partition(":")
    folder, name = source.rstrip("/").rpartition("/")[::2]
    path = path or "."
    if options.any("r"):
        packed = await ctx.run(["tar", "-C", folder or ".", "-cf", "-", name])
        return (
            await _run_remote(ctx, options, place, f"tar -C {quote(path)} -xf -", path, packed.stdout)
            is not None
        )
    if ctx.files.is_dir(source):
        raise UsageError(f"scp: local {quote(source)} is not a regular file", 1)
    line = f"if [ -d {quote(path)} ]; then cat > {quote(f'{path}/{name}')}; else cat > {quote(path)}; fi"
    return await _run_remote(ctx, options, place, line, path, await ctx.read_file(source)) is not None


async def _run_remote(
    ctx: Context, options: Options, place: str, line: str, path: str, data: bytes = b""
) -> bytes | None:
    """Run a command on another machine and return what it writes; None after its complaint if it fails."""
    user, _, host = place.rpartition("@")
    port = options.last("P", default=str(secure_shell.PORT))
    connection = await _connect(ctx, host, int(port), _timeout_s(options))
    written: dict[int, bytes] = {1: b"", 2: b""}
    connection.send(secure_shell.Login(user or "root", _key(ctx, options), line), 1024)
    for part in (data, b"") if data else (b"",):
        connection.send(secure_shell.Typed(part), len(part) + 64)
    while not isinstance(message := await connection.receive(), secure_shell.Ended):
        if isinstance(message, secure_shell.Shown):
            written[message.number] += message.data
        elif message == secure_shell.DENIED:
            raise UsageError(
                f"{user or 'root'}@{host}: Permission denied (publickey).\nscp: Connection closed", TROUBLE
            )
    connection.close()
    if message.status:
        await ctx.err(f"scp: {path}: {written[2].decode(errors='replace').strip().rpartition(': ')[2]}\n")
        return None
    return written[1]
