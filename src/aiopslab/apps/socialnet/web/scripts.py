"""The Lua scripts of the front: what each location takes, whom it calls, and what it says when that fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from aiopslab.apps.socialnet.messages import Draft, Follow, Login, Page, Registration
from aiopslab.apps.socialnet.tokens import claims_of
from aiopslab.apps.socialnet.web.timelines import timeline
from simcloud.machine.network.http import HttpRequest
from simcloud.services.rpc import query_of

MAX_ARGUMENTS: Final = 100
JSON_TYPE: Final = "application/json; charset=utf-8"
Arguments = Mapping[str, str]


class Incomplete(Exception):
    """Something that is needed was not given: 400."""


class Unauthorized(Exception):
    """Nobody knows who asks: 401."""


class Script(NamedTuple):
    """One script: its service, what it calls there with which payload, and the line of each thing that it logs."""

    function: str
    service: str
    span: str
    call: Callable[[Arguments, int], tuple[str, Any]]
    shown: Callable[[Any], bytes]
    failure: str
    lines: tuple[int, int, int]
    """Of incomplete arguments, of a failure with a message, and of one without."""
    posted: bool = False
    needs_login: bool = False
    type: str = ""


def arguments_of(request: HttpRequest, posted: bool) -> Arguments:
    """The arguments of a request, of its body if they are posted."""
    if not posted:
        return query_of(request)
    found: dict[str, str] = {}
    for pair in request.body.decode("utf-8", "replace").split("&")[:MAX_ARGUMENTS]:
        name, _, value = pair.partition("=")
        if "%" in value or "+" in value:
            value = unquote_plus(value)
        found.setdefault(name, value)
    return found


def logged_in(request: HttpRequest, secret: str) -> Arguments:
    """Who asks, by the token in a cookie; raises ``Unauthorized``."""
    for pair in (request.header("Cookie") or "").split(";")[:MAX_ARGUMENTS]:
        name, _, value = pair.strip().partition("=")
        claims = claims_of(value, secret) if name == "login_token" else None
        if claims is not None:
            return {key: str(claims.get(key, "")) for key in ("user_id", "username")}
    raise Unauthorized


def _needed(arguments: Arguments, *names: str) -> list[str]:
    values = [arguments.get(name) or "" for name in names]
    if not all(values):
        raise Incomplete
    return values


def _number(text: str) -> int:
    """A number as ``tonumber`` reads it; what is none is no argument."""
    try:
        value = int(text)
    except ValueError:
        raise Incomplete from None
    if abs(value) >= 1 << 62:
        raise Incomplete
    return value


def _list(text: str) -> list[Any]:
    try:
        value = json.loads(text) if text else []
    except (ValueError, RecursionError):
        raise Incomplete from None
    return value if isinstance(value, list) else []


def _page(method: str) -> Callable[[Arguments, int], tuple[str, Any]]:
    def call(arguments: Arguments, req_id: int) -> tuple[str, Any]:
        user, start, stop = map(_number, _needed(arguments, "user_id", "start", "stop"))
        return method, Page(req_id, user, start, stop)

    return call


def _compose(arguments: Arguments, req_id: int) -> tuple[str, Any]:
    user, username, kind, text = _needed(arguments, "user_id", "username", "post_type", "text")
    ids, types = (_list(arguments.get(name) or "") for name in ("media_ids", "media_types"))
    ids = [_number(str(id)) for id in ids]
    draft = Draft(req_id, username, _number(user), text, ids, [str(one) for one in types], _number(kind))
    return "ComposePost", draft


def _register(arguments: Arguments, _req_id: int) -> tuple[str, Any]:
    first, last, username, password, user = _needed(
        arguments, "first_name", "last_name", "username", "password", "user_id"
    )
    return "RegisterUserWithId", Registration(first, last, username, password, _number(user))


def _login(arguments: Arguments, _req_id: int) -> tuple[str, Any]:
    username, password = _needed(arguments, "username", "password")
    return "Login", Login(username, password)


def _follow(method: str) -> Callable[[Arguments, int], tuple[str, Any]]:
    def call(arguments: Arguments, _req_id: int) -> tuple[str, Any]:
        if arguments.get("user_id") and arguments.get("followee_id"):
            user, followee = map(_number, _needed(arguments, "user_id", "followee_id"))
            return method, Follow(user, followee)
        user_name, followee_name = _needed(arguments, "user_name", "followee_name")
        return f"{method}WithUsername", Follow(user_name, followee_name)

    return call


def _said(text: bytes) -> Callable[[Any], bytes]:
    return lambda _answer: text


UPLOADED: Final = b"Successfully upload post\n"
COMPOSE: Final = Script(
    "ComposePost",
    "compose-post-service",
    "compose_post_client",
    _compose,
    _said(UPLOADED),
    "compost_post failure: ",  # the original's spelling
    (34, 62, 65),
    posted=True,
)
HOME: Final = Script(
    "ReadHomeTimeline",
    "home-timeline-service",
    "read_home_timeline_client",
    _page("ReadHomeTimeline"),
    timeline,
    "Get home-timeline failure: ",
    (73, 87, 90),
    type=JSON_TYPE,
)
USER: Final = Script(
    "ReadUserTimeline",
    "user-timeline-service",
    "read_user_timeline_client",
    _page("ReadUserTimeline"),
    timeline,
    "Get user-timeline failure: ",
    (72, 86, 89),
    type=JSON_TYPE,
)


def _success(function: str, service: str, span: str, call: Any, failure: str) -> Script:
    return Script(function, service, span, call, _said(b"Success!\n"), failure, (35, 51, 54), posted=True)


SCRIPTS: Final[Mapping[str, Script]] = {
    "wrk2-api/post/compose": COMPOSE,
    "wrk2-api/home-timeline/read": HOME,
    "wrk2-api/user-timeline/read": USER,
    "wrk2-api/user/register": _success(
        "RegisterUser", "user-service", "register_client", _register, "User registration failure: "
    ),
    "wrk2-api/user/follow": _success(
        "Follow", "social-graph-service", "follow_client", _follow("Follow"), "Follow failure: "
    ),
    "wrk2-api/user/unfollow": _success(
        "Unfollow", "social-graph-service", "unfollow_client", _follow("Unfollow"), "Unfollow failure: "
    ),
    "api/user/login": Script(
        "Login",
        "user-service",
        "login_client",
        _login,
        str.encode,
        "User login failure: ",
        (33, 55, 58),
        posted=True,
    ),
    "api/post/compose": COMPOSE._replace(needs_login=True),
    "api/home-timeline/read": HOME._replace(needs_login=True),
    "api/user-timeline/read": USER._replace(needs_login=True),
}
