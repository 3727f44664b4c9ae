"""Protocols between the parts of a shell, so that no part imports the shell that is built from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NoReturn, Protocol

from simcloud.machine.process import Context, ForkFailed, LimitExceeded, Process, Signal, Stream
from simcloud.sim import Event
from simcloud.userland.bash.job import Job
from simcloud.userland.bash.modifiers import Segment
from simcloud.userland.bash.scripts import Reader
from simcloud.userland.bash.state import State
from simcloud.userland.bash.syntax import (
    Assignment,
    Command,
    Element,
    Part,
    ProcessSubstitution,
    Redirect,
    Sequence,
    Simple,
    Word,
)
from simcloud.userland.bash.variable import Variable
from simcloud.userland.bash.word_parts import ShellSyntaxError

Builtin = Callable[["Shell", list[str]], Awaitable[int]]
"""Takes the shell and all the words of the command; gives the status."""

Runner = Callable[["Shell"], Awaitable[int]]
"""The body of a subshell: takes the subshell and returns its exit status."""

Saved = list[tuple[int, Stream | None]]
"""Descriptors that were replaced, and what they were."""


class Expander(Protocol):
    """Word expansion, as other parts of the shell use it."""

    async def words(self, words: list[Word]) -> list[str]:
        """The fields that a list of words becomes."""

    async def string(self, word: Word) -> str:
        """A word as one string: no splitting, no globbing."""

    async def pattern(self, word: Word) -> str:
        """A word as a glob pattern, quoted parts escaped."""

    async def regex(self, word: Word) -> str:
        """A word as a regular expression, quoted parts escaped."""

    async def number(self, word: Word, prefix: str = "") -> int:
        """The value of an arithmetic expression; a mistake in it is reported and gives the line up."""

    async def fail(self, message: str, fatal: bool = False) -> NoReturn:
        """Report an error and give up the command line (or, when fatal, the shell)."""

    async def segments(
        self, parts: list[Part], out: list[Segment], split: bool, operand: bool = False
    ) -> None:
        """Expand unquoted parts. ``split`` is false where only one field is allowed."""

    async def expand_quoted(self, parts: list[Part], out: list[Segment], split: bool) -> None:
        """Expand double-quoted parts to at least one segment, except for a sole empty ``$@``."""

    def ifs(self) -> str:
        """The characters that split words."""


class Assigner(Protocol):
    """Assignments, as other parts of the shell use them."""

    async def arguments(self, words: list[Word]) -> list[str]:
        """The words of a command expanded; ``name=value`` arguments of declarations are not split."""

    async def assign(self, assignment: Assignment) -> None:
        """Make one assignment; a mistake is reported and gives the line up."""

    async def assign_array(
        self, name: str, elements: list[Element], append: bool, variable: Variable | None = None
    ) -> None:
        """``name=(...)``; raises ``VariableError``."""

    async def temporary(self, assignments: list[Assignment]) -> dict[str, Variable]:
        """Assignments before a command: variables for its time only, exported."""


class Interpreter(Protocol):
    """The interpreter, as other parts of the shell use it."""

    @property
    def assigner(self) -> Assigner:
        """Assignments."""

    async def execute(self, command: Command) -> int:
        """Run a command; its status is also ``$?`` afterwards."""

    async def not_found(self, argv: list[str]) -> int:
        """Report that there is no such command; return the status."""

    async def run_checked(self, command: Command) -> int:
        """Run a command and let ``set -e`` and the ERR trap look at its status."""

    async def sequence(self, sequence: Sequence) -> int:
        """Run commands one after the other."""

    async def run_builtin(self, builtin: Builtin, argv: list[str]) -> int:
        """Run a builtin; what it cannot write or assign is reported here."""

    async def check_nesting(self, name: str, what: str) -> None:
        """Functions and sourced files may call each other only so deep."""

    async def external(self, argv: list[str], environment: dict[str, str], node: Simple | None = None) -> int:
        """Run a program and wait for it. The last command of a shell takes its process over."""

    async def trace(self, text: str) -> None:
        """A line of ``set -x``."""


class Jobs(Protocol):
    """Job control, as other parts of the shell use it."""

    table: dict[int, Job]
    inherited: dict[int, Job]
    statuses: dict[int, int]
    known: dict[int, Process]

    def remember(self, process: Process) -> None:
        """A process that has no job but may be waited for."""

    async def background(self, command: Command) -> int:
        """Start a command with ``&``."""

    def find(self, spec: str) -> Job | None:
        """The job that ``%1``, ``%+``, ``%-``, ``%name`` or ``%?text`` means."""

    def by_pid(self, pid: int) -> Job | None:
        """The job a process belongs to."""

    def mark(self, job: Job) -> str:
        """``+`` for the current job, ``-`` for the one before it."""

    def line(self, job: Job, with_pids: bool = False) -> str:
        """The line ``jobs`` prints."""

    def forget(self, job: Job) -> None:
        """Take a finished job off the table; its status stays known."""

    async def reap(self) -> None:
        """Between commands: drop finished jobs, telling about those that a signal killed."""

    async def report_ended(self) -> None:
        """Report the jobs that have ended since; an interactive shell does so after each program, and forgets them."""

    async def report_end(self, job: Job) -> None:
        """Report the end of a job: an interactive shell always, others only if a signal killed it."""

    async def announce(self, process: Process, text: str, foreground: bool = False) -> None:
        """Report that a signal killed a process, in the cases where bash does."""

    async def wait_for(self, process: Process) -> int | None:
        """Wait for a process; None when a trapped signal came first."""


class Traps(Protocol):
    """Traps, as other parts of the shell use them."""

    actions: dict[str, str]
    inherited: dict[str, str]
    pending: list[str]
    terminated_by: Signal | None
    status_before: int | None

    @property
    def any_set(self) -> bool:
        """Whether anything at all is trapped."""

    def is_trapped(self, signal: Signal) -> bool:
        """Whether a signal has a trap."""

    def set(self, name: str, action: str | None) -> None:
        """Set a trap; None goes back to the default, the empty string ignores."""

    def arrival(self) -> Event[None]:
        """An event that the next trapped signal sets."""

    def hide(self, names: list[str]) -> dict[str, str]:
        """Take traps away that a function does not see; give what comes back to ``unhide``."""

    def unhide(self, hidden: dict[str, str]) -> None:
        """Put hidden traps back, unless the function set its own."""

    async def run_pending(self) -> None:
        """Run the traps of signals that came since."""

    async def run(self, name: str) -> None:
        """Run the trap of that name if there is one and it is not running already."""

    async def run_exit(self) -> int:
        """Run the exit trap, once; the shell's final status."""


class Redirections(Protocol):
    """Redirections, as other parts of the shell use them."""

    async def apply(self, redirects: list[Redirect]) -> Saved:
        """Make redirections from left to right; on failure they are undone and ``RedirectionFailed`` raised."""

    def restore(self, saved: Saved) -> None:
        """Put back what was there before."""

    def keep(self, saved: Saved) -> None:
        """Make redirections permanent: close what they replaced."""

    async def single_target(self, redirect: Redirect) -> str | None:
        """The one word a target must expand to; anything else is ambiguous and is reported."""


class Substitutions(Protocol):
    """Command and process substitution, as other parts of the shell use them."""

    open_descriptors: list[int]

    async def capture(self, body: Sequence) -> str:
        """Return the output of commands. ``$(< file)`` needs no process."""

    async def capture_text(self, source: str, line: int) -> str:
        """Parse and run the text of backquotes."""

    async def process(self, part: ProcessSubstitution) -> str:
        """Start a command at the other end of a pipe; the path of our end."""

    def close_after(self, kept: int) -> None:
        """Let go of the descriptors opened since there were ``kept`` of them."""


class Shell(Protocol):
    """The shell, as its parts and its builtins use it."""

    ctx: Context
    state: State
    flavour: str
    mode: str
    base_name: str
    status: int
    line: int
    pipe_statuses: list[int]
    substitution_status: int | None
    last_background: int | None
    last_argument: str
    subshell_level: int
    trace_level: int
    tolerant: int
    loops: int
    depth: int
    tail: Simple | None
    getopts_position: int
    random_seed: int
    started_at: float
    started_at_s: float

    @property
    def expander(self) -> Expander:
        """Word expansion."""

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter of commands."""

    @property
    def jobs(self) -> Jobs:
        """Job control."""

    @property
    def traps(self) -> Traps:
        """The traps that are set."""

    @property
    def redirections(self) -> Redirections:
        """Redirections of streams."""

    @property
    def substitutions(self) -> Substitutions:
        """Command and process substitution."""

    async def out(self, text: str) -> None:
        """Write to standard output."""

    async def err(self, text: str) -> None:
        """Write to standard error, as far as that is possible."""

    @property
    def error_name(self) -> str:
        """The prefix of error messages."""

    @property
    def definition_name(self) -> str:
        """The source name of functions defined now."""

    async def complain(self, message: str) -> None:
        """An error message with the shell's name and the line."""

    async def fork_failed(self, error: ForkFailed) -> NoReturn:
        """There is no room for another process: give the line up, as bash does after trying again."""

    @property
    def is_interactive(self) -> bool:
        """Whether this shell reads what a person types, and is no subshell of one that does."""

    def abandon_if_interrupted(self, process: Process) -> None:
        """Give up the rest of the line if Ctrl-C ended a command of an interactive shell."""

    def limit(self, what: str) -> LimitExceeded:
        """The end of this process by a count limit."""

    async def report_syntax_error(self, error: ShellSyntaxError, label: str) -> None:
        """Report a syntax error as bash does."""

    def special(self, name: str) -> str | None:
        """``$?``, ``$#`` and the like."""

    def home_of(self, user: str) -> str | None:
        """A user's home folder, from the password file."""

    def word_of(self, text: str) -> Word:
        """A word parsed from a text that holds no unquoted blanks of meaning (a subscript)."""

    def parse_quoted(self, text: str) -> Word:
        """Parse a text with expansions, as inside double quotes."""

    def find_builtin(self, name: str) -> Builtin | None:
        """The builtin of that name."""

    async def run_reader(self, reader: Reader, last: bool = False) -> int:
        """Run a text unit by unit. Syntax errors and abandoned lines are dealt with here."""

    async def syntax_failed(self, error: ShellSyntaxError, label: str) -> int:
        """Report a syntax error and return the status."""

    async def run_unit(self, sequence: Sequence) -> None:
        """Run one complete command line; what it gives up ends here."""

    async def run_text(self, source: str, label: str, first_line: int = 1) -> int:
        """Run a text inside this shell: ``eval``, a trap."""

    async def deeper(self, work: Coroutine[Any, Any, int]) -> int:
        """Await nested execution, now and then on a fresh stack."""

    def fork(
        self,
        run: Runner,
        fds: dict[int, Stream] | None = None,
        *,
        substitution: bool = False,
        new_group: bool = False,
    ) -> Process:
        """Start a subshell: a child process with a copy of this shell. Raises ``ForkFailed``."""

    async def live(self, run: Runner) -> int:
        """Run to the end of this process, exit trap included; its exit status."""

    async def run_command(self, command: Command) -> int:
        """Run a command as the whole business of this subshell."""

    async def capture(self, body: Sequence) -> str:
        """``$(...)``: what a list of commands prints, without the newlines at its end."""

    async def capture_text(self, source: str, line: int) -> str:
        """The same for backquotes, whose text is parsed only now."""

    async def process_substitution(self, part: ProcessSubstitution) -> str:
        """``<(...)``: the path under which a running command's output can be read."""
