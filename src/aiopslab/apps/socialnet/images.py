"""The images of the chart: the C++ programs, the two nginx servers, and datastores with and without data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from string import Template
from typing import Final

from aiopslab.apps.names import Names
from aiopslab.apps.socialnet.data.databases import build_images_with_data
from aiopslab.apps.socialnet.services.compose_post import compose_post_service
from aiopslab.apps.socialnet.services.home_timeline import home_timeline_service
from aiopslab.apps.socialnet.services.media import media_service
from aiopslab.apps.socialnet.services.post_storage import post_storage_service
from aiopslab.apps.socialnet.services.social_graph import social_graph_service
from aiopslab.apps.socialnet.services.text import text_service
from aiopslab.apps.socialnet.services.unique_id import unique_id_service
from aiopslab.apps.socialnet.services.url_shorten import url_shorten_service
from aiopslab.apps.socialnet.services.user import user_service
from aiopslab.apps.socialnet.services.user_mention import user_mention_service
from aiopslab.apps.socialnet.services.user_timeline import user_timeline_service
from aiopslab.apps.socialnet.web.front import build_nginx_thrift
from aiopslab.apps.socialnet.web.lua import LIBRARY
from aiopslab.apps.socialnet.web.media import build_media_frontend
from aiopslab.apps.socialnet.web.nginx import HOME, SCRIPTS
from aiopslab.apps.socialnet.web.scripts import SCRIPTS as FRONT_SCRIPTS
from simcloud.datastores.memcached import add_memcached
from simcloud.datastores.mongodb import image as mongodb
from simcloud.datastores.redis import add_redis
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.process import Program
from simcloud.services.jaeger import add_jaeger
from simcloud.userland import XENIAL, build_image

SERVICES: Final = "deathstarbench/social-network-microservices:latest"
WEB: Final = "yg397/openresty-thrift:xenial"
MEDIA: Final = "yg397/media-frontend:xenial"
WITH_DATA: Final = "deathstarbench/social-network-"
DATABASES: Final = ("post-storage-mongodb", "social-graph-mongodb", "user-mongodb", "user-timeline-mongodb")
TIMELINES: Final = "home-timeline-redis"
WORKDIR: Final = "/social-network-microservices"
SERVICES_BYTES: Final = 113_402_586
WEB_BYTES: Final = 387_914_405
MEDIA_BYTES: Final = 371_260_918
SNAPSHOT_BYTES: Final = 39_204_518
OPENRESTY_PACKAGES: Final = ("curl", "gettext-base", "openssl", "wget")

PROGRAMS: Final[Mapping[str, Callable[[Names], Program]]] = {
    "ComposePostService": compose_post_service,
    "HomeTimelineService": home_timeline_service,
    "MediaService": media_service,
    "PostStorageService": post_storage_service,
    "SocialGraphService": social_graph_service,
    "TextService": text_service,
    "UniqueIdService": unique_id_service,
    "UrlShortenService": url_shorten_service,
    "UserMentionService": user_mention_service,
    "UserService": user_service,
    "UserTimelineService": user_timeline_service,
}
LUA_BEGIN: Final = Template(
    """local _M = {}
local k8s_suffix = os.getenv("fqdn_suffix") or ""

local function is_missing(value)
  return value == nil or value == ""
end

function _M.is_complete(args)
  for _, name in ipairs(_M.required) do
    if is_missing(args[name]) then
      return false
    end
  end
  return true
end

function _M.$function()
  local GenericObjectPool = require "GenericObjectPool"
  local bridge_tracer = require "opentracing_bridge_tracer"
  local tracer = bridge_tracer.new_from_global()
  local parent = tracer:binary_extract(ngx.var.opentracing_binary_context)
  local span = tracer:start_span("$span", { references = { { "child_of", parent } } })
  ngx.req.read_body()
  local args = $source
"""
)
LUA_CHECK: Final = """  if not _M.is_complete(args) then
    ngx.status = ngx.HTTP_BAD_REQUEST
    ngx.say("Incomplete arguments")
    ngx.log(ngx.ERR, "Incomplete arguments")
    ngx.exit(ngx.HTTP_BAD_REQUEST)
  end
"""
LUA_CALL: Final = Template(
    """  local client = GenericObjectPool:connection(_M.client_class, "$service" .. k8s_suffix, 9090)
  local status, result = pcall(client.$function, client, _M.payload(args))
"""
)
LUA_FAILURE: Final = Template(
    """  if not status then
    ngx.status = ngx.HTTP_INTERNAL_SERVER_ERROR
    if result.message then
      ngx.say("$failure" .. result.message)
      ngx.log(ngx.ERR, "$failure" .. result.message)
    else
"""
)
LUA_END: Final = Template(
    """      ngx.say("$failure" .. $error)
      ngx.log(ngx.ERR, "$failure" .. $error)
    end
    ngx.exit(ngx.HTTP_OK)
  end
  GenericObjectPool:returnConnection(client)
  ngx.say(_M.encode(result))
end

return _M
"""
)
LIBRARY_SOURCES: Final[Mapping[str, tuple[int, str]]] = {
    "Thrift": (
        36,
        """local function terror(exception)
  error(exception:__tostring())
end

return { terror = terror }
""",
    ),
    "TSocket": (
        84,
        """function TSocket:open()
  local connected, reason = ngx.socket.tcp():connect(self.host, self.port)
  if not connected then
    terror(TTransportException:new{ message = self:describe(reason) })
  end
end

return TSocket
""",
    ),
    "RpcClient": (
        33,
        """function RpcClient:init(ip, port, timeout, ssl)
  local transport = self:transport(ip, port, timeout, ssl)
  transport:open()
  return TBinaryProtocol:new{ trans = transport }
end

return RpcClient
""",
    ),
    "RpcClientFactory": (
        10,
        """function RpcClientFactory:createClient(class, ip, port, timeout, ssl)
  local protocol = self:init(ip, port, timeout, ssl)
  return class:new{ iprot = protocol, oprot = protocol }
end

return RpcClientFactory
""",
    ),
    "GenericObjectPool": (
        20,
        """function GenericObjectPool:connection(class, ip, port)
  local ssl = ngx.shared.config:get("ssl")
  local client = RpcClientFactory:createClient(class, ip, port, self.timeout, ssl)
  return client
end

return GenericObjectPool
""",
    ),
}
"""Files of the Thrift library that Lua's tracebacks name: the line that each begins with, and its source."""
PAGE: Final = b"""<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1, shrink-to-fit=no">
  <title>Social Network</title>
  <link rel="stylesheet" href="style/bootstrap.min.css">
  <link rel="stylesheet" href="style/login.css">
  <script src="javascript/jquery.min.js"></script>
  <script src="javascript/bootstrap.min.js"></script>
</head>
<body class="text-center">
  <nav class="navbar navbar-expand-lg navbar-dark bg-dark"><a class="navbar-brand" href="./index.html">Social Network</a></nav>
  <form class="form-signin" action="./api/user/login" method="post">
    <h1 class="h3 mb-3 font-weight-normal">Please sign in</h1>
    <label for="username" class="sr-only">Username</label>
    <input type="text" id="username" name="username" class="form-control" placeholder="Username" required autofocus>
    <label for="password" class="sr-only">Password</label>
    <input type="password" id="password" name="password" class="form-control" placeholder="Password" required>
    <button class="btn btn-lg btn-primary btn-block" type="submit" name="login">Sign in</button>
    <p class="mt-3 mb-1 text-muted">No account yet? <a href="./signup.html">Sign up</a></p>
  </form>
  <script src="javascript/login.js"></script>
</body>
</html>
"""


@cache
def build_services_image(names: Names) -> Image:
    """Build the image of the eleven programs, for services of some names. Their configuration is mounted."""
    return build_image(
        "social-network-microservices",
        XENIAL,
        {program: build(names) for program, build in PROGRAMS.items()},
        packages=("openssl",),
        files={f"{WORKDIR}/config/": b""},
    )


@cache
def build_web_image(names: Names) -> Image:
    """Build the image of the web server, with its scripts and pages."""
    library = {f"{LIBRARY}/{file}.lua": _place(part) for file, part in LIBRARY_SOURCES.items()}
    return _build_openresty(
        "openresty-thrift", build_nginx_thrift(names), tuple(FRONT_SCRIPTS), names, library
    )


@cache
def build_media_image(names: Names) -> Image:
    """Build the image of the picture server."""
    program = build_media_frontend(names)
    return _build_openresty("media-frontend", program, ("upload-media", "get-media"), names, {})


def _build_openresty(
    name: str, program: Program, scripts: tuple[str, ...], names: Names, library: Mapping[str, bytes]
) -> Image:
    files = {f"{SCRIPTS}/{script}.lua": _format_script(script, names) for script in scripts}
    pages = {f"{HOME}/pages/{page}.html": PAGE for page in ("index", "main")}
    return build_image(
        name,
        XENIAL,
        {"nginx": program, "openresty": program},
        packages=OPENRESTY_PACKAGES,
        files={**files, **pages, **library, f"{HOME}/conf/mime.types": b"types {}\n"},
    )


def _format_script(module: str, names: Names) -> bytes:
    """Return a script's source. Only whether the file exists has an effect: the scripts are implemented in Python."""
    script = FRONT_SCRIPTS.get(module)
    if script is None:
        return b'local _M = {}\nlocal mongo = require "resty-mongol"\n\nreturn _M\n'
    words = {
        **script._asdict(),
        "service": names.rename(script.service),
        "source": "ngx.req.get_post_args()" if script.posted else "ngx.req.get_uri_args()",
        "error": "result.message" if script.expects_message else "result",
    }
    check, connection, thrown, failed = script.lines
    parts = (
        (1, LUA_BEGIN.substitute(words)),
        (check - 3, LUA_CHECK),
        (connection, LUA_CALL.substitute(words)),
        (thrown - 4, LUA_FAILURE.substitute(words)),
        (failed if script.expects_message else failed - 1, LUA_END.substitute(words)),
    )
    return _place(*parts)


def _place(*parts: tuple[int, str]) -> bytes:
    """Return a source whose parts begin on their lines, to which logs refer."""
    text = ""
    for line, part in sorted(parts):
        text += "\n" * (line - 1 - text.count("\n")) + part
    return text.encode()


def publish(registry: ImageRegistry, names: Names) -> None:
    """Add the images of the application and its datastores to a registry."""
    services = build_services_image(names)
    registry.add(SERVICES, services, args=("bash",), workdir=WORKDIR, size_bytes=SERVICES_BYTES)
    for reference, image, size_bytes in (
        (WEB, build_web_image(names), WEB_BYTES),
        (MEDIA, build_media_image(names), MEDIA_BYTES),
    ):
        args = ("openresty", "-g", "daemon off;")
        registry.add(reference, image, args=args, workdir=HOME, size_bytes=size_bytes)
    images = build_images_with_data()
    for name in DATABASES:
        registry.add(
            f"{WITH_DATA}{name}:4.4.6",
            images[name],
            args=("mongod",),
            size_bytes=mongodb.SIZE_BYTES + 9_173 * len(name),
        )
    registry.add(
        f"{WITH_DATA}{TIMELINES}:6.2.4",
        images[TIMELINES],
        args=("redis-server",),
        workdir="/data",
        size_bytes=SNAPSHOT_BYTES,
    )
    for reference, image in mongodb.images().items():
        registry.add(reference, image, args=("mongod",), size_bytes=mongodb.SIZE_BYTES)
    add_jaeger(registry)
    add_memcached(registry)
    add_redis(registry)
