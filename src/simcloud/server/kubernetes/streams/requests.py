"""Requests for exec, attach and port-forward: options, targets, and why they are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from starlette.datastructures import QueryParams
from starlette.requests import Request

from simcloud.kubernetes.api import ApiError, BadRequest, NoSuchPath, Object, Runtime, Session
from simcloud.kubernetes.api.subresources import choose_container, running_pod, runtime_of
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import Target, read_target

NAMES: Final = frozenset({"exec", "attach", "portforward"})
PORTS_AT_MOST: Final = 64
LAST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The streams of a process that a client requests."""

    container: str
    command: tuple[str, ...]
    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool


def parse_options(query: QueryParams, subresource: str) -> StreamOptions:
    """Parse the options in a query. Raise an error if they are inconsistent."""
    tty = _is_true(query, "tty")
    options = StreamOptions(
        container=query.get("container", ""),
        command=tuple(query.getlist("command")),
        stdin=_is_true(query, "stdin"),
        stdout=_is_true(query, "stdout"),
        # A terminal has one output; the client that asks for both gets it there.
        stderr=_is_true(query, "stderr") and not tty,
        tty=tty,
    )
    if not (options.stdin or options.stdout or options.stderr):
        raise BadRequest("you must specify at least 1 of stdin, stdout, stderr")
    if subresource == "exec" and not options.command:
        raise BadRequest("you must specify at least one command for the container")
    return options


def read_ports(query: QueryParams) -> list[int]:
    """Parse the ports of a query, for clients that name them there."""
    said = query.getlist("port") or query.getlist("ports")
    if not said:
        raise BadRequest('query parameter "port" is required')
    ports = [read_port(each, text) for text in said for each in _split(text)]
    if len(ports) > PORTS_AT_MOST:
        raise BadRequest(f"at most {PORTS_AT_MOST} ports can be forwarded by one connection")
    return ports


def read_port(text: str, whole: str) -> int:
    """Parse a port number; ``whole`` is the text in error messages."""
    if not (text.isascii() and text.isdecimal()):
        problem = f'strconv.ParseUint: parsing "{text}": invalid syntax'
        raise BadRequest(f'unable to parse "{whole}" as a port: {problem}')
    if len(text.lstrip("0")) > len(str(LAST_PORT)) or int(text) > LAST_PORT:
        problem = f'strconv.ParseUint: parsing "{text}": value out of range'
        raise BadRequest(f'unable to parse "{whole}" as a port: {problem}')
    if int(text) < 1:
        raise BadRequest(f'port "{whole}" must be > 0')
    return int(text)


def check_target(target: Target) -> None:
    """Streams are parts of pods."""
    place = (target.group, target.version, target.plural)
    if place != ("", "v1", "pods") or target.subresource not in NAMES or not target.namespace or target.rest:
        raise NoSuchPath


def find_pod(app: AppContext, target: Target) -> tuple[Object, Runtime]:
    """Return the pod of a port-forward, and who runs it."""
    pod = running_pod(app.api, target.namespace, target.name)
    return pod, runtime_of(app.api, pod)


def open_session(app: AppContext, target: Target, options: StreamOptions) -> Session:
    """Begin an exec or an attach."""
    pod = running_pod(app.api, target.namespace, target.name)
    container = choose_container(pod, options.container)
    runtime = runtime_of(app.api, pod)
    stdin, stderr, tty = options.stdin, options.stderr, options.tty
    if target.subresource == "attach":
        return runtime.attach(pod, container, stdin=stdin, stderr=stderr, tty=tty)
    return runtime.exec(pod, container, list(options.command), stdin=stdin, stderr=stderr, tty=tty)


def _is_true(query: QueryParams, name: str) -> bool:
    """Return a flag as the API reads it: there and not denied."""
    said: Sequence[str] = query.getlist(name)
    return bool(said) and said[0].lower() not in ("false", "0")


def _split(text: str) -> list[str]:
    if not text:
        raise BadRequest('query parameter "port" cannot be empty')
    return text.split(",")


SPDY_REFUSED: Final = (
    "this server streams over WebSocket only and the client asked for SPDY; use kubectl 1.31 or newer"
)


def needs_websocket(request: Request, app: AppContext | None = None) -> ApiError:
    """Return the error for a streaming request that is not a WebSocket.

    kubectl retries with SPDY if a WebSocket was refused, and shows only the second answer: with ``app``, this is the
    error that a WebSocket would get.
    """
    if "spdy/" not in request.headers.get("upgrade", "").lower():
        return BadRequest("Upgrade request required")
    if app is not None:
        try:
            _try(app, request)
        except ApiError as error:
            return error
    return BadRequest(SPDY_REFUSED)


def _try(app: AppContext, request: Request) -> None:
    """Raise the error that a WebSocket would get. No command is run: attaching and detaching has no effect."""
    target = read_target(request.method, request.url.path, request.query_params)
    check_target(target)
    if target.subresource == "portforward":
        find_pod(app, target)
        return
    options = parse_options(request.query_params, target.subresource)
    if target.subresource == "exec":
        pod, runtime = find_pod(app, target)
        runtime.check_exec(pod, choose_container(pod, options.container))
    else:
        open_session(app, target, replace(options, stdin=False)).stop()
