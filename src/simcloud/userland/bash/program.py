"""bash and sh as programs: their command line, start and end."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError, Files
from simcloud.machine.process import Context, KilledBySignal, Tty
from simcloud.sim import Cancelled
from simcloud.userland.bash import standalone as _standalone  # noqa: F401 - registers its commands
from simcloud.userland.bash.control import ExitShell
from simcloud.userland.bash.declarations import FUNCTION_PREFIX
from simcloud.userland.bash.interfaces import Shell
from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.scripts import Reader
from simcloud.userland.bash.shell import Shell as BashShell
from simcloud.userland.bash.special import BASH_VERSION
from simcloud.userland.bash.state import OPTION_LETTERS, OPTIONS, SHOPTS, Function, State
from simcloud.userland.bash.stdin import run_stdin
from simcloud.userland.bash.syntax import FunctionDefinition
from simcloud.userland.bash.variable import Variable, is_name
from simcloud.userland.bash.word_parts import ShellSyntaxError
from simcloud.userland.commands.registry import command

_BY_LETTER: Final = {letter: name for name, letter in OPTION_LETTERS.items()}
_VERSION_TEXT: Final = (
    f"GNU bash, version {BASH_VERSION} (x86_64-pc-linux-gnu)\n"
    "Copyright (C) 2022 Free Software Foundation, Inc.\n"
    "License GPLv3+: GNU GPL version 3 or later <http://gnu.org/licenses/gpl.html>\n\n"
    "This is free software; you are free to change and redistribute it.\n"
    "There is NO WARRANTY, to the extent permitted by law.\n"
)


_USAGE: Final = (
    "Usage:\tbash [GNU long option] [option] ...\n\tbash [GNU long option] [option] script-file ...\n"
    "GNU long options:\n"
    + "".join(
        f"\t--{name}\n"
        for name in (
            "debug", "debugger", "dump-po-strings", "dump-strings", "help", "init-file", "login", "noediting",
            "noprofile", "norc", "posix", "pretty-print", "rcfile", "restricted", "verbose", "version",
        )
    )
    + "Shell options:\n\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n"
    "\t-abefhkmnptuvxBCEHPT or -o option\n"
)  # fmt: skip


class _Mistake(Exception):
    """The command line is invalid."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class CommandLine:
    """The parsed command line of ``bash``."""

    def __init__(self, arguments: list[str]) -> None:
        self.name = arguments[0].rpartition("/")[2].removeprefix("-") or "bash"
        self.options: dict[str, bool] = {}
        self.shopts: dict[str, bool] = {}
        self.from_string = self.interactive = self.from_stdin = self.version = False
        self.login = arguments[0].startswith("-")
        words = arguments[1:]
        while words and len(words[0]) > 1 and words[0][0] in "-+":
            word = words.pop(0)
            if word == "--":
                break
            if word.startswith("--"):
                self._long(word, words)
            else:
                self._letters(word, words)
        if words[:1] == ["-"] and not self.from_string:
            words.pop(0)
        self.rest = words

    @property
    def reads_stdin(self) -> bool:
        """Whether commands come from standard input, not from a string or a script."""
        return not self.from_string and (self.from_stdin or not self.rest)

    def _long(self, word: str, words: list[str]) -> None:
        if word == "--login":
            self.login = True
        elif word == "--posix":
            self.options["posix"] = True
        elif word == "--version":
            self.version = True
        elif word in ("--rcfile", "--init-file"):
            del words[:1]
        elif word not in ("--norc", "--noprofile", "--noediting", "--restricted", "--verbose"):
            raise _Mistake(f"{self.name}: {word}: invalid option\n{_USAGE}", 2)

    def _letters(self, word: str, words: list[str]) -> None:
        on = word[0] == "-"
        for letter in word[1:]:
            if letter == "c":
                self.from_string = True
            elif letter == "i":
                self.interactive = True
            elif letter == "l":
                self.login = True
            elif letter == "s":
                self.from_stdin = True
            elif letter in "oO":
                known, store = (OPTIONS, self.options) if letter == "o" else (SHOPTS, self.shopts)
                name = words.pop(0) if words else ""
                if name not in known:
                    kind = "invalid option name" if letter == "o" else "invalid shell option name"
                    raise _Mistake(f"{self.name}: {name}: {kind}\n", 2)
                store[name] = on
            elif letter in _BY_LETTER:
                self.options[_BY_LETTER[letter]] = on
            elif letter not in "Dr":
                raise _Mistake(f"{self.name}: {word[0]}{letter}: invalid option\n{_USAGE}", 2)


@command("bash", "sh", "rbash")
async def bash(ctx: Context) -> int:
    """The shell."""
    try:
        line = CommandLine(ctx.args)
    except _Mistake as mistake:
        await ctx.err(str(mistake))
        return mistake.status
    if line.version:
        await ctx.out(_VERSION_TEXT)
        return 0
    if line.from_string and not line.rest:
        await ctx.err(f"{line.name}: -c: option requires an argument\n")
        return 2
    terminal = (ctx.stdin.isatty and ctx.stderr.isatty) or (
        isinstance(ctx.stdin, Tty) and ctx.stdin is ctx.stderr
    )
    if line.reads_stdin and terminal:
        line.interactive = True
    shell = _make_shell(ctx, line)
    try:
        status = await shell.live(lambda shell: _run(shell, line))
    except Cancelled as ending:
        signal = shell.traps.terminated_by
        if type(ending) is not Cancelled or signal is None:
            raise
        # A fatal signal came while an exit trap was set: run it, then die as one does.
        if ctx.process.main is not None:
            ctx.process.main.drop_children()
        shell.status = 128 + signal
        await shell.traps.run_exit()
        raise KilledBySignal(signal) from None
    return status


def _make_shell(ctx: Context, line: CommandLine) -> BashShell:
    state = State()
    mode = "c" if line.from_string else "stdin" if line.reads_stdin else "script"
    if line.interactive:
        mode = "interactive"
    base_name = ctx.args[0]
    if line.from_string:
        if len(line.rest) > 1:
            base_name = line.rest[1]
        state.arguments = line.rest[2:]
    elif mode == "script":
        base_name = line.rest[0]
        state.arguments = line.rest[1:]
    else:
        state.arguments = list(line.rest)
    state.name = base_name if line.from_string or mode == "script" else ctx.args[0]
    if line.from_string and len(line.rest) < 2:
        state.name = ctx.args[0]
    state.options.update(line.options)
    state.shopts.update(line.shopts)
    if line.login:
        state.shopts["login_shell"] = True
    if line.interactive:
        state.shopts["expand_aliases"] = True
    _import_environment(state, ctx)
    shell = BashShell(
        ctx, state, mode=mode, base_name=base_name, flavour="sh" if line.name == "sh" else "bash"
    )
    _import_functions(shell, ctx)
    return shell


def _set(state: State, name: str, value: str, exported: bool = False, readonly: bool = False) -> None:
    variable = state.scopes[0][name] = Variable(value)
    variable.exported, variable.readonly = exported, readonly


def _import_environment(state: State, ctx: Context) -> None:
    for name, value in ctx.env.items():
        if is_name(name):
            _set(state, name, value, exported=True)
    files = ctx.files
    pwd = ctx.env.get("PWD", "")
    if not (pwd.startswith("/") and _is_here(files, pwd)):
        pwd = files.cwd
    _set(state, "PWD", pwd, exported=True)
    level = ctx.env.get("SHLVL", "0")
    _set(state, "SHLVL", str(int(level) + 1 if level.isdigit() else 1), exported=True)
    parent = ctx.process.parent
    defaults = {
        "IFS": " \t\n",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PS4": "+ ",
        "OPTIND": "1",
        "OPTERR": "1",
        "HOSTNAME": ctx.container.hostname,
        "HOSTTYPE": "x86_64",
        "MACHTYPE": "x86_64-pc-linux-gnu",
        "OSTYPE": "linux-gnu",
        "TERM": "dumb",
        "BASH": "/usr/bin/bash",
        "BASH_VERSION": BASH_VERSION,
    }
    for name, value in defaults.items():
        if name in ("IFS", "OPTIND") or name not in state.scopes[0]:
            _set(state, name, value)
    if "OLDPWD" not in state.scopes[0]:
        state.scopes[0]["OLDPWD"] = Variable()
        state.scopes[0]["OLDPWD"].exported = True
    for name, value in (
        ("UID", str(files.uid)),
        ("EUID", str(files.uid)),
        ("PPID", str(parent.pid if parent is not None else 0)),
    ):
        _set(state, name, value, readonly=True)
        state.scopes[0][name].integer = True
    versions = state.scopes[0]["BASH_VERSINFO"] = Variable()
    versions.items = dict(enumerate(["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"]))
    versions.readonly = True


def _is_here(files: Files, path: str) -> bool:
    try:
        return files.is_dir(path) and files.realpath(path) == files.realpath(".")
    except FileError:
        return False


def _import_functions(shell: Shell, ctx: Context) -> None:
    """Functions that the parent shell exported."""
    for name, value in ctx.env.items():
        if name.startswith(FUNCTION_PREFIX) and name.endswith("%%") and value.startswith("() {"):
            plain = name[len(FUNCTION_PREFIX) : -2]
            try:
                unit = Parser(f"{plain} {value}").next_unit()
            except ShellSyntaxError:
                continue
            definition = unit.items[0][0] if unit is not None else None
            if isinstance(definition, FunctionDefinition):
                function = Function(plain, definition.body, "environment", 1, exported=True)
                shell.state.functions[plain] = function


async def _run(shell: Shell, line: CommandLine) -> int:
    if shell.state.shopts.get("login_shell"):
        await _run_profile(shell)
    if line.from_string:
        return await shell.run_reader(Reader(line.rest[0], shell.state, 1, "-c"), last=True)
    if shell.mode == "script":
        return await _run_script(shell, line.rest[0])
    return await run_stdin(shell)


async def _run_profile(shell: Shell) -> None:
    home = shell.state.get("HOME") or "/"
    for path in ("/etc/profile", f"{home}/.bash_profile", f"{home}/.profile"):
        if shell.ctx.files.is_file(path):
            await shell.run_text(f". {path}", "", 1)


async def _run_script(shell: Shell, path: str) -> int:
    files = shell.ctx.files
    found = path
    if "/" not in path and not files.exists(path):
        for folder in (shell.state.get("PATH") or "").split(":"):
            if folder and files.is_file(f"{folder}/{path}"):
                found = f"{folder}/{path}"
                break
    name = shell.ctx.args[0].rpartition("/")[2]
    try:
        if files.is_dir(found):
            await shell.err(f"{path}: {path}: Is a directory\n")
            raise ExitShell(126)
        from simcloud.userland.bash.builtins.flow import read_file

        data = await read_file(shell, found)
    except FileError as error:
        status = 127 if error.code == "ENOENT" else 126
        await shell.err(f"{name}: {path}: {error.strerror}\n")
        raise ExitShell(status) from None
    if b"\0" in data[:80].partition(b"\n")[0]:
        await shell.err(f"{path}: {path}: cannot execute binary file\n")
        raise ExitShell(126)
    text = data.decode("utf-8", "surrogateescape")
    return await shell.run_reader(Reader(text, shell.state, 1, ""))
