"""The SSH server of a machine, and the messages between it and ssh.

A client must have a key that is in the machine's ``/root/.ssh/authorized_keys``; root is the only user. Each session
is a shell of the machine's own, and its output travels as messages, so a bad network makes it slow or breaks it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from simcloud.machine.files import FileError
from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.process import (
    CommandNotFound,
    Context,
    ForkFailed,
    KilledBySignal,
    NotExecutable,
    Pipe,
    Signal,
    Stream,
)
from simcloud.machine.units import Unit
from simcloud.sim import TimedOut

if TYPE_CHECKING:
    from simcloud.machine.computer import Machine

PORT: Final = 22
PROTOCOL: Final = "ssh"
UNIT: Final = "ssh.service"
RESTART_S: Final = 1.0
FAILED: Final = 255
AUTHORIZED: Final = "/root/.ssh/authorized_keys"
LOGIN_TIMEOUT_S: Final = 120.0
SESSIONS: Final = 64
"""More than this at a time are turned away."""


class Login(NamedTuple):
    """The client's first message. An empty command asks for a shell that reads what is typed."""

    user: str
    public_key: str
    command: str


class Typed(NamedTuple):
    """What the client's input brings; nothing means its end."""

    data: bytes


class Shown(NamedTuple):
    """What the session writes, and to which of its descriptors."""

    number: int
    data: bytes


class Ended(NamedTuple):
    """The session's exit status."""

    status: int


DENIED: Final = "denied"


def public_key(private: bytes, owner: str) -> str:
    """The line that lets the holder of a private key in."""
    digest = b64encode(sha256(private).digest()).decode().rstrip("=")
    return f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{digest} {owner}"


def admit(machine: Machine, key: str) -> None:
    """Let the holder of a key log in to a machine; its server is started if it has none."""
    files = machine.host.files
    files.mkdir("/root/.ssh", 0o700, parents=True)
    known = files.read(AUTHORIZED).decode() if files.exists(AUTHORIZED) else ""
    files.put(AUTHORIZED, f"{known}{key}\n".encode(), mode=0o600)
    files.sync(AUTHORIZED)
    if UNIT not in machine.units:
        launch = partial(machine.host.start, ["/usr/sbin/sshd", "-D"], program=sshd)
        Unit(machine, UNIT, "OpenBSD Secure Shell server", launch, restart_s=RESTART_S).start()


async def sshd(ctx: Context) -> int:
    """Let those in who may come in."""
    try:
        listener = ctx.listen(PORT, PROTOCOL)
    except NetworkError as error:
        await ctx.err(f"error: Bind to port {PORT} on 0.0.0.0 failed: {error}.\n")
        return 255
    sessions: dict[Connection, None] = {}

    async def serve(connection: Connection) -> None:
        try:
            if len(sessions) <= SESSIONS:
                await _serve(ctx, connection)
        except (NetworkError, TimedOut):
            pass
        finally:
            sessions.pop(connection, None)
            connection.close()

    while True:
        connection = await listener.accept()
        sessions[connection] = None
        ctx.spawn(serve(connection), "session")


async def _serve(ctx: Context, connection: Connection) -> None:
    login = await connection.receive(LOGIN_TIMEOUT_S)
    if not isinstance(login, Login):
        return
    if login.user != "root" or not _is_known(ctx, login.public_key):
        connection.send(DENIED)
        return
    inbox = Pipe(ctx.kernel)
    streams: dict[int, Stream] = {0: inbox.reader, 1: Wire(connection, 1), 2: Wire(connection, 2)}
    argv = ["bash", "-c", login.command] if login.command else ["bash"]
    try:
        process = ctx.container.start(argv, streams=streams, cwd="/root")
    except (CommandNotFound, NotExecutable, ForkFailed, FileError):
        connection.send(Ended(FAILED))
        return
    for stream in streams.values():
        stream.close()
    client = f"from {connection.remote[0]} port {connection.remote[1]}"
    sender = f"sshd[{ctx.process.host_pid}]"
    ctx.machine.journal.add(UNIT, sender, f"Accepted publickey for {login.user} {client} ssh2: ED25519")
    reading = ctx.spawn(_read(connection, inbox), "input")
    status = await process.wait()
    reading.drop()
    connection.send(Ended(status))


async def _read(connection: Connection, inbox: Pipe) -> None:
    """Pass on what is typed; the end of the connection is the end of the input."""
    try:
        while data := (await connection.receive()).data:
            await inbox.writer.write(data)
    except (NetworkError, KilledBySignal):
        pass
    finally:
        inbox.writer.close()


def _is_known(ctx: Context, key: str) -> bool:
    try:
        lines = ctx.files.read(AUTHORIZED).decode("utf-8", "replace").splitlines()
    except FileError:
        return False
    return bool(key) and key.split()[1:2] in [line.split()[1:2] for line in lines]


class Wire(Stream):
    """An output of a session: it goes to the client, as fast as the client reads."""

    def __init__(self, connection: Connection, number: int) -> None:
        super().__init__()
        self._connection = connection
        self._number = number

    async def write(self, data: bytes) -> None:
        """Send it, or break the writer's pipe when nobody is there any more."""
        try:
            self._connection.send(Shown(self._number, data), len(data) + 64)
            await self._connection.drain()
        except NetworkError:
            raise KilledBySignal(Signal.PIPE) from None
