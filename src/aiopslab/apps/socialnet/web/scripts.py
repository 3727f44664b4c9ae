"""The Lua scripts of the front door: the arguments, the call and the error messages of each location."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from aiopslab.apps.socialnet.messages import Draft, Follow, Login, Page, Registration
from aiopslab.apps.socialnet.tokens import read_claims
from aiopslab.apps.socialnet.web.timelines import encode_timeline
from simcloud.machine.network import HttpRequest
from simcloud.services.rpc import query_of

MAX_ARGUMENTS: Final = 100
JSON_TYPE: Final = "application/json; charset=utf-8"
Arguments = Mapping[str, str]


class IncompleteArguments(Exception):
    """A required argument is missing: 400."""


class Unauthorized(Exception):
    """The request has no valid token: 401."""


class Script(NamedTuple):
    """A script: its service, the call and its payload, and the source lines of its connection and its log messages."""

    function: str
    service: str
    span: str
    call: Callable[[Arguments, int], tuple[str, Any]]
    encode: Callable[[Any], bytes]
    failure: str
    lines: tuple[int, int, int, int]
    """Lines of the log for incomplete arguments, of the connection, of a failure with a message, and of one without."""
    posted: bool = False
    needs_login: bool = False
    type: str = ""
    expects_message: bool = False
    """Whether a failure without a message aborts the script, which joins it to a text."""


def parse_arguments(request: HttpRequest, posted: bool) -> Arguments:
    """Return the arguments of a request, from its body if they are posted."""
    if not posted:
        return query_of(request)
    found: dict[str, str] = {}
    for pair in request.body.decode("utf-8", "replace").split("&")[:MAX_ARGUMENTS]:
        name, _, value = pair.partition("=")
        if "%" in value or "+" in value:
            value = unquote_plus(value)
        found.setdefault(name, value)
    return found


def authenticate(request: HttpRequest, secret: str) -> Arguments:
    """Return the user's id and name from the token in a cookie; raises ``Unauthorized``."""
    for pair in (request.header("Cookie") or "").split(";")[:MAX_ARGUMENTS]:
        name, _, value = pair.strip().partition("=")
        claims = read_claims(value, secret) if name == "login_token" else None
        if claims is not None:
            return {key: str(claims.get(key, "")) for key in ("user_id", "username")}
    raise Unauthorized


def _require(arguments: Arguments, *names: str) -> list[str]:
    values = [arguments.get(name) or "" for name in names]
    if not all(values):
        raise IncompleteArguments
    return values


def _parse_number(text: str) -> int:
    """Parse a number like ``tonumber``; raises ``IncompleteArguments``."""
    try:
        value = int(text)
    except ValueError:
        raise IncompleteArguments from None
    if abs(value) >= 1 << 62:
        raise IncompleteArguments
    return value


def _parse_list(text: str) -> list[Any]:
    try:
        value = json.loads(text) if text else []
    except (ValueError, RecursionError):
        raise IncompleteArguments from None
    return value if isinstance(value, list) else []


def _make_page_call(method: str) -> Callable[[Arguments, int], tuple[str, Any]]:
    def call(arguments: Arguments, req_id: int) -> tuple[str, Any]:
        user, start, stop = map(_parse_number, _require(arguments, "user_id", "start", "stop"))
        return method, Page(req_id, user, start, stop)

    return call


def _compose(arguments: Arguments, req_id: int) -> tuple[str, Any]:
    user, username, kind, text = _require(arguments, "user_id", "username", "post_type", "text")
    ids, types = (_parse_list(arguments.get(name) or "") for name in ("media_ids", "media_types"))
    ids = [_parse_number(str(id)) for id in ids]
    draft = Draft(
        req_id, username, _parse_number(user), text, ids, [str(type) for type in types], _parse_number(kind)
    )
    return "ComposePost", draft


def _register(arguments: Arguments, _req_id: int) -> tuple[str, Any]:
    first, last, username, password, user = _require(
        arguments, "first_name", "last_name", "username", "password", "user_id"
    )
    return "RegisterUserWithId", Registration(first, last, username, password, _parse_number(user))


def _login(arguments: Arguments, _req_id: int) -> tuple[str, Any]:
    username, password = _require(arguments, "username", "password")
    return "Login", Login(username, password)


def _make_follow_call(method: str) -> Callable[[Arguments, int], tuple[str, Any]]:
    def call(arguments: Arguments, _req_id: int) -> tuple[str, Any]:
        if arguments.get("user_id") and arguments.get("followee_id"):
            user, followee = map(_parse_number, _require(arguments, "user_id", "followee_id"))
            return method, Follow(user, followee)
        user_name, followee_name = _require(arguments, "user_name", "followee_name")
        return f"{method}WithUsername", Follow(user_name, followee_name)

    return call


def _always_answer(text: bytes) -> Callable[[Any], bytes]:
    return lambda _answer: text


UPLOADED: Final = b"Successfully upload post\n"
COMPOSE: Final = Script(
    "ComposePost",
    "compose-post-service",
    "compose_post_client",
    _compose,
    _always_answer(UPLOADED),
    "compost_post failure: ",  # the original's spelling
    (34, 40, 62, 65),
    posted=True,
)
HOME: Final = Script(
    "ReadHomeTimeline",
    "home-timeline-service",
    "read_home_timeline_client",
    _make_page_call("ReadHomeTimeline"),
    encode_timeline,
    "Get home-timeline failure: ",
    (74, 79, 87, 90),
    type=JSON_TYPE,
)
USER: Final = Script(
    "ReadUserTimeline",
    "user-timeline-service",
    "ReadUserTimeline",
    _make_page_call("ReadUserTimeline"),
    encode_timeline,
    "Get user-timeline failure: ",
    (74, 79, 87, 90),
    type=JSON_TYPE,
)


def _make_simple_script(
    function: str, service: str, span: str, call: Any, failure: str, lines: tuple[int, int, int, int]
) -> Script:
    return Script(function, service, span, call, _always_answer(b"Success!\n"), failure, lines, posted=True)


SCRIPTS: Final[Mapping[str, Script]] = {
    "wrk2-api/post/compose": COMPOSE,
    "wrk2-api/home-timeline/read": HOME,
    "wrk2-api/user-timeline/read": USER,
    "wrk2-api/user/register": _make_simple_script(
        "RegisterUser",
        "user-service",
        "register_client",
        _register,
        "User registration failure: ",
        (35, 39, 48, 51),
    ),
    "wrk2-api/user/follow": _make_simple_script(
        "Follow",
        "social-graph-service",
        "follow_client",
        _make_follow_call("Follow"),
        "Follow Failed: ",
        (44, 30, 52, 55),
    ),
    "wrk2-api/user/unfollow": _make_simple_script(
        "Unfollow",
        "social-graph-service",
        "unfollow_client",
        _make_follow_call("Unfollow"),
        "Unfollow Failed: ",
        (44, 30, 52, 55),
    ),
    "api/user/login": Script(
        "Login",
        "user-service",
        "Login",
        _login,
        str.encode,
        "User login failure: ",
        (35, 40, 51, 54),
        posted=True,
        expects_message=True,
    ),
    "api/post/compose": COMPOSE._replace(needs_login=True, lines=(34, 65, 88, 91)),
    "api/home-timeline/read": HOME._replace(
        span="Login", needs_login=True, lines=(96, 112, 121, 123), expects_message=True
    ),
    "api/user-timeline/read": USER._replace(
        span="Login", needs_login=True, lines=(75, 107, 116, 118), expects_message=True
    ),
}
