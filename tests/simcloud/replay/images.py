"""The images of the recorded node that were not what their tags say.

``busybox`` was Debian's, whose version is newer and whose nc has fewer options; ``nginx`` was that busybox, too: its
httpd serves nginx's page. These are such images, made of programs that run.
"""

from __future__ import annotations

from http import HTTPStatus
from posixpath import normpath
from typing import Final

from simcloud.kubernetes.images import ImageRegistry
from simcloud.kubernetes.images.busybox import busybox_commands
from simcloud.kubernetes.images.busybox.commands import nc_of
from simcloud.kubernetes.images.busybox.messages import with_usage
from simcloud.kubernetes.images.nginx import PAGE
from simcloud.machine import BASE_FILES, Image
from simcloud.machine.files import FileError, Files
from simcloud.machine.network import DUAL, HTTP, Connection, HttpRequest, HttpResponse, NetworkError
from simcloud.machine.network.http import respond, send_response
from simcloud.machine.process import Context, Program
from simcloud.userland.commands import all_commands, parse
from simcloud.userland.commands.registry import report_usage_errors

VERSION: Final = "BusyBox v1.38.0 (Debian 1:1.38.0-3+b1) multi-call binary."
NC_OPTIONS: Final = "e:f:i:lp:w:"
NC_USAGE: Final = """\
Usage: nc [-iN] [-wN] [-l] [-p PORT] [-f FILE|IPADDR PORT] [-e PROG]

Open a pipe to IP:PORT or FILE

\t-l\tListen mode, for inbound connects
\t\t(use -ll with -e for persistent server)
\t-p PORT\tLocal port
\t-w SEC\tConnect timeout
\t-i SEC\tDelay interval for lines sent
\t-f FILE\tUse file (ala /dev/ttyS0) instead of network
\t-e PROG\tRun PROG after connect
"""
ACCOUNTS: Final = {name: BASE_FILES[name] for name in ("/etc/passwd", "/etc/group")}
ENTRY_POINT: Final = "/docker-entrypoint.sh"
SCRIPT: Final = f"""\
#!/bin/sh
echo "{ENTRY_POINT}: Configuration complete; ready for start up"
exec /bin/httpd -f -v -p 80 -h /usr/share/nginx/html
"""
BACKLOG: Final = 9


def serve_recorded_images(registry: ImageRegistry) -> None:
    """Put the recorded node's images in the place of those that their tags promise."""
    images = {"busybox:1.36": Image("busybox", debian_commands(), system_files=ACCOUNTS)}
    for reference, image in (images | {f"nginx:{tag}": NginxAlias(tag) for tag in ("1.19", "1.20")}).items():
        promised = registry.find(reference)
        assert promised is not None
        registry.remove(reference)
        size_bytes, digest = promised.size_bytes, promised.digest
        registry.add(reference, image, args=promised.args, size_bytes=size_bytes, digest=digest)


def debian_commands() -> dict[str, Program]:
    """The commands of Debian's busybox."""
    nc = nc_of(all_commands()["nc"], NC_OPTIONS, NC_USAGE)
    return {**busybox_commands(VERSION), "nc": with_usage(nc, VERSION), "httpd": httpd}


class NginxAlias(Image):
    """busybox under nginx's name, with few folders in its root."""

    def __init__(self, version: str) -> None:
        files = {
            ENTRY_POINT: SCRIPT.encode(),
            "/etc/nginx-version": f"{version}\n".encode(),
            "/usr/share/nginx/html/index.html": PAGE,
        }
        env = {"NGINX_VERSION": version}
        start = (ENTRY_POINT,)
        super().__init__(
            "nginx", debian_commands(), files=files, env=env, entrypoint=start, system_files=ACCOUNTS
        )
        root = Files(self._volume)
        root.chmod(ENTRY_POINT, 0o755)
        for link in ("/lib", "/sbin"):
            root.remove(link)
        for folder in ("/boot", "/media", "/mnt", "/opt", "/run", "/srv"):
            root.rmdir(folder)


@report_usage_errors
async def httpd(ctx: Context) -> int:
    """Serve a folder, one request per connection; ``-v`` writes the client and the status of each to stderr."""
    options = parse(ctx.args, "fvp:h:")
    try:
        listener = ctx.listen(int(options.last("p") or 80), HTTP, DUAL, BACKLOG)
    except NetworkError as error:
        await ctx.err(f"httpd: bind: {error}\n")
        return 1
    while True:
        connection = await listener.accept()
        ctx.spawn(_serve(ctx, connection, options.last("h") or ".", options.any("v")), "request")


async def _serve(ctx: Context, connection: Connection, home: str, is_verbose: bool) -> None:
    try:
        request = await connection.receive()
    except NetworkError:
        connection.close()
        return
    response = _find(ctx, request, home)
    response.headers |= {"Connection": "close", "Content-Length": str(len(response.body))}
    if is_verbose:
        address, port = connection.remote
        await ctx.err(f"[::ffff:{address}]:{port}: response:{response.status}\n")
    send_response(connection, request, response)
    connection.close()


def _find(ctx: Context, request: HttpRequest, home: str) -> HttpResponse:
    path = home + normpath("/" + request.path.partition("?")[0])
    status, why = HTTPStatus.NOT_IMPLEMENTED, "The requested method is not recognized"
    try:
        if ctx.files.is_dir(path):
            path = f"{path.rstrip('/')}/index.html"
        if request.method in ("GET", "HEAD"):
            kind = "text/html" if path.endswith(".html") else "application/octet-stream"
            return respond(200, ctx.files.read(path), Content_Type=kind)
    except FileError:
        status, why = HTTPStatus.NOT_FOUND, "The requested URL was not found"
    title = f"{status.value} {status.phrase}"
    page = f"<HTML><HEAD><TITLE>{title}</TITLE></HEAD>\n<BODY><H1>{title}</H1>\n{why}\n</BODY></HTML>\n"
    return respond(status.value, page, Content_Type="text/html")
