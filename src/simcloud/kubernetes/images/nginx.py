"""A small nginx: serves the files below /usr/share/nginx/html and writes an access log.

Like any first process of a container without a signal handler, it ignores SIGTERM.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from posixpath import normpath
from typing import Final

from simcloud.machine import Image
from simcloud.machine.files import FileError
from simcloud.machine.network import (
    HTTP,
    AddressInUse,
    Connection,
    HttpRequest,
    HttpResponse,
    respond,
    send_response,
)
from simcloud.machine.process import Context
from simcloud.userland.commands import all_commands

ROOT: Final = "/usr/share/nginx/html"
PORT: Final = 80
VERSION: Final = "1.19"
PAGE: Final = (
    b"<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>\n</head>\n"
    b"<body>\n<h1>Welcome to nginx!</h1>\n</body>\n</html>\n"
)


@cache
def nginx_image() -> Image:
    """The program with a welcome page, and a shell beside it."""
    return Image(
        "nginx",
        {**all_commands(), "nginx": nginx},
        files={f"{ROOT}/index.html": PAGE},
        env={"NGINX_VERSION": VERSION},
    )


async def nginx(ctx: Context) -> int:
    """Serve until somebody kills it."""
    ctx.log("/docker-entrypoint.sh: Configuration complete; ready for start up")
    try:
        listener = ctx.listen(PORT, HTTP)
    except AddressInUse:
        await ctx.err(f"nginx: [emerg] bind() to 0.0.0.0:{PORT} failed (98: Address already in use)\n")
        return 1
    listener.on_accept = lambda connection: _serve(ctx, connection)
    while True:
        await ctx.sleep(1e9)


def _serve(ctx: Context, connection: Connection) -> None:
    """Answer what comes over one connection; the log names the client at its other end."""

    def take(request: HttpRequest) -> None:
        response = _page(ctx, request)
        _log(ctx, connection.remote[0], request, response)
        response.headers["Content-Length"] = str(len(response.body))
        send_response(connection, request, response)

    connection.on_message = take
    connection.on_close = lambda _error: connection.close()


def _page(ctx: Context, request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return respond(405, _error("405 Not Allowed"), Content_Type="text/html")
    path = ROOT + normpath("/" + request.path.partition("?")[0])
    try:
        if ctx.files.is_dir(path):
            path = f"{path.rstrip('/')}/index.html"
        return respond(200, ctx.files.read(path), Content_Type="text/html")
    except FileError as error:
        if error.strerror == "Permission denied":
            return respond(403, _error("403 Forbidden"), Content_Type="text/html")
        return respond(404, _error("404 Not Found"), Content_Type="text/html")


def _error(title: str) -> str:
    return (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
        f"<hr><center>nginx/{VERSION}</center>\r\n</body>\r\n</html>\r\n"
    )


def _log(ctx: Context, client: str, request: HttpRequest, response: HttpResponse) -> None:
    when = datetime.fromtimestamp(int(ctx.now), UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    agent = request.header("User-Agent") or "-"
    ctx.log(
        f'{client} - - [{when}] "{request.first_line}" {response.status} {len(response.body)} "-" "{agent}"'
    )
