"""chroot, nsenter and lsns: enter the machine from a container.

``chroot /host`` changes to the files of the machine, where they are mounted, with its programs; network, process
numbers and rights stay those of the container. ``nsenter`` joins the namespaces of another process. A folder that is
not the root of a machine's files has no programs to run.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import (
    CommandNotFound,
    Context,
    ForkFailed,
    NotExecutable,
    Process,
    ProcessContainer,
    Signal,
)
from simcloud.userland.commands.file.tables import align_columns
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.launchers import CANNOT_RUN, NOT_FOUND, OWN_FAILURE, become
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, misuse, tool

FIRST_NAMESPACE: Final = 4_026_531_834
WORLDS: Final = {
    "m": "mnt",
    "u": "uts",
    "i": "ipc",
    "n": "net",
    "p": "pid",
    "C": "cgroup",
    "U": "user",
    "T": "time",
}


@tool(
    "chroot",
    options="groups= userspec= skip-chdir",
    usage="[OPTION] NEWROOT [COMMAND [ARG]...]",
    trouble=OWN_FAILURE,
    stop_early=True,
)
async def chroot(ctx: Context, options: Options) -> int:
    """Run a command with another root."""
    if not options.operands:
        misuse(ctx, "missing operand", OWN_FAILURE)
    path, *command = options.operands
    try:
        ctx.files.find(path)
        if not ctx.files.is_dir(path):
            raise FileError("ENOTDIR", path)
    except FileError as error:
        fail(ctx, f"cannot change root directory to {quote(path)}: {error.strerror}", OWN_FAILURE)
    if not ctx.capable("SYS_CHROOT"):
        fail(ctx, f"cannot change root directory to {quote(path)}: Operation not permitted", OWN_FAILURE)
    command = command or [ctx.env.get("SHELL", "/bin/sh"), "-i"]
    if _is_machine_root(ctx, path):
        ctx.chroot(ctx.machine.host.files)
    elif ctx.files.realpath(path) != "/":
        fail(ctx, f"failed to run command {quote(command[0])}: No such file or directory", NOT_FOUND)
    return await become(ctx, command)


def _is_machine_root(ctx: Context, path: str) -> bool:
    mount, node = ctx.files.find(path)
    volume = ctx.machine.host.files.table.root.volume
    return mount.volume is volume and node.ino == volume.root.ino


@tool(
    "nsenter",
    options="a,all t,target= m,mount=? u,uts=? i,ipc=? n,net=? N,net-socket= p,pid=? C,cgroup=? U,user=? T,time=? "
    "S,setuid= G,setgid= preserve-credentials r,root=? w,wd=? W,wdns= F,no-fork e,env Z,follow-context",
    usage="[options] [<program> [<argument>...]]",
    version=UTIL_LINUX,
    stop_early=True,
)
async def nsenter(ctx: Context, options: Options) -> int:
    """Run a command in another process's world."""
    joined = list(WORLDS) if options.any("a") else [letter for letter in WORLDS if options.any(letter)]
    target = _target(ctx, options)
    command = options.operands or [ctx.env.get("SHELL", "/bin/sh")]
    if target is None:
        if joined:
            fail(ctx, "neither filename nor target pid supplied for " + f"ns/{WORLDS[joined[0]]}")
        return await become(ctx, command)
    if joined and not ctx.capable("SYS_ADMIN"):
        fail(ctx, f"reassociate to namespace 'ns/{WORLDS[joined[0]]}' failed: Operation not permitted")
    if "m" in joined:
        ctx.chroot(target.files)
    if "n" not in joined and "p" not in joined:
        return await run_inside(ctx, ctx.container, command)
    return await run_inside(ctx, _find_container(ctx, target), command)


def _find_container(ctx: Context, target: Process) -> ProcessContainer:
    """Return the container whose network a process has; of one that holds a pod's network, any of that pod."""
    if target.held_network is None:
        return target.container
    inside = (each for each in ctx.machine.containers.values() if each.namespace is target.held_network)
    return next(inside, target.container)


@tool("lsns", options="t,type= p,task= n,noheadings o,output= J,json l,list r,raw", version=UTIL_LINUX)
async def lsns(ctx: Context, options: Options) -> int:
    """List namespaces: those of processes are the machine's, those of networks also the pods'."""
    wanted = options.last("t")
    if wanted and wanted not in WORLDS.values():
        fail(ctx, f"unknown namespace type: {wanted}")
    processes = ctx.container.visible()
    if options.last("p"):
        processes = {pid: process for pid, process in processes.items() if str(pid) == options.last("p")}
    groups: dict[tuple[int, str], list[tuple[int, Process]]] = {}
    for pid, process in processes.items():
        for number, kind in enumerate(sorted(WORLDS.values())):
            inside = 0
            container = ctx.machine.containers.get(process.container.name)
            if kind == "net" and container is not None and container.namespace.netns:
                inside = 600 + container.namespace.number
            groups.setdefault((FIRST_NAMESPACE + number + inside, kind), []).append((pid, process))
    rows = [["NS", "TYPE", "NPROCS", "PID", "USER", "COMMAND"]] if not options.any("n") else []
    for (number, kind), members in sorted(groups.items()):
        if not wanted or kind == wanted:
            pid, first = members[0]
            rows.append([str(number), kind, str(len(members)), str(pid), "root", " ".join(first.argv)])
    await ctx.out(
        "".join(f"{line}\n" for line in align_columns(rows, [True, False, True, True, False, False]))
    )
    return 0


def _target(ctx: Context, options: Options) -> Process | None:
    word = options.last("t")
    if not word:
        return None
    if not word.isdecimal():
        fail(ctx, f"failed to parse pid: '{word}'")
    target = ctx.container.visible().get(int(word[:9]))
    if target is None:
        fail(
            ctx,
            f"cannot open /proc/{word}/ns/{'mnt' if options.any('m', 'a') else 'net'}: No such file or directory",
        )
    return target


async def run_inside(ctx: Context, container: ProcessContainer, command: list[str]) -> int:
    """Run a command as a process of a container, with the files of the caller."""
    try:
        process = container.launch(
            command,
            program=None,
            env=dict(ctx.env),
            files=ctx.files.fork(),
            streams=ctx.process.streams,
            budget=ctx.process.budget,
            parent=None,
            group=None,
        )
        process.capabilities = ctx.capabilities  # those of the caller, whatever the container allows
    except CommandNotFound:
        fail(ctx, f"failed to execute {command[0]}: No such file or directory", NOT_FOUND)
    except (NotExecutable, ForkFailed) as error:
        fail(ctx, f"failed to execute {command[0]}: {error}", CANNOT_RUN)
    try:
        return await process.wait()
    finally:
        process.send(Signal.TERM, outside=True)
