"""``kubectl attach``: attaches to the main process of a container."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.pods.streams import Outlets, converse, join
from simcloud.kubectl.pods.targets import (
    default_container,
    existing_container,
    find_target,
    pod_to_run_in,
    running_timeout_s,
)
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.exec import NO_TERMINAL, refuse_completed
from simcloud.kubernetes.api import Object

EXAMPLES: Final = ("kubectl attach web-1", "kubectl attach -i web-1 -c shell")
MOST_WORDS: Final = 2
RECORDED: Final = (
    "All commands and output from this session will be recorded in container logs, including credentials and "
    "sensitive information passed through the command prompt.\n"
    "If you don't see a command prompt, try pressing enter.\n"
)


@command("attach", "Attach to a running container", examples=EXAMPLES)
async def attach(kubectl: Kubectl) -> None:
    """See what the container's own process writes, and type to it if asked for."""
    args = kubectl.args
    if not args:
        raise KubectlError("at least 1 argument is required for attach")
    if len(args) > MOST_WORDS:
        raise KubectlError(
            f"expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw {len(args)}: [{' '.join(args)}]"
        )
    running_timeout_s(kubectl, tells_usage=True)
    info = await find_target(kubectl, args[0] if len(args) == 1 else f"{args[0]}/{args[1]}")
    pod = await pod_to_run_in(kubectl, info)
    refuse_completed(pod, "attach")
    await attach_to(kubectl, pod, kubectl.flags["container"])


async def attach_to(kubectl: Kubectl, pod: Object, name: str) -> None:
    """Attach to a container of a pod, by the flags ``-i -t -q``."""
    flags = kubectl.flags
    quiet = flags["quiet"]
    try:
        container = existing_container(pod, name or await default_container(kubectl, pod, quiet=quiet))
    except KubectlError as error:
        raise KubectlError(f"cannot attach to the container: {error.message}") from None
    if not quiet and flags["tty"] and not container.get("tty"):
        await kubectl.err(
            f"error: Unable to use a TTY - container {container['name']} did not allocate one\n"
        )
    ctx, stdin = kubectl.ctx, flags["stdin"]
    tty = bool(flags["tty"] and stdin and container.get("tty") and ctx.stdin.isatty)
    if not quiet and stdin and container.get("tty") and not ctx.stdin.isatty:
        await kubectl.err(NO_TERMINAL)
    if not quiet:
        await kubectl.err(RECORDED)
    session = join(await kubectl.connect(), pod, str(container["name"]), stdin=stdin, tty=tty)
    await converse(ctx, session, Outlets(ctx.stdout, ctx.stderr, ctx.stdin if stdin else None), tty=tty)
