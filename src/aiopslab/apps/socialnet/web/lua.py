"""The Thrift client in nginx's Lua: kept-alive connections, timeouts of ten seconds, and its own error messages.

nginx's resolver resolves names and caches addresses for the configured time. A failed connection aborts the request
(``ScriptAborted``); a failed call is handled by the script (``CallFailed``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from simcloud.machine.network import Connection, NameNotFound, NetworkError, ResolverFailure, dns
from simcloud.machine.process import Context
from simcloud.services import SpanContext
from simcloud.services.nginx import Exchange
from simcloud.services.rpc.thrift import FRAME_BYTES, THRIFT, Reply, Request, lua_words
from simcloud.sim import TimedOut

if TYPE_CHECKING:
    from aiopslab.apps.socialnet.web.nginx import Setup

TIMEOUT_S: Final = 10.0
IDLE_S: Final = 10.0
MAX_IDLE: Final = 512
LIBRARY: Final = "/usr/local/openresty/lualib/thrift"
RESOLVER_TIMEOUT_S: Final = 30.0
RESEND_S: Final = 5.0
ERRNO: Final = {"Connection refused": 111, "No route to host": 113, "Connection timed out": 110}


class ScriptAborted(Exception):
    """An uncaught error ended the script; the message is Lua's."""


class CallFailed(Exception):
    """A call failed. ``thrown`` is whether the callee raised an exception with a message."""

    def __init__(self, text: str, thrown: bool) -> None:
        super().__init__(text)
        self.thrown = thrown


class LuaThrift:
    """A client of one service."""

    def __init__(self, ctx: Context, setup: Setup, host: str, port: int) -> None:
        self._ctx = ctx
        self._server = setup.server
        self._nameservers = setup.nameservers
        self._host = host
        self._port = port
        self._valid_s = setup.resolver_valid_s
        self._address = ""
        self._fresh_until = -1.0
        self._idle: deque[tuple[Connection, float]] = deque()

    async def connect(self, exchange: Exchange) -> Connection:
        """Return an idle or a new connection; raises ``ScriptAborted``."""
        now, idle = self._ctx.kernel.now, self._idle
        while idle:
            connection, since = idle.pop()
            if now - since <= IDLE_S and not connection.closed:
                return connection
            connection.close()
        self._server.connections += 1
        try:
            return await self._ctx.dial(await self._resolve(), self._port, THRIFT, TIMEOUT_S)
        except NetworkError as error:
            number = ERRNO.get(str(error))
            if number is not None:
                self._server.error(f"connect() failed ({number}: {error})", exchange)
            raise ScriptAborted(lua_words(error, self._host, self._port, connected=False)) from None

    async def call(
        self, connection: Connection, method: str, payload: Any, span: SpanContext, exchange: Exchange
    ) -> Any:
        """Call a method over a connection, keep the connection on success, and return the result; raises ``CallFailed``."""
        try:
            connection.send(Request(method, payload, span), FRAME_BYTES)
            reply: Reply = await connection.receive(TIMEOUT_S)
        except (NetworkError, TimedOut) as error:
            connection.close()
            if isinstance(error, TimedOut):
                self._server.error("lua tcp socket read timed out", exchange)
            words = lua_words(error, self._host, self._port, connected=True)
            raise CallFailed(f"{LIBRARY}/Thrift.lua:37: {words}", thrown=False) from None
        if reply.error is not None:
            connection.close()
            raise CallFailed(str(reply.error), thrown=True)
        if len(self._idle) < MAX_IDLE:
            self._idle.append((connection, self._ctx.kernel.now))
        else:
            connection.close()
        return reply.payload

    async def _resolve(self) -> str:
        now = self._ctx.kernel.now
        if now >= self._fresh_until:
            self._address = await self._ask_nameservers()
            self._fresh_until = self._ctx.kernel.now + self._valid_s
        return self._address

    async def _ask_nameservers(self) -> str:
        """Return the service's address. The configured name servers are asked in turn, without search domains."""
        kernel, namespace = self._ctx.kernel, self._ctx.container.namespace
        question = dns.Question(dns.plain_name(self._host), "A")
        give_up_at = kernel.now + RESOLVER_TIMEOUT_S
        while kernel.now < give_up_at and self._nameservers:
            for server in self._nameservers:
                started_at = kernel.now
                try:
                    reply = await dns.ask(namespace, server, question, RESEND_S)
                except (NetworkError, TimedOut):
                    await self._ctx.sleep(max(0.0, started_at + RESEND_S - kernel.now))
                    continue
                if reply.addresses:
                    return reply.addresses[0]
                if reply.code in (dns.NOERROR, dns.NXDOMAIN):
                    raise NameNotFound(self._host)
                raise ResolverFailure(self._host, answered=True)
        raise ResolverFailure(self._host)
