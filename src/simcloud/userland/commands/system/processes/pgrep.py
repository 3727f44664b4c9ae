"""Commands that find processes by their properties: pgrep, pkill, pidof and killall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, LimitExceeded, Process, Signal
from simcloud.patterns import Regex, RegexError, TooMuchWorkError, compile_patterns, is_utf8_locale
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.durations import parse_seconds
from simcloud.userland.commands.system.processes.facts import Facts
from simcloud.userland.commands.system.processes.kill import send_from, signal_lines
from simcloud.userland.commands.text.tool import tool

SHORT: Final = "ad:cefg:G:ilnoO:P:q:r:s:t:u:U:vwxF:LA"
LONG: Final = ("list-full", "delimiter=", "count", "echo", "full", "pgroup=", "group=", "ignore-case", "list-name",
               "newest", "oldest", "older=", "parent=", "queue=", "runstates=", "session=", "terminal=", "euid=", "uid=",
               "inverse", "lightweight", "exact", "pidfile=", "logpidfile", "ignore-ancestors", "signal=", "help",
               "version")  # fmt: skip
LETTERS: Final = {"list-full": "a", "delimiter": "d", "count": "c", "echo": "e", "full": "f", "pgroup": "g", "group": "G",
                  "ignore-case": "i", "list-name": "l", "newest": "n", "oldest": "o", "older": "O", "parent": "P",
                  "runstates": "r", "session": "s", "terminal": "t", "euid": "u", "uid": "U", "inverse": "v",
                  "exact": "x", "pidfile": "F", "ignore-ancestors": "A"}  # fmt: skip
CRITERIA: Final = "gGOPrstuUF"
NAME_LENGTH: Final = 15
SYNTAX: Final = 2


def _options(ctx: Context, args: list[str]) -> Options:
    name = ctx.args[0]
    try:
        options = parse(args, SHORT, LONG)
    except UsageError as mistake:
        first = str(mistake).partition("\n")[0]
        text = f"{first}\n\nUsage:\n {name} [options] <pattern>\n\nFor more details see pgrep(1)."
        raise UsageError(text, SYNTAX) from None
    options.given = [(LETTERS.get(option, option), value) for option, value in options.given]
    if len(options.operands) > 1:
        raise _misuse(name, "only one pattern can be provided")
    if not options.operands and not options.any(*CRITERIA):
        raise _misuse(name, "no matching criteria specified")
    return options


def _misuse(name: str, what: str) -> UsageError:
    return UsageError(f"{name}: {what}\nTry `{name} --help' for more information.", SYNTAX)


class _Matcher:
    """The criteria of pgrep and pkill."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options
        self.facts = Facts(ctx)
        self._regex = self._compile(options.operands[0]) if options.operands else None

    def _compile(self, pattern: str) -> Regex:
        options = self._options
        if len(pattern) > NAME_LENGTH and not options.any("f") and pattern.isalnum():
            name = self._ctx.args[0]
            raise UsageError(
                f"{name}: pattern that searches for process name longer than 15 characters will result in zero matches\n"
                f"Try `{name} -f' option to match against the complete command line.",
                1,
            )
        try:
            return compile_patterns(
                (pattern.encode("utf-8", "surrogateescape"),), "extended", ignore_case=options.any("i"),
                whole_line=options.any("x"), utf8=is_utf8_locale(self._ctx.env), dialect="sed",
            )  # fmt: skip
        except RegexError as error:
            raise UsageError(f"{self._ctx.args[0]}: regex error: {error}", SYNTAX) from None

    def find_matches(self) -> list[Process]:
        """The processes that match, never the one that asks."""
        tests = [self._test(option, value) for option, value in self._options.given if option in CRITERIA]
        found = []
        for process in self.facts.processes:
            self._ctx.spend_turn()
            matches = self._has_name(process) and all(test(process) for test in tests)
            if process is not self._ctx.process and matches is not self._options.any("v"):
                found.append(process)
        if self._options.any("n"):
            return found[-1:]
        return found[:1] if self._options.any("o") else found

    def _has_name(self, process: Process) -> bool:
        if self._regex is None:
            return True
        text = self.facts.command_line(process) if self._options.any("f") else process.name
        try:
            return self._regex.search(text.encode("utf-8", "surrogateescape")) is not None
        except TooMuchWorkError:
            raise LimitExceeded("limit exceeded: the regular expression takes too many steps") from None

    def _test(self, option: str, text: str) -> Callable[[Process], bool]:
        facts, words = self.facts, text.split(",")
        if option in ("u", "U"):
            users = [self._user(word) for word in words]
            return lambda process: process.uid in users
        if option == "G":
            return lambda process: facts.group_name(process) in words or str(process.files.gid) in words
        if option == "O":
            seconds = parse_seconds(text) or 0.0
            return lambda process: facts.age_s(process) > seconds
        if option == "F":
            return self._in_pidfile(text)
        if option == "r":
            return lambda process: facts.state(process) in text
        if option == "t":
            return lambda process: facts.terminal(process) in words
        numbers = [self._number(word) for word in words]
        number_of = {"g": facts.group, "P": facts.parent_pid, "s": facts.session}[option]
        return lambda process: number_of(process) in numbers

    def _user(self, word: str) -> int:
        number = self.facts.user_number(word)
        if number is None:
            raise UsageError(f"{self._ctx.args[0]}: invalid user name: {word}", SYNTAX)
        return number

    def _number(self, word: str) -> int:
        if not (word.isdecimal() and word.isascii()):
            raise UsageError(f"{self._ctx.args[0]}: not a number: {word}", SYNTAX)
        return int(word[:18])

    def _in_pidfile(self, path: str) -> Callable[[Process], bool]:
        try:
            words = self._ctx.files.read(path).decode("utf-8", "replace").split()
        except FileError:
            words = []
        if not words or not words[0].isdecimal():
            raise _misuse(self._ctx.args[0], "pidfile not valid")
        return lambda process: str(self.facts.pid(process)) == words[0]


@command("pgrep")
async def pgrep(ctx: Context) -> int:
    """Print the numbers of processes by name and other marks."""
    options = _options(ctx, ctx.args)
    matcher = _Matcher(ctx, options)
    found = matcher.find_matches()
    if options.any("c"):
        await ctx.out(f"{len(found)}\n")
        return 0 if found else 1
    texts = []
    for process in found:
        text = str(matcher.facts.pid(process))
        if options.any("a"):
            text += f" {matcher.facts.command_line(process)}"
        elif options.any("l"):
            text += f" {process.name}"
        texts.append(text)
    if texts:
        await ctx.out(options.last("d", default="\n").join(texts) + "\n")
    return 0 if found else 1


@command("pkill")
async def pkill(ctx: Context) -> int:
    """Send a signal to processes by name and other marks."""
    args, signal = [ctx.args[0]], Signal.TERM
    for word in ctx.args[1:]:
        named = Signal.parse(word[1:]) if word[:1] == "-" and word[1:2] != "-" else None
        if named is not None and (word[1:].isdecimal() or len(word) > 2):
            signal = named
        else:
            args.append(word)
    options = _options(ctx, args)
    if options.any("signal"):
        given = Signal.parse(options.last("signal"))
        if given is None:
            raise _misuse(ctx.args[0], f'Unknown signal "{options.last("signal")}".')
        signal = given
    matcher = _Matcher(ctx, options)
    found = matcher.find_matches()
    for process in found:
        if options.any("e"):
            await ctx.out(f"{process.name} killed (pid {matcher.facts.pid(process)})\n")
        send_from(ctx, process, signal)
    if options.any("c"):
        await ctx.out(f"{len(found)}\n")
    return 0 if found else 1


@tool("pidof", options="c n o= q s x z S=", usage="[options] program [program...]", version="", try_help="")
async def pidof(ctx: Context, options: Options) -> int:
    """Print the numbers of processes by exact name."""
    facts = Facts(ctx)
    omitted = ",".join(options.all("o")).split(",")
    names = [word.rpartition("/")[2] for word in options.operands]
    found = [str(facts.pid(p)) for p in facts.processes if p.name in names and p is not ctx.process]
    found = [number for number in found if number not in omitted][::-1]
    if found and not options.any("q"):
        await ctx.out((options.last("S") or " ").join(found[:1] if options.any("s") else found) + "\n")
    return 0 if found else 1


@command("killall")
async def killall(ctx: Context) -> int:
    """Send a signal to processes by exact name."""
    words, signal_name, flags = [], "TERM", ""
    rest = iter(ctx.args[1:])
    for word in rest:
        if word in ("-l", "--list"):
            await ctx.out(signal_lines())
            return 0
        if word in ("-s", "--signal"):
            signal_name = next(rest, "")
        elif word.startswith("-") and len(word) > 1:
            if len(word) == 2 and word[1] in "eIgiqvw":
                flags += word[1]
            else:
                signal_name = word[1:]
        else:
            words.append(word)
    if not words:
        raise UsageError(
            "Usage: killall [OPTION]... [--] NAME...\n       killall -l, --list\n       killall -V, --version"
        )
    signal = Signal.parse(signal_name)
    if signal is None and signal_name != "0":
        raise UsageError(f"{signal_name}: unknown signal; killall -l lists signals.")
    status = 0
    for name in words:
        found = [
            p for p in ctx.container.visible().values() if _is_named(p, name, flags) and p is not ctx.process
        ]
        for process in found:
            if signal is not None:
                send_from(ctx, process, signal)
            if "v" in flags:
                pid = ctx.container.pid_seen(process)
                await ctx.err(f"Killed {process.name}({pid}) with signal {int(signal or 0)}\n")
        if not found:
            status = 1
            if "q" not in flags:
                await ctx.err(f"{name}: no process found\n")
    return status


def _is_named(process: Process, name: str, flags: str) -> bool:
    name = name.rpartition("/")[2][:NAME_LENGTH]
    return process.name.lower() == name.lower() if "I" in flags else process.name == name
