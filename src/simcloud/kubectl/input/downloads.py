"""Manifests from URLs, fetched over the simulated machine's network only."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.machine.files import FileError
from simcloud.machine.network import HttpRequest
from simcloud.machine.process import Context
from simcloud.userland.commands.net import REDIRECTS, ExchangeFailed, Failure, Url, fetch

ATTEMPTS: Final = 3
BETWEEN_S: Final = 1.0
MOST_REDIRECTS: Final = 10


async def download(ctx: Context, address: str) -> bytes:
    """What a URL holds; a server in trouble is asked three times."""
    for attempt in range(ATTEMPTS):
        if attempt:
            await ctx.sleep(BETWEEN_S)
        status, body = await _get(ctx, address)
        if status == HTTPStatus.OK:
            return body
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            break
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    raise KubectlError(
        f'unable to read URL "{address}", server reported {status}{phrase}, status code={status}'
    )


async def _get(ctx: Context, address: str) -> tuple[int, bytes]:
    url = Url.parse(address)
    for _ in range(MOST_REDIRECTS):
        if url is None:
            raise KubectlError(f'the URL passed to filename "{address}" is not valid: no host in it')
        try:
            exchange = await fetch(ctx, url, HttpRequest("GET", url.path, {"Host": url.authority}))
        except ExchangeFailed as error:
            raise _unreachable(ctx, url, error) from None
        response = exchange.response
        onward = response.header("Location")
        if response.status not in REDIRECTS or onward is None:
            return response.status, response.body
        url = url.follow_redirect(onward)
    raise KubectlError(f'Get "{address}": stopped after {MOST_REDIRECTS} redirects')


def _unreachable(ctx: Context, url: Url, error: ExchangeFailed) -> KubectlError:
    where = f"{url.host}:{url.port}"
    if error.failure is Failure.REFUSED:
        return PlainError(
            f"The connection to the server {url.authority} was refused - did you specify the right host or port?"
        )
    if error.failure is Failure.NO_HOST:
        return PlainError(
            f"Unable to connect to the server: dial tcp: lookup {url.host}{_resolver(ctx)}: no such host"
        )
    return PlainError(f"Unable to connect to the server: dial tcp {where}: {error.failure.value}")


def _resolver(ctx: Context) -> str:
    """The name server that was asked, as Go names it."""
    try:
        lines = ctx.files.read("/etc/resolv.conf").decode(errors="replace").splitlines()
    except FileError:
        return ""
    servers = [line.split()[1] for line in lines if re.match(r"nameserver\s+\S", line)]
    return f" on {servers[0]}:53" if servers else ""
