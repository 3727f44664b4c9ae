"""Access to the server: tokens, and checks that a request comes from where it says.

A server on the loopback interface can be reached by every page that a browser on this host shows. A page of another site is refused by
its ``Origin``; a name that an attacker points to this host (DNS rebinding) by ``Host``. The server's token opens everything; a session's token
only lets an agent act in that session.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from aiopslab.servers.http_api.errors import HttpError
from aiopslab.servers.http_api.served_session import ServedSession
from aiopslab.servers.http_api.sessions import Sessions

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
SECURITY_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer. Scripts and styles must be files of the server."""


@dataclass(frozen=True)
class Access:
    """What a request may reach: everything, or one session as its agent."""

    session: ServedSession | None = None

    @property
    def is_agent(self) -> bool:
        """Whether only one session may be reached."""
        return self.session is not None


class Guard:
    """Checks requests before anything else looks at them."""

    def __init__(
        self, token: str, sessions: Sessions, hosts: Iterable[str] = (), port: int | None = None
    ) -> None:
        """``hosts`` are names, besides those of the loopback interface, by which clients may call the server."""
        self._token = token
        self._sessions = sessions
        self._hosts = {host.lower() for host in (*LOOPBACK, *hosts)}
        self._cookie = f"aiopslab-{port}"  # browsers send a host's cookies to all its ports

    def check_source(self, request: Request) -> None:
        """Raise ``HttpError`` for a request to another name, or from a page of another site."""
        named = request.headers.getlist("host")
        if len(named) != 1 or _parse_address(named[0])[0] not in self._hosts:
            raise HttpError(
                421, "The server does not know this name. Use 127.0.0.1, or start it with --allow-host NAME."
            )
        origin = request.headers.get("origin")
        is_foreign = origin is not None and _parse_address(origin.partition("//")[2]) != _parse_address(
            named[0]
        )
        is_unsafe = request.headers.get("sec-fetch-site") == "cross-site" and request.method != "GET"
        if is_foreign or is_unsafe:
            raise HttpError(403, "Pages of other sites may not use this server. Open its own page.")

    def authenticate(self, request: Request) -> Access:
        """Return what the request may reach; raises ``HttpError``."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = request.cookies.get(self._cookie, "")
        if self._is_token(given.strip()):
            return Access()
        session = self._sessions.find_by_token(given.strip())
        if session is None:
            raise HttpError(
                401,
                "Send the header 'Authorization: Bearer TOKEN', or open the address that the server printed at its start.",
                {"www-authenticate": "Bearer"},
            )
        return Access(session)

    def log_in(self, request: Request) -> Response | None:
        """Return the answer to ``/?token=…``, which puts the token into a cookie; None without a token. Raises ``HttpError``."""
        given = request.query_params.get("token")
        if given is None:
            return None
        if not self._is_token(given):
            raise HttpError(401, "The token is wrong. Open the address that the server printed at its start.")
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, given, path="/", httponly=True, samesite="strict")
        return response

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def _parse_address(text: str) -> tuple[str | None, int | None]:
    """Return the name and the port of an address; None for a name if it is no address."""
    try:
        parts = urlsplit(f"//{text}")
        return parts.hostname, parts.port
    except ValueError:
        return None, None
