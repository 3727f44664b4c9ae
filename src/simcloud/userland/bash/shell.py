"""A shell: the state of one bash process and the parts that work on it.

Builtins and functions run in the shell's own process and change its state; subshells, members of pipelines,
substitutions and background jobs are child processes that start from a copy.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final, NoReturn

from simcloud.machine.files import FileError
from simcloud.machine.process import (
    BadDescriptor,
    Context,
    ForkFailed,
    LimitExceeded,
    Process,
    Signal,
    Stream,
)
from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound
from simcloud.userland.bash.builtins.table import BUILTINS
from simcloud.userland.bash.control import Abandoned, ExitShell, LeaveLoop, ReturnFromFunction
from simcloud.userland.bash.expansion import Expander
from simcloud.userland.bash.interfaces import Builtin, Runner
from simcloud.userland.bash.interpreter import Interpreter
from simcloud.userland.bash.jobs import Jobs
from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.redirects import Redirections
from simcloud.userland.bash.scripts import Reader
from simcloud.userland.bash.special import install_special_variables
from simcloud.userland.bash.state import OPTION_LETTERS, State
from simcloud.userland.bash.substitution import Substitutions
from simcloud.userland.bash.syntax import AndOr, Command, ProcessSubstitution, Quoted, Sequence, Simple, Word
from simcloud.userland.bash.traps import Traps
from simcloud.userland.bash.variable import VariableError
from simcloud.userland.bash.word_parts import ShellSyntaxError, finish_word

MAX_DEPTH: Final = 10_000
HOP_EVERY: Final = 15
"""Levels of nested execution before a new task continues, which keeps Python's stack short."""

STRAY: Final = (VariableError, ArithmeticError_, Unbound, FileError, BadDescriptor)
"""Errors that expansions and builtins may raise."""


def tail_of(sequence: Sequence) -> Simple | None:
    """The program a list of commands ends with, if it ends with one and nothing has to be done after it."""
    if not sequence.items:
        return None
    command, background = sequence.items[-1]
    if isinstance(command, AndOr):
        command = command.rest[-1][1]
    if background or not isinstance(command, Simple) or command.redirects:
        return None
    return command


class Shell:
    """One bash process."""

    def __init__(
        self, ctx: Context, state: State, *, mode: str, base_name: str, flavour: str = "bash"
    ) -> None:
        self.ctx = ctx
        self.state = state
        self.flavour = flavour
        """``bash`` or ``sh``: decides the message for a missing command."""
        self.mode = mode
        """The source of commands: ``c``, ``script``, ``stdin`` or ``interactive``."""
        self.base_name = base_name
        """The prefix of error messages outside of functions."""
        self.pid = ctx.process.pid
        """``$$``: the pid of the main shell, also in its subshells."""
        self.status = 0
        self.line = 1
        self.pipe_statuses: list[int] = []
        self.substitution_status: int | None = None
        self.last_background: int | None = None
        self.last_argument = ""
        self.subshell_level = 0
        self.trace_level = 1
        self.tolerant = 0
        """Above zero where a failing command does not count for ``set -e``."""
        self.loops = 0
        self.depth = 0
        self.tail: Simple | None = None
        """The command after which nothing follows: it may take this process over."""
        self.getopts_position = 1
        self.random_seed = 0
        self.started_at = ctx.kernel.now
        self.started_at_s = ctx.now
        self.expander = Expander(self)
        self.redirections = Redirections(self)
        self.substitutions = Substitutions(self)
        self.jobs = Jobs(self)
        self.traps = Traps(self)
        self.interpreter = Interpreter(self)
        install_special_variables(self)

    # -- output and errors ---------------------------------------------------------------------

    async def out(self, text: str) -> None:
        """Write to standard output."""
        data = text.encode("utf-8", "surrogateescape")
        self.ctx.spend_bytes(len(data))
        await self.ctx.process.streams[1].write(data)

    async def err(self, text: str) -> None:
        """Write to standard error, as far as that is possible."""
        try:
            await self.ctx.err(text)
        except (BadDescriptor, FileError):  # there is nobody left to tell
            pass

    @property
    def error_name(self) -> str:
        """The prefix of error messages."""
        frames = self.state.frames
        return frames[-1].source_name if frames and self.mode != "interactive" else self.base_name

    @property
    def definition_name(self) -> str:
        """The source name of functions defined now."""
        return self.base_name if self.mode == "script" else "environment"

    async def complain(self, message: str) -> None:
        """An error message with the shell's name and the line."""
        place = "" if self.mode == "interactive" else f" line {self.line}:"
        await self.err(f"{self.error_name}:{place} {message}\n")

    async def fork_failed(self, error: ForkFailed) -> NoReturn:
        """There is no room for another process: give the line up, as bash does after trying again."""
        await self.complain(f"fork: retry: {error}")
        await self.complain(f"fork: {error}")
        raise Abandoned(254)

    @property
    def is_interactive(self) -> bool:
        """Whether this shell reads what a person types, and is no subshell of one that does."""
        return self.mode == "interactive" and self.subshell_level == 0

    def abandon_if_interrupted(self, process: Process) -> None:
        """Give up the rest of the line if Ctrl-C ended a command of an interactive shell."""
        if process.ended_by is Signal.INT and self.is_interactive:
            raise Abandoned(process.status)

    def limit(self, what: str) -> LimitExceeded:
        """The end of this process by a count limit."""
        return LimitExceeded(f"limit exceeded: {what}")

    async def report_syntax_error(self, error: ShellSyntaxError, label: str) -> None:
        """Report a syntax error as bash does."""
        name = f"{self.error_name}: {label}: " if label else f"{self.error_name}: "
        place = "" if self.mode in ("stdin", "interactive") and not label else f"line {error.line}: "
        if error.message:
            await self.err(f"{name}{place}{error.message}\n")
        if error.echo is not None and (self.mode != "interactive" or label):
            if error.echo.startswith("\0"):
                await self.err(f"{name}{place}{error.echo[1:]}\n")
            else:
                await self.err(f"{name}{place}`{error.echo}'\n")

    # -- parameters ----------------------------------------------------------------------------

    def special(self, name: str) -> str | None:
        """``$?``, ``$#`` and the like."""
        if name == "?":
            return str(self.status)
        if name == "#":
            return str(len(self.state.arguments))
        if name == "$":
            return str(self.pid)
        if name == "!":
            return None if self.last_background is None else str(self.last_background)
        letters = "".join(
            letter for option, letter in OPTION_LETTERS.items() if self.state.options.get(option)
        )
        mode = {"c": "c", "stdin": "s", "interactive": "is"}.get(self.mode, "")
        return "".join(sorted(letters.replace("B", ""))) + ("B" if "B" in letters else "") + mode

    def home_of(self, user: str) -> str | None:
        """A user's home folder, from the password file."""
        try:
            table = self.ctx.files.read("/etc/passwd").decode("utf-8", "surrogateescape")
        except FileError:
            return None
        for entry in table.splitlines():
            fields = entry.split(":")
            if fields[0] == user and len(fields) > 5:
                return fields[5]
        return None

    def word_of(self, text: str) -> Word:
        """A word parsed from a text that holds no unquoted blanks of meaning (a subscript)."""
        try:
            return finish_word(Parser(text).read_unquoted("", False), text)
        except ShellSyntaxError:
            return Word([Quoted(text)], text, literal=text)

    def parse_quoted(self, text: str) -> Word:
        """Parse a text with expansions, as inside double quotes."""
        try:
            return Parser(text).here_text(text, self.line)
        except ShellSyntaxError:
            return Word([Quoted(text)], text, literal=text)

    def find_builtin(self, name: str) -> Builtin | None:
        """The builtin of that name."""
        return BUILTINS.get(name)

    # -- running text --------------------------------------------------------------------------

    async def run_reader(self, reader: Reader, last: bool = False) -> int:
        """Run a text unit by unit. Syntax errors and abandoned lines are dealt with here.

        When the shell has nothing to do after the ``last`` text, its last program takes the process over.
        """
        while True:
            try:
                unit = reader.next()
            except ShellSyntaxError as error:
                return await self.syntax_failed(error, reader.label)
            for line, warning in unit.warnings:
                await self.err(f"{self.error_name}: line {line}: warning: {warning}\n")
            if unit.sequence is None:
                return self.status
            if self.state.options.get("verbose"):
                await self.err(unit.sequence.text + "\n")
            if self.state.options.get("noexec") and self.mode != "interactive":
                continue
            if last and reader.at_end and not self.traps.any_set:
                self.tail = tail_of(unit.sequence)
            await self.run_unit(unit.sequence)

    async def syntax_failed(self, error: ShellSyntaxError, label: str) -> int:
        """Report a syntax error and return the status."""
        await self.report_syntax_error(error, label)
        if error.status != 2:
            # A mistake inside [[ ]] ends the text without a verdict; a bad array list counts as 1.
            self.status = self.status if error.status == 0 else error.status
        else:
            self.status = 127 if error.in_substitution and label == "-c" else 2
        return self.status

    async def run_unit(self, sequence: Sequence) -> None:
        """Run one complete command line; what it gives up ends here."""
        try:
            self.status = await self.interpreter.sequence(sequence)
        except STRAY as error:
            self.status = await self._stray(error)
        except Abandoned as given_up:
            self.status = given_up.status
            if given_up.fatal and self.mode != "interactive":
                in_main = self.mode == "c" and self.subshell_level == 0
                raise ExitShell(127 if in_main else 1) from None

    async def _stray(self, error: Exception) -> int:
        """Report an error that no command handled; it ends the line only."""
        unbound = ": unbound variable" if isinstance(error, Unbound) else ""
        await self.complain(f"{error}{unbound}")
        return 1

    async def run_text(self, source: str, label: str, first_line: int = 1) -> int:
        """Run a text inside this shell: ``eval``, a trap."""
        self.trace_level += 1
        try:
            return await self.deeper(self.run_reader(Reader(source, self.state, first_line, label)))
        finally:
            self.trace_level -= 1

    async def deeper(self, work: Coroutine[Any, Any, int]) -> int:
        """Await nested execution, now and then on a fresh stack."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            work.close()
            raise self.limit(f"commands nested deeper than {MAX_DEPTH} levels")
        try:
            if self.depth % HOP_EVERY:
                return await work
            return int(await self.ctx.process.spawn(work, "deeper", supervised=True))
        finally:
            self.depth -= 1

    # -- children ------------------------------------------------------------------------------

    def fork(
        self,
        run: Runner,
        fds: dict[int, Stream] | None = None,
        *,
        substitution: bool = False,
        new_group: bool = False,
    ) -> Process:
        """Start a subshell: a child process with a copy of this shell. Raises ``ForkFailed``."""
        state = self.state.copy()

        async def program(ctx: Context) -> int:
            child = self._child(ctx, state)
            if substitution:
                child.trace_level += 1
                if not state.shopts.get("inherit_errexit"):
                    state.options["errexit"] = False
            try:
                return await child.live(run)
            finally:  # a shell refers to itself: its variables would stay until the collector comes round
                for scope in state.scopes:
                    scope.clear()

        return self.ctx.start(self.ctx.args, program=program, env=self.ctx.env, fds=fds, new_group=new_group)

    def _child(self, ctx: Context, state: State) -> Shell:
        child = Shell(ctx, state, mode=self.mode, base_name=self.base_name, flavour=self.flavour)
        child.pid = self.pid
        child.status, child.line = self.status, self.line
        child.pipe_statuses = list(self.pipe_statuses)
        child.last_background, child.last_argument = self.last_background, self.last_argument
        child.subshell_level = self.subshell_level + 1
        child.trace_level = self.trace_level
        child.tolerant = self.tolerant
        child.jobs.inherited = {**self.jobs.inherited, **self.jobs.table}
        child.started_at, child.started_at_s = self.started_at, self.started_at_s
        child.getopts_position = self.getopts_position
        child.traps.inherit(self.traps)
        child.random_seed = self.random_seed
        return child

    async def live(self, run: Runner) -> int:
        """Run to the end of this process, exit trap included; its exit status."""
        try:
            self.status = await run(self)
        except ExitShell as leaving:
            self.status = leaving.status
        except (Abandoned, ReturnFromFunction) as leaving:
            self.status = leaving.status
        except LeaveLoop:
            pass
        except STRAY as error:
            self.status = await self._stray(error)
        return await self.traps.run_exit()

    async def run_command(self, command: Command) -> int:
        """Run a command as the whole business of this subshell."""
        if isinstance(command, Simple):
            self.tail = command
        elif isinstance(command, Sequence):
            self.tail = tail_of(command)
        if isinstance(command, Sequence):
            await self.run_unit(command)
            return self.status
        return await self.interpreter.run_checked(command)

    async def capture(self, body: Sequence) -> str:
        """``$(...)``: what a list of commands prints, without the newlines at its end."""
        return await self.substitutions.capture(body)

    async def capture_text(self, source: str, line: int) -> str:
        """The same for backquotes, whose text is parsed only now."""
        return await self.substitutions.capture_text(source, line)

    async def process_substitution(self, part: ProcessSubstitution) -> str:
        """``<(...)``: the path under which a running command's output can be read."""
        return await self.substitutions.process(part)
