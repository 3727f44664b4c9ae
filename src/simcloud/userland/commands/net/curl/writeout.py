"""``-w``: the format of the report about a finished transfer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from simcloud.userland.commands.net.exchange import Exchange, Timeline, Url

ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
UNKNOWN: Final = "curl: unknown --write-out variable: '{}'\n"


class Summary(Struct):
    """The facts about a finished transfer."""

    url: Url | None
    given_url: str
    number: int
    method: str
    status: int
    message: str
    path: str
    redirects: int
    redirect_url: str
    exchange: Exchange | None
    times: Timeline


def _response(pick: Callable[[Exchange], object], default: object) -> Callable[[Summary], object]:
    return lambda summary: default if summary.exchange is None else pick(summary.exchange)


VALUES: Final[dict[str, Callable[[Summary], object]]] = {
    "content_type": _response(lambda e: e.response.header("Content-Type") or "", ""),
    "errormsg": lambda s: s.message,
    "exitcode": lambda s: s.status,
    "filename_effective": lambda s: s.path,
    "http_code": _response(lambda e: e.response.status, 0),
    "http_version": _response(lambda e: "1.1", "0"),
    "local_ip": _response(lambda e: e.local[0], ""),
    "local_port": _response(lambda e: e.local[1], 0),
    "method": lambda s: s.method,
    "num_connects": _response(lambda e: 1, 0),
    "num_headers": _response(lambda e: len(e.response.headers), 0),
    "num_redirects": lambda s: s.redirects,
    "redirect_url": lambda s: s.redirect_url,
    "remote_ip": _response(lambda e: e.remote[0], ""),
    "remote_port": _response(lambda e: e.remote[1], 0),
    "response_code": _response(lambda e: e.response.status, 0),
    "scheme": _response(lambda e: "HTTP", ""),
    "size_download": _response(lambda e: len(e.response.body), 0),
    "size_header": _response(lambda e: len(e.response.head()), 0),
    "size_request": _response(lambda e: len(e.request.head()) + len(e.request.body), 0),
    "size_upload": _response(lambda e: len(e.request.body), 0),
    "speed_download": lambda s: _speed(s, lambda e: len(e.response.body)),
    "speed_upload": lambda s: _speed(s, lambda e: len(e.request.body)),
    "ssl_verify_result": lambda s: 0,
    "time_appconnect": lambda s: 0.0,
    "time_connect": lambda s: s.times.connect_s,
    "time_namelookup": lambda s: s.times.lookup_s,
    "time_pretransfer": lambda s: s.times.connect_s,
    "time_redirect": lambda s: 0.0,
    "time_starttransfer": lambda s: s.times.first_byte_s,
    "time_total": lambda s: s.times.total_s,
    "url": lambda s: s.given_url,
    "url_effective": lambda s: s.url.text if s.url is not None else s.given_url,
    "urlnum": lambda s: s.number,
}


def _speed(summary: Summary, size_of: Callable[[Exchange], int]) -> int:
    if summary.exchange is None or summary.times.total_s <= 0:
        return 0
    return int(size_of(summary.exchange) / summary.times.total_s)


def write_out(form: str, summary: Summary) -> tuple[str, str]:
    """Return the texts for standard output and standard error."""
    streams = {"stdout": "", "stderr": ""}
    target, at = "stdout", 0
    while at < len(form):
        letter, following = form[at], form[at + 1 : at + 2]
        text = letter
        if letter == "%" and following == "%":
            at += 1
        elif form.startswith("%{", at) and "}" in form[at:]:
            end = form.index("}", at)
            name, at = form[at + 2 : end], end
            if name in streams:
                target, text = name, ""
            elif name in ("json", *VALUES):
                text = _format_value(name, summary)
            else:
                text = ""
                streams["stderr"] += UNKNOWN.format(name)
        elif form.startswith("%header{", at) and "}" in form[at:]:
            end = form.index("}", at)
            name, at = form[at + 8 : end], end
            text = "" if summary.exchange is None else summary.exchange.response.header(name) or ""
        elif letter == "\\" and following:
            text = ESCAPES.get(following, letter + following)
            at += 1
        streams[target] += text
        at += 1
    return streams["stdout"], streams["stderr"]


def _format_value(name: str, summary: Summary) -> str:
    if name == "json":
        return json.dumps({key: VALUES[key](summary) for key in sorted(VALUES)}, separators=(",", ":"))
    value = VALUES[name](summary)
    if isinstance(value, float):
        return f"{value:.6f}"
    return f"{value:03d}" if name in ("http_code", "response_code") else str(value)
