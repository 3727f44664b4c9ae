"""Runs commands: lists and simple commands.

A simple command is a function, a builtin or a program, in this order. The first two run here, and the redirections
and assignments of the command apply while they run; a program gets a process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from simcloud.machine.files import FileError
from simcloud.machine.process import (
    BINARY,
    BadDescriptor,
    CommandNotFound,
    ForkFailed,
    KilledBySignal,
    NotExecutable,
    Signal,
)
from simcloud.userland.bash.arithmetic import ArithmeticError_
from simcloud.userland.bash.assignments import Assigner
from simcloud.userland.bash.compound import COMPOUND
from simcloud.userland.bash.control import Abandoned, ExitShell, ReturnFromFunction
from simcloud.userland.bash.declarations import child_environment
from simcloud.userland.bash.escapes import quote_ansi_c, quote_if_needed
from simcloud.userland.bash.pipelines import run_pipeline
from simcloud.userland.bash.printer import command_text
from simcloud.userland.bash.redirects import RedirectionFailed
from simcloud.userland.bash.state import Frame, Function
from simcloud.userland.bash.syntax import (
    AndOr,
    ArithmeticCommand,
    Command,
    Conditional,
    Pipeline,
    Sequence,
    Simple,
    Subshell,
)
from simcloud.userland.bash.variable import Variable, VariableError

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

CHECKED = (Simple, Pipeline, Subshell, ArithmeticCommand, Conditional)
"""Commands whose failure counts for ``set -e`` and the ERR trap."""

MAX_FUNCTION_DEPTH = 1000


class Interpreter:
    """Runs commands for one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.assigner = Assigner(shell)
        self._handlers: dict[type, Callable[[Any], Awaitable[int]]] = {
            Simple: self.simple,
            Sequence: self.sequence,
            AndOr: self.and_or,
            Pipeline: partial(run_pipeline, shell),
        }

    # -- lists ---------------------------------------------------------------------------------

    async def execute(self, command: Command) -> int:
        """Run a command; its status is also ``$?`` afterwards."""
        handler = self._handlers.get(type(command))
        if handler is not None:
            return await handler(command)
        return await self.shell.deeper(self._compound(command))

    async def run_checked(self, command: Command) -> int:
        """Run a command and let ``set -e`` and the ERR trap look at its status."""
        handler = self._handlers.get(type(command))
        status = await (handler(command) if handler is not None else self.execute(command))
        if status and not self.shell.tolerant and isinstance(command, CHECKED):
            if isinstance(command, Pipeline) and command.negated:
                return status
            await self._handle_failure(status)
        return status

    async def _handle_failure(self, status: int) -> None:
        """Run the ERR trap and apply ``set -e`` after a failed command."""
        shell = self.shell
        await shell.traps.run("ERR")
        if shell.state.options.get("errexit"):
            raise ExitShell(status)

    async def sequence(self, sequence: Sequence) -> int:
        """Run commands one after the other."""
        shell = self.shell
        status = 0
        for command, background in sequence.items:
            if shell.state.options.get("noexec") and shell.mode != "interactive":
                return status
            if background:
                status = shell.status = await shell.jobs.background(command)
            else:
                status = await self.run_checked(command)
        return status

    async def and_or(self, node: AndOr) -> int:
        """``a && b || c``: only the last command run counts for ``set -e``."""
        shell = self.shell
        shell.tolerant += 1
        try:
            status = await self.execute(node.first)
            for operator, command in node.rest[:-1]:
                if (status == 0) is (operator == "&&"):
                    status = await self.execute(command)
        finally:
            shell.tolerant -= 1
        operator, last = node.rest[-1]
        if (status == 0) is (operator == "&&"):
            status = await self.run_checked(last)
        return status

    async def _compound(self, command: Any) -> int:
        """A compound command with its redirections."""
        shell = self.shell
        shell.ctx.spend_turn()
        handler = COMPOUND[type(command)]
        if not command.redirects:
            shell.status = status = await handler(shell, command)
            return status
        opened = len(shell.substitutions.open_descriptors)
        if shell.depth == 1 and not shell.state.frames:
            # The command has not started yet: bash's line number is still where it stopped reading.
            shell.line = command.redirects[0].line
        try:
            saved = await shell.redirections.apply(command.redirects)
        except RedirectionFailed:
            shell.status = 1
            return 1
        try:
            shell.status = status = await handler(shell, command)
        finally:
            shell.redirections.restore(saved)
            shell.substitutions.close_after(opened)
        return status

    # -- simple commands -----------------------------------------------------------------------

    async def simple(self, node: Simple) -> int:
        """Expand, redirect, assign, and run what the first word names."""
        shell = self.shell
        shell.line = node.line
        shell.ctx.spend_turn()
        if shell.traps.any_set:
            await shell.traps.run_pending()
            await shell.traps.run("DEBUG")
            shell.line = node.line
        if shell.jobs.table:
            await shell.jobs.reap()
        shell.substitution_status = None
        opened = len(shell.substitutions.open_descriptors)
        try:
            argv = list(node.argv) if node.argv is not None else await self.assigner.arguments(node.words)
            if not argv:
                status = await self._assign_only(node)
            else:
                status = await self._dispatch(node, argv)
                shell.last_argument = argv[-1]
        finally:
            if len(shell.substitutions.open_descriptors) > opened:
                shell.substitutions.close_after(opened)
        shell.status = status
        shell.pipe_statuses = [status]
        if shell.traps.pending:
            await shell.traps.run_pending()
        return status

    async def _assign_only(self, node: Simple) -> int:
        shell = self.shell
        for assignment in node.assignments:
            await self.assigner.assign(assignment)
        if node.redirects:
            try:
                shell.redirections.restore(await shell.redirections.apply(node.redirects))
            except RedirectionFailed:
                return 1
        return shell.substitution_status or 0

    async def _dispatch(self, node: Simple, argv: list[str]) -> int:
        shell = self.shell
        temporary = await self.assigner.temporary(node.assignments) if node.assignments else None
        if shell.state.options.get("xtrace"):
            await self.trace(" ".join(quote_if_needed(word) for word in argv))
        name = argv[0]
        function = shell.state.functions.get(name)
        builtin = shell.find_builtin(name) if function is None else None
        if name.startswith("%") and function is None:
            # A job's name alone is a command to bring it to the foreground.
            builtin, argv = shell.find_builtin("fg"), ["fg", name]
        if not node.redirects:
            return await self._run(node, argv, function, builtin, temporary)
        try:
            saved = await shell.redirections.apply(node.redirects)
        except RedirectionFailed:
            return 1
        if name == "exec" and builtin is not None:
            shell.redirections.keep(saved)
            saved = []
        try:
            return await self._run(node, argv, function, builtin, temporary)
        finally:
            shell.redirections.restore(saved)

    async def _run(
        self,
        node: Simple,
        argv: list[str],
        function: Function | None,
        builtin: Callable[[Shell, list[str]], Awaitable[int]] | None,
        temporary: dict[str, Variable] | None,
    ) -> int:
        if function is not None:
            return await self.call_function(function, argv, temporary)
        if builtin is not None:
            if temporary is None:
                return await self.run_builtin(builtin, argv)
            return await self._builtin_with_assignments(builtin, argv, temporary)
        environment = child_environment(self.shell.state)
        for name, variable in (temporary or {}).items():
            environment[name] = variable.scalar or ""
        return await self.external(argv, environment, node)

    async def _builtin_with_assignments(
        self,
        builtin: Callable[[Shell, list[str]], Awaitable[int]],
        argv: list[str],
        temporary: dict[str, Variable],
    ) -> int:
        scopes = self.shell.state.scopes
        if argv[0] == "exec" or (argv[0] in ("eval", "export", "readonly", ":") and self._posix()):
            scopes[0].update(temporary)
            return await self.run_builtin(builtin, argv)
        scopes.append(temporary)
        try:
            return await self.run_builtin(builtin, argv)
        finally:
            if temporary in scopes:
                scopes.remove(temporary)

    def _posix(self) -> bool:
        return bool(self.shell.state.options.get("posix"))

    async def run_builtin(
        self, builtin: Callable[[Shell, list[str]], Awaitable[int]], argv: list[str]
    ) -> int:
        """Run a builtin; what it cannot write or assign is reported here."""
        shell = self.shell
        try:
            return await builtin(shell, argv)
        except VariableError as error:
            await shell.complain(str(error))
            return 1
        except ArithmeticError_ as error:
            await shell.complain(str(error))
            raise Abandoned(1) from None
        except (BadDescriptor, FileError) as error:
            await shell.complain(f"{argv[0]}: write error: {error}")
            return 1
        except KilledBySignal as signal:
            if shell.ctx.signals.disposition(signal.signal) == "default":
                raise
            await shell.complain(f"{argv[0]}: write error: Broken pipe")
            return 1

    async def call_function(
        self, function: Function, argv: list[str], temporary: dict[str, Variable] | None = None
    ) -> int:
        """Run a function with its own positional parameters and local variables."""
        shell, state = self.shell, self.shell.state
        await self.check_nesting(function.name, "function")
        frame = Frame(function.name, shell.line, function.source_name, True, len(state.scopes), shell.loops)
        arguments = state.arguments
        hidden = [] if state.options.get("functrace") else ["DEBUG", "RETURN"]
        hidden += [] if state.options.get("errtrace") else ["ERR"]
        traps = shell.traps.hide(hidden)
        frames = len(state.frames)
        state.frames.append(frame)
        state.scopes.append(temporary if temporary is not None else {})
        state.arguments = argv[1:]
        shell.loops = 0
        depth = len(state.scopes)
        try:
            try:
                status = await shell.deeper(self._function_body(function))
            except ReturnFromFunction as returned:
                status = returned.status
            await shell.traps.run("RETURN")
            return status
        finally:
            shell.traps.unhide(traps)
            del state.scopes[depth - 1 :]
            del state.frames[frames:]
            state.arguments = arguments
            shell.loops = frame.loops

    async def check_nesting(self, name: str, what: str) -> None:
        """Functions and sourced files may call each other only so deep."""
        if len(self.shell.state.frames) >= MAX_FUNCTION_DEPTH:
            if what == "function" and self.shell.mode in ("c", "script"):
                raise KilledBySignal(Signal.SEGV)  # the stack of a genuine shell overflows
            await self.shell.complain(f"{name}: maximum {what} nesting level exceeded ({MAX_FUNCTION_DEPTH})")
            raise Abandoned(1)

    async def _function_body(self, function: Function) -> int:
        return await self.execute(function.body)

    # -- programs ------------------------------------------------------------------------------

    async def external(self, argv: list[str], environment: dict[str, str], node: Simple | None = None) -> int:
        """Run a program and wait for it. The last command of a shell takes its process over."""
        shell = self.shell
        takes_over = node is not None and shell.tail is node and not shell.traps.any_set
        try:
            if takes_over and shell.ctx.container.which(argv[0], environment, shell.ctx.files) is not None:
                await shell.ctx.exec(argv, environment)
            process = shell.ctx.start(self._with_shell(argv), env=environment)
        except CommandNotFound:
            return await self.not_found(argv)
        except NotExecutable as error:
            if "bad interpreter" in str(error):
                await shell.complain(f"{argv[0]}: cannot execute: required file not found")
                return 127
            await shell.complain(f"{argv[0]}: {error}")
            return 126
        except ForkFailed as error:
            await shell.fork_failed(error)
        status = await process.wait()
        if process.ended_by is not None:
            text = command_text(node) if node is not None else " ".join(argv)
            await shell.jobs.announce(process, text, foreground=True)
            shell.abandon_if_interrupted(process)
        if shell.is_interactive:
            await shell.jobs.report_ended()
        return status

    def _with_shell(self, argv: list[str]) -> list[str]:
        """A script that names no interpreter is run by the shell that was asked to run it."""
        files = self.shell.ctx.files
        if "/" not in argv[0] or not (files.is_file(argv[0]) and files.access(argv[0], "x")):
            return argv
        try:
            file = files.open(argv[0])
            head = file.read(len(BINARY))
            file.close()
        except FileError:
            return argv
        if head.startswith((BINARY, b"#!")) or b"\0" in head:
            return argv
        return [self.shell.flavour, *argv]

    async def not_found(self, argv: list[str]) -> int:
        """Report that there is no such command; return the status."""
        shell = self.shell
        name = argv[0]
        handler = shell.state.functions.get("command_not_found_handle")
        if handler is not None and "/" not in name:
            return await self.call_function(handler, ["command_not_found_handle", *argv])
        shown = name if name.isprintable() else quote_ansi_c(name)
        if "/" in name:
            await shell.complain(f"{shown}: No such file or directory")
        elif shell.flavour == "sh":
            await shell.err(f"{shell.error_name}: {max(1, shell.line)}: {shown}: not found\n")
        else:
            await shell.complain(f"{shown}: command not found")
        return 127

    # -- set -x --------------------------------------------------------------------------------

    async def trace(self, text: str) -> None:
        """A line of ``set -x``."""
        prompt = self.shell.state.get("PS4")
        prompt = "+ " if prompt is None else prompt
        if "$" in prompt or "`" in prompt:
            self.shell.state.options["xtrace"] = False
            prompt = await self.shell.expander.string(self.shell.parse_quoted(prompt))
            self.shell.state.options["xtrace"] = True
        await self.shell.err(f"{prompt[:1] * self.shell.trace_level}{prompt[1:]}{text}\n")
