"""Builtins for control flow: exit, return, break, continue, eval, source, exec, test, true and false."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simcloud.machine.files import FileError
from simcloud.machine.process import CommandNotFound, NotExecutable
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.conditions import ConditionMistake, evaluate_test
from simcloud.userland.bash.control import Abandoned, ExitShell, LeaveLoop, ReturnFromFunction
from simcloud.userland.bash.declarations import child_environment
from simcloud.userland.bash.scripts import Reader
from simcloud.userland.bash.state import Frame
from simcloud.userland.bash.variable import BadSubscript

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

_NUMBER = re.compile(r"\s*[+-]?\d+\s*\Z")


def is_number(text: str) -> bool:
    """Whether a text is an integer that fits in 64 bits."""
    return _NUMBER.match(text) is not None and -(2**63) <= int(text) < 2**63


@builtin(":", "true")
async def true(shell: Shell, argv: list[str]) -> int:
    """Succeed."""
    return 0


@builtin("false")
async def false(shell: Shell, argv: list[str]) -> int:
    """Fail."""
    return 1


@builtin("test")
async def test(shell: Shell, argv: list[str]) -> int:
    """Answer a question."""
    return await _test(shell, "test", argv[1:])


@builtin("[")
async def bracket(shell: Shell, argv: list[str]) -> int:
    """The same, in brackets."""
    if argv[-1] != "]" or len(argv) < 2:
        await shell.complain("[: missing `]'")
        return 2
    return await _test(shell, "[", argv[1:-1])


async def _test(shell: Shell, name: str, arguments: list[str]) -> int:
    try:
        return int(not evaluate_test(shell, arguments))
    except (ConditionMistake, BadSubscript) as mistake:
        await shell.complain(f"{name}: {mistake}")
        return 2


async def _status(shell: Shell, argv: list[str]) -> int:
    """Return the status of an ``exit`` or ``return``; the current one by default."""
    if len(argv) < 2:
        before = shell.traps.status_before
        return before if before is not None and argv[0] == "exit" else shell.status
    if not is_number(argv[1]):
        await shell.complain(f"{argv[0]}: {argv[1]}: numeric argument required")
        return 2
    return int(argv[1]) & 0xFF


@builtin("exit")
async def exit_(shell: Shell, argv: list[str]) -> int:
    """End the shell."""
    if argv[1:2] == ["--"]:
        argv = [argv[0], *argv[2:]]
    if len(argv) > 2 and is_number(argv[1]):
        await shell.complain("exit: too many arguments")
        raise Abandoned(1)
    if shell.is_interactive and shell.ctx.stdin.isatty and shell.flavour == "bash":
        await shell.err("logout\n" if shell.state.shopts.get("login_shell") else "exit\n")
    raise ExitShell(await _status(shell, argv))


@builtin("logout")
async def logout(shell: Shell, argv: list[str]) -> int:
    """End a login shell."""
    if not shell.state.shopts.get("login_shell"):
        await shell.complain("logout: not login shell: use `exit'")
        return 1
    raise ExitShell(await _status(shell, argv))


@builtin("return")
async def return_(shell: Shell, argv: list[str]) -> int:
    """Leave a function or a sourced file."""
    if len(argv) > 2 and is_number(argv[1]):
        await shell.complain("return: too many arguments")
        raise Abandoned(1)
    status = await _status(shell, argv)
    if not shell.state.frames:
        await shell.complain("return: can only `return' from a function or sourced script")
        return 2
    raise ReturnFromFunction(status)


@builtin("break", "continue")
async def leave_loop(shell: Shell, argv: list[str]) -> int:
    """Leave a loop, or go on with its next turn."""
    if not shell.loops:
        await shell.complain(f"{argv[0]}: only meaningful in a `for', `while', or `until' loop")
        return 0
    levels = 1
    if len(argv) > 1:
        if not is_number(argv[1]):
            await shell.complain(f"{argv[0]}: {argv[1]}: numeric argument required")
            raise ExitShell(128)
        levels = int(argv[1])
        if levels < 1:
            await shell.complain(f"{argv[0]}: {argv[1]}: loop count out of range")
            raise LeaveLoop(shell.loops, resume=False, status=1)
    raise LeaveLoop(min(levels, shell.loops), resume=argv[0] == "continue")


@builtin("eval")
async def eval_(shell: Shell, argv: list[str]) -> int:
    """Run words as a command line."""
    words = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    if words and words[0].startswith("-") and len(words[0]) > 1 and argv[1:2] != ["--"]:
        return await usage(shell, "eval", f"{words[0][:2]}: invalid option")
    source = " ".join(words)
    if not source.strip():
        return 0
    line = shell.line
    shell.status = 0
    try:
        return await shell.run_text(source, "eval", line)
    finally:
        shell.line = line


@builtin(".", "source")
async def source(shell: Shell, argv: list[str]) -> int:
    """Run a file in this shell."""
    arguments = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    if not arguments:
        return await usage(shell, argv[0], "filename argument required")
    path = _find_source(shell, arguments[0])
    try:
        if shell.ctx.files.is_dir(path):
            await shell.complain(f"{argv[0]}: {arguments[0]}: is a directory")
            return 1
        data = await read_file(shell, path)
    except FileError as error:
        await shell.complain(f"{arguments[0]}: {error.strerror}")
        return 1
    shell.ctx.spend_bytes(len(data))
    await shell.interpreter.check_nesting(argv[0], "source")
    state = shell.state
    depth = len(state.frames)
    frame = Frame("source", shell.line, path if "/" in arguments[0] else arguments[0], False, 0, shell.loops)
    saved = state.arguments
    if len(arguments) > 1:
        state.arguments = arguments[1:]
    state.frames.append(frame)
    shell.status = 0
    try:
        reader = Reader(data.decode("utf-8", "surrogateescape"), state)
        return await shell.deeper(shell.run_reader(reader))
    except ReturnFromFunction as returned:
        return returned.status
    finally:
        del state.frames[depth:]
        if len(arguments) > 1:
            state.arguments = saved


async def read_file(shell: Shell, path: str) -> bytes:
    """All of a file, a pipe or a descriptor."""
    stream = await shell.ctx.open(path)
    pieces = []
    try:
        while data := await stream.read():
            shell.ctx.spend_bytes(len(data))
            pieces.append(data)
    finally:
        stream.close()
    return b"".join(pieces)


def _find_source(shell: Shell, name: str) -> str:
    if "/" in name:
        return name
    files = shell.ctx.files
    for folder in (shell.state.get("PATH") or "").split(":"):
        candidate = f"{folder or '.'}/{name}"
        if files.is_file(candidate) and files.access(candidate, "r"):
            return candidate
    return name


@builtin("exec")
async def exec_(shell: Shell, argv: list[str]) -> int:
    """Become another program; with redirections alone they stay in force."""
    try:
        options = Options(argv, "cla:")
    except BadOption as mistake:
        return await usage(shell, "exec", str(mistake))
    if not options.rest:
        return 0
    command = options.rest
    environment = {} if "c" in options else child_environment(shell.state)
    try:
        path = shell.ctx.container.which(command[0], child_environment(shell.state), shell.ctx.files)
        if path is None:
            raise CommandNotFound(command[0])
        await shell.ctx.exec([*command], environment)
    except CommandNotFound:
        has_path = "/" in command[0]
        message = f"{command[0]}: No such file or directory" if has_path else f"exec: {command[0]}: not found"
        await shell.complain(message)
        return await _exec_failed(shell, 127)
    except NotExecutable as error:
        await shell.complain(f"{command[0]}: {error}")
        await shell.complain(f"exec: {command[0]}: cannot execute: {error}")
        return await _exec_failed(shell, 126)


async def _exec_failed(shell: Shell, status: int) -> int:
    if shell.mode == "interactive" or shell.state.shopts.get("execfail"):
        return status
    raise ExitShell(status)
