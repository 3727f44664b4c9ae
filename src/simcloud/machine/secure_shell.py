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
from simcloud.machine.network import ONLY_IPV6, Connection, Endpoint, NetworkError
from simcloud.machine.process import (
    TERMINAL,
    CommandNotFound,
    Container,
    Context,
    ForkFailed,
    KilledBySignal,
    NotExecutable,
    Process,
    Prompt,
    Signal,
    Stream,
    Tty,
)
from simcloud.machine.process.tty import END, INTERRUPT, SIZE
from simcloud.machine.units import Unit
from simcloud.sim import Kernel, TimedOut

if TYPE_CHECKING:
    from simcloud.machine.computer import Machine

PORT: Final = 22
PROTOCOL: Final = "ssh"
UNIT: Final = "ssh.service"
RESTART_S: Final = 1.0
FAILED: Final = 255
AUTHORIZED: Final = "/root/.ssh/authorized_keys"
LOGIN_TIMEOUT_S: Final = 120.0
TITLE: Final = "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups"
SESSIONS: Final = 64
"""More than this at a time are turned away."""


_UNIT_FILE: Final = """\
After=network.target

[Service]
ExecStart=/usr/sbin/sshd -D $SSHD_OPTS
KillMode=process
Restart=on-failure
Type=notify

[Install]
WantedBy=multi-user.target
"""


class Login(NamedTuple):
    """The client's first message. An empty command asks for a shell that reads what is typed."""

    user: str
    public_key: str
    command: str
    terminal: tuple[int, int] | None = None
    """Size of the client's terminal if the session is to have one."""


class Typed(NamedTuple):
    """What the client's input brings; nothing means its end."""

    data: bytes


class Shown(NamedTuple):
    """What the session writes, and to which of its descriptors."""

    number: int
    data: bytes


class Waits(NamedTuple):
    """The session waits for input, having read this many bytes."""

    read_bytes: int


class Ended(NamedTuple):
    """The session's exit status."""

    status: int


DENIED: Final = "denied"


def public_key(private: bytes, owner: str) -> str:
    """The line that lets the holder of a private key in."""
    digest = b64encode(sha256(private).digest()).decode().rstrip("=")
    return f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{digest} {owner}"


def describe_host(machine: Machine) -> str:
    """The line about a machine in a client's list of known hosts."""
    key = public_key(machine.machine_id.encode(), "").rstrip()
    return f"{machine.name},{machine.host.namespace.address} {key}\n"


def admit(machine: Machine, key: str) -> None:
    """Let the holder of a key log in to a machine; its server is started if it has none."""
    files = machine.host.files
    files.mkdir("/root/.ssh", 0o700, parents=True)
    known = files.read(AUTHORIZED).decode() if files.exists(AUTHORIZED) else ""
    files.put(AUTHORIZED, f"{known}{key}\n".encode(), mode=0o600)
    files.sync(AUTHORIZED)
    if UNIT not in machine.units:
        start_server(machine)


def start_server(machine: Machine) -> None:
    """Give a machine a server that nobody may log in to yet."""
    launch = partial(machine.host.start, ["/usr/sbin/sshd", "-D"], program=sshd)
    Unit(
        machine,
        UNIT,
        "OpenBSD Secure Shell server",
        launch,
        documentation="man:sshd(8) man:sshd_config(5)",
        restart_s=RESTART_S,
        text=_UNIT_FILE,
    ).start()


async def sshd(ctx: Context) -> int:
    """Let those in who may come in."""
    ctx.process.comm, ctx.process.argv = "sshd", [TITLE]
    try:
        listener = ctx.listen(PORT, PROTOCOL)
        ctx.listen(PORT, PROTOCOL, ONLY_IPV6)
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
    inbox = Inbox(ctx.kernel, connection, login.terminal)
    streams: dict[int, Stream] = {0: inbox, 1: Wire(connection, 1), 2: Wire(connection, 2)}
    if login.terminal is not None:
        streams = dict.fromkeys(streams, inbox)
    argv = ["bash", "-c", login.command] if login.command else ["bash"]
    environment = describe_login(connection.remote, connection.local[0], login.terminal is not None)
    session = start_session(ctx.container, ctx.process, login.terminal is not None)
    connection.owner = session
    client = f"from {connection.remote[0]} port {connection.remote[1]}"
    unit, digest = ctx.machine.units[UNIT], _fingerprint(login.public_key)

    def log(text: str) -> None:
        ctx.machine.journal.add(unit.name, session.comm, session.host_pid, text, command=session.argv[0])

    log(f"Accepted publickey for {login.user} {client} ssh2: ED25519 SHA256:{digest}")
    log(f"pam_unix(sshd:session): session opened for user {login.user}(uid=0) by (uid=0)")
    try:
        process = ctx.container.start(argv, env=environment, streams=streams, cwd="/root", parent=session)
        connection.send(Ended(await _run_session(ctx, process, streams, inbox)))
    except (CommandNotFound, NotExecutable, ForkFailed, FileError):
        connection.send(Ended(FAILED))
    finally:
        log(f"pam_unix(sshd:session): session closed for user {login.user}")
        session.exit(0)


async def _run_session(ctx: Context, process: Process, streams: dict[int, Stream], inbox: Inbox) -> int:
    """Pass on what is typed until the process ends; return its status."""
    for stream in streams.values():
        stream.close()
    tasks = [ctx.spawn(inbox.receive(process), "input"), ctx.spawn(inbox.report_waits(), "waits")]
    status = await process.wait()
    for task in tasks:
        task.drop()
    return status


def describe_login(client: Endpoint, address: str, has_terminal: bool) -> dict[str, str]:
    """The environment of a session's shell."""
    source = f"{client[0]} {client[1]}"
    environment = {"USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash"}
    environment |= {"SSH_CLIENT": f"{source} {PORT}", "SSH_CONNECTION": f"{source} {address} {PORT}"}
    terminal = {"SSH_TTY": f"/dev/{TERMINAL}", "TERM": "xterm-256color"}
    return environment | terminal if has_terminal else environment


def start_session(host: Container, server: Process | None, has_terminal: bool) -> Process:
    """Start the process of a session, to which its connection belongs and whose child is the shell."""
    place = TERMINAL if has_terminal else "notty"
    session = host.start([f"sshd: root@{place}"], program=_hold, parent=server)
    session.comm = "sshd"
    return session


async def _hold(ctx: Context) -> int:
    """The process of a session: it waits for the session's end."""
    while True:
        await ctx.sleep(1e9)


def _fingerprint(key: str) -> str:
    return b64encode(sha256("".join(key.split()[1:2]).encode()).digest()).decode().rstrip("=")


def _is_known(ctx: Context, key: str) -> bool:
    try:
        lines = ctx.files.read(AUTHORIZED).decode("utf-8", "replace").splitlines()
    except FileError:
        return False
    return bool(key) and key.split()[1:2] in [line.split()[1:2] for line in lines]


class Inbox(Tty):
    """The input of a session, and with a terminal also its output."""

    def __init__(self, kernel: Kernel, connection: Connection, size: tuple[int, int] | None) -> None:
        super().__init__(kernel, self._send, isatty=size is not None, size=size or SIZE)
        self._connection = connection
        self._received_bytes = 0

    def _send(self, data: bytes) -> None:
        try:
            self._connection.send(Shown(1, data), len(data) + 64)
        except NetworkError:
            raise KilledBySignal(Signal.PIPE) from None

    def show_prompt(self, prompt: Prompt) -> None:
        """Send the prompt of a shell to the client."""
        if self.isatty:
            self._send(prompt.text.encode())

    async def receive(self, process: Process) -> None:
        """Take what is typed; the end of the connection is the end of the input."""
        try:
            while data := (await self._connection.receive()).data:
                self._received_bytes += len(data)
                if data == INTERRUPT and self.isatty:
                    self.interrupt(process)
                elif data == END and self.isatty:
                    self.end()
                else:
                    self.type(data)
        except NetworkError:
            pass
        self.hang_up()

    async def report_waits(self) -> None:
        """Tell the client whenever the session waits for input."""
        while True:
            await self.changed.wait()
            if self.waits:
                self._connection.send(Waits(self._received_bytes), 64)


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
