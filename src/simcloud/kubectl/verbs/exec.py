"""``kubectl exec``: runs a command in a container."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.pods.streams import Outlets, converse, start_command
from simcloud.kubectl.pods.targets import (
    POD,
    default_container,
    existing_container,
    find_target,
    pod_to_run_in,
    running_timeout_s,
)
from simcloud.kubectl.selection import Info, Wanted, fetch, info_of, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, at

EXAMPLES: Final = (
    "kubectl exec web-1 -- date",
    "kubectl exec deploy/web -c nginx -- ls /etc/nginx",
    "kubectl exec -i web-1 -- sh < script.sh",
)
NO_TERMINAL: Final = "Unable to use a TTY - input is not a terminal or the right kind of file\n"


@command("exec", "Run a command in a container", examples=EXAMPLES)
async def exec_(kubectl: Kubectl) -> None:
    """Run it, with kubectl's own streams as far as asked for."""
    running_timeout_s(kubectl, tells_usage=True)
    word, argv = _words(kubectl)
    info = await _target(kubectl, word)
    pod = await pod_to_run_in(kubectl, info)
    refuse_completed(pod, "exec into")
    flags = kubectl.flags
    if flags["container"]:
        container = str(existing_container(pod, flags["container"])["name"])
    else:
        container = await default_container(kubectl, pod, quiet=flags["quiet"])
    ctx, stdin = kubectl.ctx, flags["stdin"]
    tty = bool(stdin and flags["tty"] and ctx.stdin.isatty)
    if stdin and flags["tty"] and not tty and not flags["quiet"]:
        await kubectl.err(NO_TERMINAL)
    session = start_command(await kubectl.connect(), pod, container, argv, stdin=stdin, tty=tty)
    await converse(ctx, session, Outlets(ctx.stdout, ctx.stderr, ctx.stdin if stdin else None), tty=tty)


def _words(kubectl: Kubectl) -> tuple[str, list[str]]:
    """Where, and what."""
    flags, args = kubectl.flags, kubectl.args
    dash_at = flags.dash_at
    if dash_at is None and (len(args) > 1 or (args and flags["filename"])):
        raise UsageError(
            "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead",
            kubectl.command.full,
        )
    word = args[0] if args and dash_at != 0 else ""
    if not word and not flags["filename"]:
        raise KubectlError("pod, type/name or --filename must be specified")
    argv = args[dash_at:] if dash_at is not None else []
    if not argv:
        raise KubectlError("you must specify at least one command for the container")
    return word, argv


async def _target(kubectl: Kubectl, word: str) -> Info:
    if not kubectl.flags["filename"]:
        return await find_target(kubectl, word)
    found = await select(kubectl, [word] if word else [])
    if len(found) != 1:
        raise KubectlError("cannot exec into multiple objects at a time")
    info = found[0]
    if info.resource.key != POD:
        return info
    connection = await kubectl.connect()
    return info_of(info.resource, await fetch(connection, Wanted(info.resource, info.namespace, info.name)))


def refuse_completed(pod: Object, doing: str) -> None:
    """Raise ``KubectlError`` if a pod has completed."""
    phase = at(pod, "status", "phase", default="")
    if phase in ("Succeeded", "Failed"):
        raise KubectlError(f"cannot {doing} a container in a completed pod; current phase is {phase}")
