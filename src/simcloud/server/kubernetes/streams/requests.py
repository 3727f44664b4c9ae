"""What an exec, attach or port-forward asks for, and whoever can do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import QueryParams

from simcloud.kubernetes.api.errors import BadRequest, NoSuchPath
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.runtime import Runtime, Session
from simcloud.kubernetes.api.subresources.log import choose_container, running_pod, runtime_of
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import Target

NAMES: Final = frozenset({"exec", "attach", "portforward"})
PORTS_AT_MOST: Final = 64
LAST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which streams of a process a client wants."""

    container: str
    command: tuple[str, ...]
    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool


def read_wishes(query: QueryParams, subresource: str) -> Wishes:
    """The wishes in a query; refused when they make no sense."""
    tty = _is_true(query, "tty")
    wishes = Wishes(
        container=query.get("container", ""),
        command=tuple(query.getlist("command")),
        stdin=_is_true(query, "stdin"),
        stdout=_is_true(query, "stdout"),
        # A terminal has one output; the client that asks for both gets it there.
        stderr=_is_true(query, "stderr") and not tty,
        tty=tty,
    )
    if not (wishes.stdin or wishes.stdout or wishes.stderr):
        raise BadRequest("you must specify at least 1 of stdin, stdout, stderr")
    if subresource == "exec" and not wishes.command:
        raise BadRequest("you must specify at least one command for the container")
    return wishes


def read_ports(query: QueryParams) -> list[int]:
    """The ports in a query, for clients that name them there."""
    said = query.getlist("port") or query.getlist("ports")
    if not said:
        raise BadRequest('query parameter "port" is required')
    ports = [read_port(each, text) for text in said for each in _split(text)]
    if len(ports) > PORTS_AT_MOST:
        raise BadRequest(f"at most {PORTS_AT_MOST} ports can be forwarded by one connection")
    return ports


def read_port(text: str, whole: str) -> int:
    """A port's number; ``whole`` is what is quoted when it is none."""
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
    """The pod of a port-forward, and who runs it."""
    pod = running_pod(app.api, target.namespace, target.name)
    return pod, runtime_of(app.api, pod)


def open_session(app: AppContext, target: Target, wishes: Wishes) -> Session:
    """Begin an exec or an attach."""
    pod = running_pod(app.api, target.namespace, target.name)
    container = choose_container(pod, wishes.container)
    runtime = runtime_of(app.api, pod)
    stdin, stderr, tty = wishes.stdin, wishes.stderr, wishes.tty
    if target.subresource == "attach":
        return runtime.attach(pod, container, stdin=stdin, stderr=stderr, tty=tty)
    return runtime.exec(pod, container, list(wishes.command), stdin=stdin, stderr=stderr, tty=tty)


def _is_true(query: QueryParams, name: str) -> bool:
    """A flag as the API reads it: there and not denied."""
    said: Sequence[str] = query.getlist(name)
    return bool(said) and said[0].lower() not in ("false", "0")


def _split(text: str) -> list[str]:
    if not text:
        raise BadRequest('query parameter "port" cannot be empty')
    return text.split(",")
