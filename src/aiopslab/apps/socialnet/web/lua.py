"""Thrift in Lua, inside nginx: connections that are kept for a while, time-outs of ten seconds, and its own words.

Names are looked up by nginx's resolver, which keeps addresses for as long as the configuration says. A connection that
cannot be had ends the request (``Aborted``); a call that fails is the script's to tell (``Failed``).
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.process import Context
from simcloud.services.nginx.server import Exchange, NginxServer
from simcloud.services.rpc.thrift import lua_words
from simcloud.services.rpc.thrift.messages import FRAME_BYTES, THRIFT, Reply, Request
from simcloud.services.tracing import SpanContext
from simcloud.sim import TimedOut

TIMEOUT_S: Final = 10.0
IDLE_S: Final = 10.0
KEPT: Final = 512
LIBRARY: Final = "/usr/local/openresty/luajit/share/lua/5.1"
ERRNO: Final = {"Connection refused": 111, "No route to host": 113, "Connection timed out": 110}


class Aborted(Exception):
    """The script ended where nobody caught the error; the text is Lua's."""


class Failed(Exception):
    """A call failed. ``thrown`` is whether the callee threw something that has a message."""

    def __init__(self, text: str, thrown: bool, code: str = "") -> None:
        super().__init__(text)
        self.thrown = thrown
        self.code = code


class LuaThrift:
    """Clients of one service."""

    def __init__(self, ctx: Context, server: NginxServer, host: str, port: int, valid_s: float) -> None:
        self._ctx = ctx
        self._server = server
        self._host = host
        self._port = port
        self._valid_s = valid_s
        self._address = ""
        self._fresh_until = -1.0
        self._idle: deque[tuple[Connection, float]] = deque()

    async def connect(self, exchange: Exchange) -> Connection:
        """A connection, kept or new; raises ``Aborted``."""
        now, idle = self._ctx.kernel.now, self._idle
        while idle:
            connection, since = idle.pop()
            if now - since <= IDLE_S and not connection.closed:
                return connection
            connection.close()
        try:
            return await self._ctx.dial(await self._resolved(), self._port, THRIFT, TIMEOUT_S)
        except NetworkError as error:
            number = ERRNO.get(str(error))
            if number is not None:
                self._server.error(f"connect() failed ({number}: {error})", exchange)
            raise Aborted(lua_words(error, self._host, self._port, connected=False)) from None

    async def call(
        self, connection: Connection, method: str, payload: Any, span: SpanContext, exchange: Exchange
    ) -> Any:
        """Call a method over a connection, which is kept if that went well; raises ``Failed``."""
        try:
            connection.send(Request(method, payload, span), FRAME_BYTES)
            reply: Reply = await connection.receive(TIMEOUT_S)
        except (NetworkError, TimedOut) as error:
            connection.close()
            if isinstance(error, TimedOut):
                self._server.error("lua tcp socket read timed out", exchange)
            words = lua_words(error, self._host, self._port, connected=True)
            raise Failed(f"{LIBRARY}/Thrift.lua:37: {words}", thrown=False) from None
        if reply.error is not None:
            connection.close()
            raise Failed(str(reply.error), thrown=True, code=getattr(reply.error, "code", ""))
        if len(self._idle) < KEPT:
            self._idle.append((connection, self._ctx.kernel.now))
        else:
            connection.close()
        return reply.payload

    async def _resolved(self) -> str:
        now = self._ctx.kernel.now
        if now >= self._fresh_until:
            self._address = (await self._ctx.container.namespace.resolve(self._host))[0]
            self._fresh_until = now + self._valid_s
        return self._address
