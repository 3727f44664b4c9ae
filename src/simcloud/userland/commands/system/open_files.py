"""lsof: list the open files and sockets of processes."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.network import SocketInfo
from simcloud.machine.process import Context, FileStream, Process, Stream
from simcloud.userland.commands.file.tables import align_columns
from simcloud.userland.commands.net.endpoints import format_endpoint, sockets_with_owners
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.processes.facts import Facts

USAGE: Final = """\
lsof 4.95.0
 usage: [-?abhKlnNoOPRtUvVX] [+|-c c] [+|-d s] [+D D] [+|-E] [+|-e s] [+|-f[gG]]
 [-F [f]] [-g [s]] [-i [i]] [+|-L [l]] [+m [m]] [+|-M] [-o [o]] [-p s]
 [+|-r [t]] [-s [p:s]] [-S [t]] [-T [t]] [-u s] [+|-w] [-x [fl]] [--] [names]"""
TITLES: Final = ("COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF", "NODE", "NAME")
RIGHT: Final = (False, True, True, True, True, True, True, True, False)
STATES: Final = {"ESTAB": "ESTABLISHED", "UNCONN": ""}


class _Row(Struct, frozen=True):
    """One open file."""

    process: Process
    fd: str
    kind: str
    device: str
    size: str
    node: str
    name: str
    socket: SocketInfo | None = None


@command("lsof")
async def lsof(ctx: Context) -> int:
    """List open files."""
    try:
        options = parse(_with_addresses_attached(ctx.args), "abc:d:g:i::lnNOp:PRs::tT::u:UvV")
    except UsageError as mistake:
        first = str(mistake).partition("\n")[0].replace("invalid option --", "illegal option character:")
        raise UsageError(f"{first}\n{USAGE}") from None
    facts = Facts(ctx)
    rows = _select_rows(ctx, facts, options)
    if not rows:
        return 1
    if options.any("t"):
        numbers = dict.fromkeys(facts.pid(row.process) for row in rows)
        await ctx.out("".join(f"{number}\n" for number in numbers))
        return 0
    cells = [
        [row.process.name[:9], str(facts.pid(row.process)), facts.user(row.process), row.fd.ljust(4), row.kind, row.device,
         row.size, row.node, row.name]
        for row in rows
    ]  # fmt: skip
    titles = [title.ljust(4) if title == "FD" else title for title in TITLES]
    await ctx.out("".join(f"{line}\n" for line in align_columns([titles, *cells], RIGHT)))
    return 0


def _with_addresses_attached(args: list[str]) -> list[str]:
    """``-i :80``: the value of -i may be left out, but it may also be the next word."""
    words, attached = iter(args), []
    for word in words:
        if word.startswith("-") and word.endswith("i"):
            following = next(words, "")
            attached += [word, following] if following.startswith("-") else [word + following]
        else:
            attached.append(word)
    return attached


def _select_rows(ctx: Context, facts: Facts, options: Options) -> list[_Row]:
    """Rows that meet any of the conditions, or with -a all of them."""
    rows = [row for process in facts.processes for row in _open_files(ctx, process)]
    rows += [_socket_row(*entry) for entry in sockets_with_owners(ctx)]
    rows.sort(key=lambda row: facts.pid(row.process))
    conditions: list[list[bool]] = []
    if options.any("p"):
        words = options.last("p").split(",")
        for word in words:
            if not (word.isdecimal() and word.isascii()):
                raise UsageError(f"lsof: illegal process ID: {word}\n{USAGE}")
        conditions.append([str(facts.pid(row.process)) in words for row in rows])
    if options.any("c"):
        conditions.append([row.process.name.startswith(options.last("c")) for row in rows])
    if options.any("u"):
        number = facts.user_number(options.last("u"))
        conditions.append([row.process.uid == number for row in rows])
    if options.any("i"):
        conditions.append(
            [row.socket is not None and _is_address(row.socket, options.last("i")) for row in rows]
        )
    if options.operands:
        paths = [ctx.files.absolute(path) for path in options.operands]
        conditions.append([row.name in paths for row in rows])
    if conditions:
        together = all if options.any("a") else any
        rows = [
            row for row, answers in zip(rows, zip(*conditions, strict=True), strict=True) if together(answers)
        ]
    states = [word.removeprefix("TCP:").upper() for word in options.all("s") if word]
    if states:
        rows = [row for row in rows if row.socket is not None and _state(row.socket) in states]
    return rows


def _is_address(socket: SocketInfo, text: str) -> bool:
    """``:8080``, ``TCP``, ``tcp:80``, ``@host:80``; nothing means every socket."""
    text = text.lstrip("46")
    transport, _, port = text.partition(":")
    transport, _, host = transport.partition("@")
    if transport and transport.lower() != socket.transport:
        return False
    if host and host not in (socket.local[0], socket.remote[0]):
        return False
    return not port or port in (str(socket.local[1]), str(socket.remote[1]))


def _open_files(ctx: Context, process: Process) -> list[_Row]:
    rows = [_path_row(ctx, process, "cwd", process.files.cwd), _path_row(ctx, process, "rtd", "/")]
    return rows + [_stream_row(process, number, stream) for number, stream in sorted(process.streams.items())]


def _path_row(ctx: Context, process: Process, fd: str, path: str) -> _Row:
    try:
        found = process.files.stat(path)
    except FileError:
        return _Row(process, fd, "unknown", "", "", "", f"{path} (stat: No such file or directory)")
    device = f"{found.dev >> 8},{found.dev & 0xFF}"
    return _Row(process, fd, "DIR", device, str(found.size), str(found.ino), path)


def _stream_row(process: Process, number: int, stream: Stream) -> _Row:
    if not isinstance(stream, FileStream):
        name = stream.describe()
        if name == "/dev/null":
            return _Row(process, f"{number}u", "CHR", "1,3", "0t0", "3", name)
        return _Row(process, f"{number}w" if number else "0r", "FIFO", "0,13", "0t0", "0", "pipe")
    file, found = stream.file, stream.file.stat()
    mode = "u" if file.readable and file.writable else "w" if file.writable else "r"
    device = (
        f"{found.rdev >> 8},{found.rdev & 0xFF}"
        if found.is_device
        else f"{found.dev >> 8},{found.dev & 0xFF}"
    )
    size = "0t0" if found.is_device else str(found.size)
    return _Row(
        process,
        f"{number}{mode}",
        "CHR" if found.is_device else "REG",
        device,
        size,
        str(found.ino),
        file.path,
    )


def _state(socket: SocketInfo) -> str:
    return STATES.get(socket.state, socket.state.replace("-", "_"))


def _socket_row(socket: SocketInfo, process: Process, fd: int) -> _Row:
    name = format_endpoint(socket.local, "*")
    if socket.remote[1]:
        name += f"->{format_endpoint(socket.remote, '*')}"
    state = _state(socket)
    name += f" ({state})" if state else ""
    return _Row(
        process, f"{fd}u", "IPv4", str(socket.local[1]), "0t0", socket.transport.upper(), name, socket
    )
