"""``kubectl logs``: the logs of containers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from simcloud.golang import quote
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError, WithContext
from simcloud.kubectl.pods.streams import Incoming, read_log
from simcloud.kubectl.pods.targets import (
    default_container,
    existing_container,
    find_target,
    pods_to_read,
    running_timeout_s,
)
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, BadRequest, LogOptions, NotFound, Object
from simcloud.kubernetes.api.schema import Unreadable, read_time
from simcloud.sim import TimedOut

EXAMPLES: Final = (
    "kubectl logs web-1",
    "kubectl logs deploy/web -c nginx --tail=20",
    "kubectl logs -f -l app=web --all-containers --prefix",
    "kubectl logs --previous web-1",
)
SELECTED_LINES: Final = 10
"""How many lines of each log are shown when pods are chosen by a selector."""
TIMED_OUT: Final = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
LOOK_AGAIN_S: Final = 1.0

Write: TypeAlias = Callable[[bytes], Awaitable[None]]


class Wish(Struct, frozen=True):
    """One log to read."""

    pod: Object
    options: LogOptions

    @property
    def prefix(self) -> bytes:
        """What tells the lines of several logs apart."""
        return f"[pod/{self.pod['metadata']['name']}/{self.options.container}] ".encode()


@command("logs", "Print the logs of a container in a pod", examples=EXAMPLES)
async def logs(kubectl: Kubectl) -> None:
    """Read the logs that are meant, one after the other, or side by side when they are followed."""
    options = _options(kubectl)
    running_timeout_s(kubectl)
    pods = await _pods(kubectl)
    _check(kubectl, options)
    wishes = [wish for pod in pods for wish in await _wishes(kubectl, pod, options)]
    flags = kubectl.flags
    if not (options.follow and len(wishes) > 1):
        for wish in wishes:
            await _copy(kubectl, wish, kubectl.ctx.stdout.write)
        return
    if len(wishes) > flags["max-log-requests"]:
        raise KubectlError(
            f"you are attempting to follow {len(wishes)} log streams, but maximum allowed concurrency is "
            f"{flags['max-log-requests']}, use --max-log-requests to increase the limit"
        )
    await _together(kubectl, wishes)


def _options(kubectl: Kubectl) -> LogOptions:
    """What the flags say of every log."""
    flags, args = kubectl.flags, kubectl.args
    if len(args) > 2 or (not args and not flags["selector"]):
        raise UsageError(
            "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\n"
            "POD or TYPE/NAME is a required argument for the logs command",
            kubectl.command.full,
        )
    if len(args) == 1 and flags["selector"]:
        raise UsageError("only a selector (-l) or a POD name is allowed", kubectl.command.full)
    try:
        since_time = read_time(flags["since-time"]) if flags["since-time"] else ""
    except Unreadable as error:
        raise KubectlError(str(error)) from None
    tail: int | None = flags["tail"] if flags["tail"] != -1 else None
    if flags["selector"] and not flags.is_given("tail"):
        tail = SELECTED_LINES
    # Seconds are rounded to the nearest, halves away from zero.
    since_s = int(abs(flags["since"]) + 0.5) * (1 if flags["since"] > 0 else -1) if flags["since"] else None
    return LogOptions(
        container=args[1] if len(args) == 2 else flags["container"],
        follow=flags["follow"],
        previous=flags["previous"],
        since_s=since_s,
        since_time=since_time,
        timestamps=flags["timestamps"],
        tail_lines=tail,
        limit_bytes=flags["limit-bytes"] or None,
    )


async def _pods(kubectl: Kubectl) -> list[Object]:
    flags = kubectl.flags
    if not kubectl.args:
        connection, labels = await kubectl.connect(), flags["selector"]
        try:
            found = await connection.list(connection.resource("pods"), kubectl.namespace, labels=labels)
        except BadRequest as error:
            what = f'"/v1, Resource=pods" that match label selector {quote(labels)}, field selector ""'
            raise WithContext(f"Unable to find {what}", error) from None
        if not found:
            await kubectl.err(f"No resources found in {kubectl.namespace} namespace.\n")
        return found
    try:
        info = await find_target(kubectl, kubectl.args[0])
    except NotFound as error:
        raise KubectlError(
            f'error from server (NotFound): {error.message} in namespace "{kubectl.namespace}"'
        ) from None
    pods = await pods_to_read(kubectl, info)
    if len(pods) == 1 or flags["all-pods"]:
        return pods
    _check(kubectl, _options(kubectl))
    await kubectl.err(f"Found {len(pods)} pods, using pod/{pods[0]['metadata']['name']}\n")
    return pods[:1]


def _check(kubectl: Kubectl, options: LogOptions) -> None:
    """Refuse what makes no sense together."""
    flags = kubectl.flags
    if options.since_time and options.since_s is not None:
        raise KubectlError("at most one of `sinceTime` or `sinceSeconds` may be specified")
    if flags["all-containers"] and options.container:
        raise KubectlError(
            f"--all-containers=true should not be specified with container name {options.container}"
        )
    if flags.is_given("container") and len(kubectl.args) == 2:
        raise KubectlError("only one of -c or an inline [CONTAINER] arg is allowed")
    if flags["limit-bytes"] < 0:
        raise KubectlError("--limit-bytes must be greater than 0")
    if options.since_s is not None and options.since_s < 0:
        raise KubectlError("--since must be greater than 0")
    if options.tail_lines is not None and options.tail_lines < -1:
        raise KubectlError("--tail must be greater than or equal to -1")


async def _wishes(kubectl: Kubectl, pod: Object, options: LogOptions) -> list[Wish]:
    """The logs of a pod that are meant."""
    if kubectl.flags["all-containers"]:
        parts = ("initContainers", "containers", "ephemeralContainers")
        names = [container["name"] for part in parts for container in pod["spec"].get(part) or ()]
        return [Wish(pod, replace(options, container=name)) for name in names]
    name = options.container
    if not name:
        name = await default_container(kubectl, pod, quiet=kubectl.flags["all-pods"])
    existing_container(pod, name)
    return [Wish(pod, replace(options, container=name))]


async def _copy(kubectl: Kubectl, wish: Wish, write: Write) -> None:
    """Pass on one log; one that is followed is waited for."""
    wanted_by = kubectl.ctx.kernel.now + running_timeout_s(kubectl)
    while True:
        try:
            await _read(kubectl, wish, write)
            return
        except BadRequest as error:
            if not wish.options.follow:
                raise
            await kubectl.err(f"{error.message}\n")
        await kubectl.ctx.sleep(LOOK_AGAIN_S)
        if kubectl.ctx.kernel.now >= wanted_by:
            raise KubectlError("context deadline exceeded")


async def _read(kubectl: Kubectl, wish: Wish, write: Write) -> None:
    metadata = wish.pod["metadata"]
    prefix = wish.prefix if kubectl.flags["prefix"] or kubectl.flags["all-pods"] else b""
    connection = await kubectl.connect()
    lines = read_log(kubectl.ctx, connection, metadata["namespace"], metadata["name"], wish.options)
    try:
        with kubectl.limit_request():
            async for line in lines:
                await write(prefix + line)
    except TimedOut:
        raise KubectlError(TIMED_OUT) from None


async def _together(kubectl: Kubectl, wishes: list[Wish]) -> None:
    """Follow several logs at once; the first that fails ends all, unless failures are to be ignored."""
    incoming: Incoming[bytes | KubectlError | ApiError | None] = Incoming(kubectl.ctx, None)

    async def put(line: bytes) -> None:
        incoming.put(line, len(line))

    async def follow(wish: Wish) -> None:
        try:
            await _copy(kubectl, wish, put)
            incoming.put(None, 0)
        except (KubectlError, ApiError) as error:
            incoming.put(error, 0)

    tasks = [kubectl.ctx.spawn(follow(wish), "log") for wish in wishes]
    left = len(wishes)
    try:
        async for came in incoming:
            if isinstance(came, bytes):
                await kubectl.ctx.stdout.write(came)
                continue
            if came is not None and not kubectl.flags["ignore-errors"]:
                raise came
            if came is not None:
                message = came.format_message() if isinstance(came, KubectlError) else came.message
                await kubectl.ctx.out(f"error: {message.removeprefix('error: ')}\n")
            left -= 1
            if not left:
                return
    finally:
        for task in tasks:
            task.drop()
