"""A client's connection to the server: typed messages from simulated clients, bytes from any other program.

A command runs when it arrives. Its reply leaves when the server's single thread has had the time for it, so a slow
command delays the replies to all clients.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from simcloud.datastores.redis.commands.connections import describe
from simcloud.datastores.redis.dispatch import execute
from simcloud.datastores.redis.resp import (
    REDIS,
    Commands,
    ErrorReply,
    ProtocolError,
    Replies,
    Reply,
    RequestReader,
    Several,
    Words,
    encode,
    size_bytes,
)
from simcloud.datastores.redis.state import Client, ServerState
from simcloud.machine.network import Connection, HttpMessage, NetworkError
from simcloud.sim import Kernel

QUERY_MAX_BYTES: Final = 64 << 20
"""Maximum size of an incomplete command; the genuine limit is 1 GB."""

OUTPUT_MAX_BYTES: Final = 64 << 20
"""A client with more pending output is disconnected."""

WORD_BYTES: Final = len("$10\r\n\r\n")
ATTACKS: Final = (b"post", b"host:")
"""The first words of HTTP requests, which a browser may have been tricked into sending."""


class Host(Protocol):
    """The part of the server that a connection uses."""

    kernel: Kernel
    state: ServerState

    @property
    def alive(self) -> bool:
        """Return whether the process still runs."""

    def spend(self, client: Client, words: Words, reply: Reply) -> float:
        """Book CPU time of a command; return when the thread is free again."""

    def forget(self, client: Client) -> None:
        """Forget a client that has disconnected."""


class ClientConnection:
    """A connection and its client."""

    __slots__ = ("_connection", "_free_at", "_reader", "_server", "client")

    def __init__(self, server: Host, connection: Connection) -> None:
        self._server = server
        self._connection = connection
        self._reader: RequestReader | None = None
        self._free_at = 0.0
        address, local = (f"{end[0]}:{end[1]}" for end in (connection.remote, connection.local))
        self.client: Client = server.state.connect(address, local, self.push)

    def take(self, message: Any) -> None:
        """Handle a message from the client."""
        if message.__class__ is Commands:
            self._take_commands(message.commands)
        elif isinstance(message, bytes):
            self._take_bytes(message)
        elif isinstance(message, HttpMessage):
            self._take_bytes(message.head() + message.body)
        else:
            self.end(None)  # some binary protocol: nothing it could mean here

    def _take_commands(self, commands: list[Words]) -> None:
        replies: list[Reply] = []
        size = received = 0
        client = self.client
        for words in commands:
            if client.closing:
                break
            reply, reply_bytes = self._run(words)
            size += reply_bytes
            received += sum(map(len, words)) + WORD_BYTES * len(words)
            if isinstance(reply, Several):
                replies += reply
            else:
                replies.append(reply)
        self._server.state.bytes_in += received
        if self._server.alive:
            self._send(Replies(replies), size)
            if client.closing:
                self._hang_up_later()

    def push(self, reply: Reply) -> None:
        """Send a message that is not a reply."""
        self._send(Replies([reply]) if self._is_typed else encode(reply), size_bytes(reply))

    def end(self, _error: object) -> None:
        """Handle the end of the connection."""
        self._server.forget(self.client)
        self._connection.close()

    @property
    def _is_typed(self) -> bool:
        return self._connection.protocol == REDIS

    def _run(self, words: Words) -> tuple[Reply, int]:
        """Run a command; return its reply and the size of that."""
        server = self._server
        reply = execute(self.client, words)
        self._free_at = server.spend(self.client, words, reply)
        reply_bytes = size_bytes(reply)
        if reply_bytes > OUTPUT_MAX_BYTES and reply.__class__ is list:
            shown = describe(self.client)
            server.state.log(
                "#", f"Client {shown} scheduled to be closed ASAP for overcoming of output buffer limits."
            )
            self.client.closing = True
            reply = Several()
            return reply, size_bytes(reply)
        return reply, reply_bytes

    def _take_bytes(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            reader = self._reader = RequestReader()
        state = self._server.state
        state.bytes_in += len(data)
        reader.feed(data)
        output: list[bytes] = []
        try:
            self._read_all(reader, output)
        except ProtocolError as error:
            output.append(encode(ErrorReply(f"ERR Protocol error: {error}")))
            self.client.closing = True
        if not self._server.alive:
            return
        if output:
            reply = b"".join(output)
            self._send(reply, len(reply))
        if self.client.closing or reader.pending_bytes > QUERY_MAX_BYTES:
            self._hang_up_later()

    def _read_all(self, reader: RequestReader, output: list[bytes]) -> None:
        while not self.client.closing:
            reader.authenticated = self.client.authenticated
            words = reader.next()
            if words is None:
                return
            if words and words[0].lower() in ATTACKS:
                self._server.state.log(
                    "#",
                    "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to "
                    "Redis. This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise "
                    "your Redis instance. Connection aborted.",
                )
                self.client.closing = True
                output.clear()
                return
            if words:
                reply, _ = self._run(words)
                output.append(encode(reply))

    def _send(self, message: object, size: int) -> None:
        server = self._server
        server.state.bytes_out += size
        kernel = server.kernel
        # Answers and pushes of one connection leave in the order they were made.
        self._free_at = max(self._free_at, kernel.now)
        kernel.call_at(self._free_at, self._deliver, (message, size))

    def _deliver(self, packet: tuple[object, int]) -> None:
        try:
            self._connection.send(*packet)
        except NetworkError:
            pass  # the client has disconnected

    def _hang_up_later(self) -> None:
        self._server.kernel.call_at(max(self._free_at, self._server.kernel.now), self.end, None)
