"""nginx-thrift: nginx with Lua, the front door of the network.

Each location of its configuration is handled by the Lua script that it names. With tracing, each request has two
spans of nginx, and its call has another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from aiopslab.apps.names import Names
from aiopslab.apps.socialnet.config import parse_sampling
from aiopslab.apps.socialnet.web.lua import LIBRARY, CallFailed, LuaThrift, ScriptAborted
from aiopslab.apps.socialnet.web.nginx import HOME, Setup, run_nginx
from aiopslab.apps.socialnet.web.scripts import (
    SCRIPTS,
    IncompleteArguments,
    Script,
    Unauthorized,
    authenticate,
    parse_arguments,
)
from simcloud.machine.files import FileError
from simcloud.machine.network import HttpResponse, NetworkError, respond
from simcloud.machine.process import Context, Program
from simcloud.services import ActiveSpan, SpanContext, Tracer
from simcloud.services.nginx import Answer, Directive, Exchange, error_page
from simcloud.services.rpc.http import parent_of

THRIFT_PORT: Final = 9090
CPU_S: Final = 0.00025
LOGIN_S: Final = 86_400
LOST_S: Final = 4.0
"""Maximum time until Lua's garbage collector closes a span that the script left open."""
REQUIRED: Final = re.compile(r"require\s*\(?\s*[\"']([^\"']+)[\"']")
SECRET: Final = "secret"
CONNECTING: Final = (
    "[C]: in function 'error'",
    f"{LIBRARY}/Thrift.lua:37: in function 'terror'",
    f"{LIBRARY}/TSocket.lua:87: in function 'open'",
    f"{LIBRARY}/RpcClient.lua:35: in function 'init'",
    f"{LIBRARY}/RpcClientFactory.lua:11: in function 'createClient'",
    f"{LIBRARY}/GenericObjectPool.lua:22: in function 'connection'",
)
"""The calls inside the Thrift library when a connection fails."""
SERVICE_NAME: Final = "nginx-web-server"


def build_nginx_thrift(names: Names) -> Program:
    """Return the program, with scripts that call services of some names."""

    async def nginx_thrift(ctx: Context) -> int:
        return await run_nginx(ctx, lambda setup: Front(setup, names))

    return nginx_thrift


class Front:
    """The locations of the front door."""

    def __init__(self, setup: Setup, names: Names) -> None:
        self._setup = setup
        self._names = names
        self._ctx = setup.ctx
        self._bits = setup.ctx.random("request ids").getrandbits
        self._lost = setup.ctx.random("garbage")
        self._tracer = Tracer(setup.ctx, SERVICE_NAME, sample_ratio=0.0)
        self._clients: dict[str, LuaThrift] = {}

    async def begin(self) -> bool:
        """Set up tracing; return False if that keeps nginx's workers from starting."""
        loaded = self._setup.http.first("opentracing_load_tracer")
        if loaded is None or not loaded.words or self._setup.http.text("opentracing", "off") != "on":
            return True
        path = loaded.words[-1]
        try:
            values = json.loads(self._ctx.files.read(path))
        except (FileError, ValueError, RecursionError) as error:
            self._setup.alert(f"Failed to construct tracer: {error}")
            return False
        agent, ratio = parse_sampling(values)
        name = str(values.get("service_name", SERVICE_NAME)) if isinstance(values, dict) else SERVICE_NAME
        try:
            self._tracer = await Tracer.open(self._ctx, name, agent, sample_ratio=ratio, library="C++-0.4.2")
        except NetworkError:
            self._setup.alert("Failed to construct tracer: Invalid argument")
            return False
        return True

    def find_answer(self, directive: Directive) -> Answer | None:
        """Return the handler of a location; None if it has no script."""
        source = directive.first("content_by_lua") or directive.first("content_by_lua_block")
        if source is None:
            return None
        found = REQUIRED.search(" ".join(source.words))
        module = found.group(1) if found is not None else ""
        prefix = directive.words[-1]  # the caller skips locations without a prefix

        async def answer(exchange: Exchange) -> HttpResponse:
            return await self._handle(prefix, module, source.line, exchange)

        return answer

    async def _handle(self, prefix: str, module: str, line: int, exchange: Exchange) -> HttpResponse:
        request = exchange.request
        outer = self._tracer.begin(prefix, parent_of(request))
        inner = self._tracer.begin(prefix, outer.context)
        await self._ctx.cpu(CPU_S)
        script = SCRIPTS.get(module)
        if script is None or not self._setup.has_script(module):
            message = f"module '{module}' not found"
            response = self._abort(f"content_by_lua(nginx.conf:{line}):2: {message}:", exchange)
        else:
            response = await self._run(script, module, line, exchange, inner.context)
        status = response.status
        tags = (
            ("component", "nginx"),
            ("http.method", request.method),
            ("http.status_code", str(status)),
            ("http.url", request.path),
            ("span.kind", "server"),
        )
        error = describe_error(status)
        inner.finish(error, tags)
        outer.finish(error, tags)
        return response

    async def _run(
        self, script: Script, module: str, line: int, exchange: Exchange, parent: SpanContext
    ) -> HttpResponse:
        request = exchange.request
        try:
            arguments = parse_arguments(request, script.posted)
            if script.needs_login:
                arguments = {**arguments, **authenticate(request, SECRET)}
            req_id = int(float(self._bits(60)))  # a number of Lua is a double
            method, payload = script.call(arguments, req_id)
        except IncompleteArguments:
            self._script_error(script, module, script.lines[0], "Incomplete arguments", exchange)
            return respond(400, b"Incomplete arguments\n")
        except Unauthorized:
            return error_page(401)
        client = self._get_client(script.service)
        try:
            connection = await client.connect(exchange)
        except ScriptAborted as error:
            frames = (
                *CONNECTING,
                f"{shorten_source(module)}:{script.lines[1]}: in function '{script.function}'",
            )
            return self._abort(format_traceback(f"{LIBRARY}/Thrift.lua:37: {error}", frames, line), exchange)
        span = self._tracer.begin(script.span, parent)
        try:
            result = await client.call(connection, method, payload, span.context, exchange)
        except CallFailed as failure:
            return self._fail(script, module, line, failure, span, exchange)
        span.finish()
        return self._succeed(script, arguments, result)

    def _succeed(self, script: Script, arguments: Mapping[str, Any], result: Any) -> HttpResponse:
        if script.function == "Login":
            expires = datetime.fromtimestamp(int(self._ctx.now) + LOGIN_S, UTC)
            response = error_page(302)
            response.headers["Location"] = f"../../main.html?username={arguments['username']}"
            response.headers["Set-Cookie"] = (
                f"login_token={result}; Path=/; Expires={expires:%a, %d-%b-%y %H:%M:%S} GMT"
            )
            return response
        response = respond(200, script.encode(result))
        if script.type:
            response.headers["Content-Type"] = script.type
        return response

    def _fail(
        self,
        script: Script,
        module: str,
        line: int,
        failure: CallFailed,
        span: ActiveSpan,
        exchange: Exchange,
    ) -> HttpResponse:
        message = f"{script.failure}{failure}"
        if script.expects_message and not failure.thrown:
            span.finish()
            source = shorten_source(module)
            error = f"{source}:{script.lines[3]}: attempt to concatenate field 'message' (a nil value)"
            frames = (f"{source}: in function '{script.function}'",)
            return self._abort(format_traceback(error, frames, line), exchange)
        self._script_error(script, module, script.lines[2 if failure.thrown else 3], message, exchange)
        if script.span == "compose_post_client":  # this script does not close its span
            self._ctx.kernel.call_later(self._lost.random() * LOST_S, _finish, span)
        else:
            span.finish()
        return respond(500, f"{message}\n")

    def _script_error(self, script: Script, module: str, line: int, text: str, exchange: Exchange) -> None:
        name = module.rpartition("/")[2]
        self._setup.server.error(f"[lua] {name}.lua:{line}: {script.function}(): {text}", exchange)

    def _abort(self, text: str, exchange: Exchange) -> HttpResponse:
        self._setup.server.error(f"lua entry thread aborted: runtime error: {text}", exchange)
        return error_page(500)

    def _get_client(self, service: str) -> LuaThrift:
        found = self._clients.get(service)
        if found is None:
            host = self._names.rename(service) + self._ctx.env.get("fqdn_suffix", "")
            setup = self._setup
            found = LuaThrift(self._ctx, setup, host, THRIFT_PORT)
            self._clients[service] = found
        return found


def shorten_source(module: str) -> str:
    """Return the path of a script as Lua's messages have it: at most 59 characters, the last ones."""
    path = f"{HOME}/lua-scripts/{module}.lua"
    return path if len(path) < 60 else f"...{path[-56:]}"


def format_traceback(error: str, frames: tuple[str, ...], line: int) -> str:
    """Return an error with Lua's stack of calls, up to the block of the configuration on a line."""
    main = f"content_by_lua(nginx.conf:{line}):3: in main chunk"
    return "\n\t".join((f"{error}\nstack traceback:\ncoroutine 0:", *frames, main))


def _finish(span: ActiveSpan) -> None:
    span.finish()


def describe_error(status: int) -> str | None:
    """Return the error of a span for a response of that status, or None."""
    return f"HTTP {status}" if status >= 500 else None
