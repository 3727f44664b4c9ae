"""Pipelines: pipes, processes and exit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.proc import SYSTEM_SHARE
from simcloud.machine.process import CommandNotFound, ForkFailed, NotExecutable, Process, Stream
from simcloud.userland.bash.declarations import child_environment
from simcloud.userland.bash.printer import command_text
from simcloud.userland.bash.syntax import Command, Pipeline, Simple

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

DEBIAN: Final = "/etc/debian_version"
"""Where this file is, ``sh`` is dash, which does not have the keyword ``time``."""


async def run_pipeline(shell: Shell, node: Pipeline) -> int:
    """Commands joined by pipes; also ``!`` and ``time``."""
    process = shell.ctx.process
    began, cpu_s = shell.ctx.kernel.now, process.cpu_s + process.children_cpu_s
    timed = node.timed and not (shell.flavour == "sh" and shell.ctx.files.exists(DEBIAN))
    shell.tolerant += node.negated
    try:
        if node.timed and not timed:
            status = await shell.interpreter.not_found(["time"])
        elif not node.commands:
            status = 0
        elif len(node.commands) == 1:
            status = await shell.interpreter.execute(node.commands[0])
        else:
            status = await _run_pipes(shell, node)
    finally:
        shell.tolerant -= node.negated
    if node.negated:
        status = int(status == 0)
    shell.status = status
    if timed:
        used_s = process.cpu_s + process.children_cpu_s - cpu_s
        await _report_time(shell, node, shell.ctx.kernel.now - began, used_s)
    return status


async def _report_time(shell: Shell, node: Pipeline, real_s: float, used_s: float) -> None:
    used_s = min(used_s, real_s)
    times = {"real": real_s, "user": used_s * (1 - SYSTEM_SHARE), "sys": used_s * SYSTEM_SHARE}
    if node.posix_time:
        lines = [f"{name} {value:.2f}" for name, value in times.items()]
        await shell.err("\n".join(lines) + "\n")
    else:
        lines = [f"{name}\t{int(value // 60)}m{value % 60:.3f}s" for name, value in times.items()]
        await shell.err("\n" + "\n".join(lines) + "\n")


async def _run_pipes(shell: Shell, node: Pipeline) -> int:
    if shell.state.shopts.get("lastpipe"):
        return await _run_pipes_into_shell(shell, node)
    processes = await _start_pipes(shell, node.commands, node, dict(shell.ctx.process.streams))
    statuses = [await process.wait() for process in processes]
    status = _verdict(shell, statuses)
    if processes[-1].ended_by is not None:
        await shell.jobs.announce(processes[-1], command_text(node.commands[-1]), foreground=True)
        shell.abandon_if_interrupted(processes[-1])
    if shell.is_interactive:
        await shell.jobs.report_ended()
    return status


def _verdict(shell: Shell, statuses: list[int]) -> int:
    """The status of a pipeline from those of its members."""
    shell.pipe_statuses = statuses
    if shell.state.options.get("pipefail"):
        return next((status for status in reversed(statuses) if status), 0)
    return statuses[-1]


async def _run_pipes_into_shell(shell: Shell, node: Pipeline) -> int:
    """``lastpipe``: the last member runs in this shell and may change it."""
    streams = shell.ctx.process.streams
    reader, writer = shell.ctx.pipe()
    try:
        processes = await _start_pipes(shell, node.commands[:-1], node, {**streams, 1: writer})
    finally:
        writer.close()
    saved = [(0, streams.pop(0, None))]
    streams[0] = reader
    try:
        status = await shell.interpreter.execute(node.commands[-1])
    finally:
        shell.redirections.restore(saved)
    return _verdict(shell, [*[await process.wait() for process in processes], status])


async def _start_pipes(
    shell: Shell, commands: list[Command], node: Pipeline, fds: dict[int, Stream], *, new_group: bool = False
) -> list[Process]:
    processes: list[Process] = []
    upstream: Stream | None = None
    for index, command in enumerate(commands):
        own = dict(fds)
        reader: Stream | None = None
        writer: Stream | None = None
        if upstream is not None:
            own[0] = upstream
        if index < len(commands) - 1:
            reader, writer = shell.ctx.pipe()
            own[1] = writer
            if node.joins_stderr[index]:
                own[2] = writer
        try:
            processes.append(_start(shell, command, own, new_group))
        except ForkFailed as error:
            if reader is not None:
                reader.close()
            await shell.fork_failed(error)
        finally:
            for end in (upstream, writer):
                if end is not None:
                    end.close()
        upstream = reader
    return processes


def _start(shell: Shell, command: Command, fds: dict[int, Stream], new_group: bool) -> Process:
    """A process for one command: the program itself when nothing needs a shell around it."""
    if isinstance(command, Simple) and command.argv and not command.assignments and not command.redirects:
        name = command.argv[0]
        if not (
            name in shell.state.functions or shell.find_builtin(name) or shell.state.options.get("xtrace")
        ):
            try:
                shell.ctx.spend_turn()
                environment = child_environment(shell.state)
                return shell.ctx.start(list(command.argv), env=environment, fds=fds, new_group=new_group)
            except (CommandNotFound, NotExecutable):
                pass  # the subshell below will tell

    async def run(child: Shell) -> int:
        return await child.run_command(command)

    return shell.fork(run, fds, new_group=new_group)


async def start_background(
    shell: Shell, command: Command, fds: dict[int, Stream], *, new_group: bool
) -> list[Process]:
    """Start a command without waiting for it; in a group of its own, Ctrl-C does not reach it."""
    if isinstance(command, Pipeline) and len(command.commands) > 1 and not command.negated:
        return await _start_pipes(shell, command.commands, command, fds, new_group=new_group)
    try:
        return [_start(shell, command, fds, new_group)]
    except ForkFailed as error:
        await shell.fork_failed(error)
