"""What only an interactive shell has: its prompts, its history, and its answer to Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.process import Budget, LimitExceeded, Process, Prompt, Signal, Tty
from simcloud.sim import Cancelled
from simcloud.userland.bash.special import BASH_VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from simcloud.userland.bash.interfaces import Shell

DEBIAN_PROMPT: Final = r"\u@\h:\w\$ "
PLAIN_PROMPT: Final = r"\s-\v\$ "
SHELL_PROMPT: Final = r"\$ "
INTERRUPTED: Final = 130
OVER_LIMIT: Final = 125


async def begin(shell: Shell) -> None:
    """Prepare an interactive shell: job control, prompts, the person's own settings."""
    state = shell.state
    state.options |= {"monitor": True, "history": True, "histexpand": True}
    files = shell.ctx.files
    prompt = DEBIAN_PROMPT if files.exists("/etc/debian_version") else PLAIN_PROMPT
    if shell.flavour == "sh":
        prompt = SHELL_PROMPT
    for name, value in (("PS1", prompt), ("PS2", "> ")):
        if state.get(name) is None:
            state.assign(name, value)
    stdin = shell.ctx.stdin
    if isinstance(stdin, Tty) and stdin.isatty:
        for name, number in zip(("COLUMNS", "LINES"), stdin.size, strict=True):
            state.assign(name, str(number))
    for signal in (Signal.TERM, Signal.QUIT):
        shell.ctx.signals.on(signal, _do_nothing)  # unlike "ignore", children do not inherit it
    shell.ctx.signals.on(Signal.INT, lambda _: _interrupt(shell.ctx.process))
    settings = f"{state.get('HOME') or '/'}/.bashrc"
    if shell.flavour == "bash" and not state.shopts.get("login_shell") and files.is_file(settings):
        await shell.run_text(f". {settings}", "", 1)
    lines = f"{state.get('HOME') or '/'}/.bash_history"
    if shell.flavour == "bash" and files.is_file(lines):
        state.history += files.read(lines).decode(errors="replace").splitlines()


def _do_nothing(_signal: Signal) -> None:
    """Handle a signal that does not end an interactive shell."""


def _interrupt(process: Process) -> None:
    if process.main is not None:
        process.main.drop_children()
        process.main.cancel()


async def show_prompt(shell: Shell, *, continued: bool) -> None:
    """Report ended jobs and show the prompt for a command or for its next line."""
    if not continued:
        await shell.jobs.report_ended()
        shell.ctx.process.budget = Budget(shell.ctx.container.limits, shell.ctx.kernel.now)
    text = expand_prompt(shell, shell.state.get("PS2" if continued else "PS1") or "")
    if "$" in text or "`" in text:
        text = await shell.expander.string(shell.parse_quoted(text))
    stdin = shell.ctx.stdin
    if isinstance(stdin, Tty):
        stdin.show_prompt(Prompt(text, shell.ctx.process.pid, None if continued else shell.status))
    elif stdin.isatty:
        await shell.err(text)


def expand_prompt(shell: Shell, text: str) -> str:
    """Replace the backslash escapes of a prompt."""
    pieces: list[str] = []
    characters = iter(text)
    for character in characters:
        pieces.append(_expand_escape(shell, next(characters, "")) if character == "\\" else character)
    return "".join(pieces)


def _expand_escape(shell: Shell, letter: str) -> str:
    files = shell.ctx.files
    host = shell.ctx.container.hostname
    if letter in "wW":
        home, folder = shell.state.get("HOME") or "", shell.state.get("PWD") or files.cwd
        if home and (folder == home or folder.startswith(f"{home}/")):
            folder = f"~{folder[len(home) :]}"
        return folder if letter == "w" else folder.rpartition("/")[2] or folder
    known = {
        "u": "root" if files.uid == 0 else shell.state.get("USER") or "I have no name!",
        "h": host.partition(".")[0],
        "H": host,
        "$": "#" if files.uid == 0 else "$",
        "s": shell.base_name.rpartition("/")[2].removeprefix("-"),
        "v": ".".join(BASH_VERSION.split(".")[:2]),
        "j": str(len(shell.jobs.table)),
        "!": str(len(shell.state.history) + 1),
        "n": "\n",
        "e": "\x1b",
        "[": "",
        "]": "",
    }
    return known.get(letter, f"\\{letter}" if letter != "\\" else "\\")


def remember(shell: Shell, text: str) -> None:
    """Add a command to the history."""
    if shell.mode == "interactive" and text.strip() and shell.state.options.get("history"):
        shell.state.history.append(text.rstrip("\n"))


async def run_line(shell: Shell, work: Awaitable[bool]) -> bool:
    """Run a typed line; Ctrl-C and the limits of one line end it, and not the shell."""
    if isinstance(shell.ctx.stdin, Tty):
        shell.ctx.stdin.prompt = None
    try:
        return await work
    except LimitExceeded as error:
        await shell.complain(str(error))
        shell.status = OVER_LIMIT
    except Cancelled as ending:
        if type(ending) is not Cancelled or not take_interrupt(shell):
            raise
    return True


def take_interrupt(shell: Shell) -> bool:
    """Return to the prompt after Ctrl-C; False if it was something else that ended the shell."""
    if shell.mode != "interactive" or shell.traps.terminated_by is not None:
        return False
    shell.status = INTERRUPTED
    state = shell.state
    state.frames.clear()
    del state.scopes[1:]
    shell.loops = shell.tolerant = shell.depth = 0
    return True
