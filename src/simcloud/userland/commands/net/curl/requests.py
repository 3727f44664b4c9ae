"""Builds HTTP requests from the options of curl."""

from __future__ import annotations

import base64
from typing import Final
from urllib.parse import quote

from simcloud.machine.files import FileError
from simcloud.machine.network import HttpRequest
from simcloud.machine.process import Context
from simcloud.userland.commands.net.curl.cookies import CookieJar
from simcloud.userland.commands.net.exchange import Url
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.records import read_path

VERSION: Final = "7.88.1"
DATA_OPTIONS: Final = ("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json")
FORM_TYPE: Final = "application/x-www-form-urlencoded"


class CannotRead(Exception):
    """A file to send cannot be read; the text is its name."""


class RequestBuilder:
    """Builds the request for a URL; the data is read once, for all redirects."""

    def __init__(self, ctx: Context, options: Options, jar: CookieJar) -> None:
        self._ctx = ctx
        self._options = options
        self._jar = jar
        self._data: bytes | None = None
        self._content_type = ""

    async def prepare(self) -> None:
        """Read what is to be sent; raises ``CannotRead``."""
        options = self._options
        if options.any("upload-file"):
            self._data = await self._content(options.last("upload-file"))
            if self._data is None:
                raise CannotRead(options.last("upload-file"))
        elif options.any("form"):
            await self._prepare_form()
        elif options.any(*DATA_OPTIONS):
            self._data = await self._join_data()
            self._content_type = FORM_TYPE

    def url(self, url: Url) -> Url:
        """The URL with the data of -G in its query."""
        if self._options.any("get") and self._data:
            return url.with_query(self._data.decode("utf-8", "surrogateescape"))
        return url

    @property
    def method(self) -> str:
        """GET, or what the options make of it."""
        options = self._options
        if options.any("request"):
            return options.last("request")
        if options.any("head"):
            return "HEAD"
        if options.any("upload-file"):
            return "PUT"
        return "POST" if self._data is not None and not options.any("get") else "GET"

    def build(self, url: Url, method: str, with_body: bool = True) -> HttpRequest:
        """A request to this URL."""
        body = self._data if with_body and self._data is not None and not self._options.any("get") else None
        headers = self._standard_headers(url)
        custom = self._custom_headers()
        for name in list(headers):
            replaced = next((key for key in custom if key.lower() == name.lower()), None)
            if replaced is not None:
                value = custom[replaced]
                if name == "Host" and value is not None:
                    headers[name] = value
                    del custom[replaced]
                else:
                    del headers[name]
        headers.update({name: value for name, value in custom.items() if value is not None})
        if body is not None:
            headers["Content-Length"] = str(len(body))
            given = any(name.lower() == "content-type" for name in custom)
            if self._content_type and not given:
                headers["Content-Type"] = self._content_type
        return HttpRequest(method, url.path, headers, body or b"")

    def _standard_headers(self, url: Url) -> dict[str, str]:
        options = self._options
        headers = {"Host": url.authority}
        user = options.last("user") or url.user
        if user:
            token = base64.b64encode((user if ":" in user else f"{user}:").encode("utf-8", "surrogateescape"))
            headers["Authorization"] = f"Basic {token.decode()}"
        if options.any("oauth2-bearer"):
            headers["Authorization"] = f"Bearer {options.last('oauth2-bearer')}"
        if options.any("range"):
            headers["Range"] = f"bytes={options.last('range')}"
        headers["User-Agent"] = options.last("user-agent", default=f"curl/{VERSION}")
        headers["Accept"] = "*/*"
        if options.any("compressed"):
            headers["Accept-Encoding"] = "deflate, gzip, br, zstd"
        if options.any("referer"):
            headers["Referer"] = options.last("referer")
        given = [text for text in options.all("cookie") if "=" in text]
        if cookies := "; ".join(filter(None, [self._jar.format_header(url), ";".join(given)])):
            headers["Cookie"] = cookies
        return headers

    def _custom_headers(self) -> dict[str, str | None]:
        """Headers of -H; those without a value are to be left out."""
        custom: dict[str, str | None] = {}
        if self._options.any("json"):
            custom.update({"Content-Type": "application/json", "Accept": "application/json"})
        for line in self._options.all("header"):
            name, colon, value = line.partition(":")
            if colon:
                custom[name] = value.strip() or None
            elif line.endswith(";"):
                custom[line[:-1]] = ""
        return custom

    # -- data ----------------------------------------------------------------------------------

    async def _join_data(self) -> bytes:
        data = b""
        for option, value in self._options.given:
            if option not in DATA_OPTIONS:
                continue
            if option == "data-urlencode":
                part = await self._encode(value)
            elif option != "data-raw" and value.startswith("@"):
                part = await self._content(value[1:]) or b""
                if option in ("data", "data-ascii"):
                    part = part.translate(None, b"\r\n\0")
            else:
                part = value.encode("utf-8", "surrogateescape")
            data += (b"&" if data and option != "json" else b"") + part
        return data

    async def _encode(self, value: str) -> bytes:
        """``content``, ``=content``, ``name=content``, ``@file`` or ``name@file``."""
        ends = [at for at in (value.find("="), value.find("@")) if at >= 0]
        if not ends:
            return _escape(value.encode("utf-8", "surrogateescape"))
        at = min(ends)
        name, rest = value[:at], value[at + 1 :]
        content = rest.encode("utf-8", "surrogateescape")
        if value[at] == "@":
            content = await self._content(rest) or b""
        return (f"{name}=".encode() if name else b"") + _escape(content)

    async def _content(self, path: str) -> bytes | None:
        """A file, or standard input for a dash; None when it cannot be read."""
        try:
            return await read_path(self._ctx, "-" if path == "." else path)
        except FileError:
            return None

    async def _prepare_form(self) -> None:
        boundary = "-" * 24 + f"{self._ctx.random('curl').getrandbits(64):016x}"
        parts = b""
        for field in self._options.all("form"):
            name, _, value = field.partition("=")
            head = f'Content-Disposition: form-data; name="{name}"'
            content = value.encode("utf-8", "surrogateescape")
            if value[:1] in ("@", "<"):
                path = value[1:].partition(";")[0]
                found = await self._content(path)
                if found is None:
                    raise CannotRead(path)
                content = found
                if value[0] == "@":
                    file_name = path.rpartition("/")[2]
                    head += f'; filename="{file_name}"\r\nContent-Type: application/octet-stream'
            parts += f"--{boundary}\r\n{head}\r\n\r\n".encode("utf-8", "surrogateescape") + content + b"\r\n"
        self._data = parts + f"--{boundary}--\r\n".encode()
        self._content_type = f"multipart/form-data; boundary={boundary}"


def _escape(content: bytes) -> bytes:
    return quote(content, safe="-._~").replace("%20", "+").encode()
