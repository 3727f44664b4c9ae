"""The settings of grep, parsed from its command line.

Patterns come from ``-e``, from files and from the first operand, one pattern per line.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, read_all
from simcloud.patterns import Flavour, is_utf8_locale
from simcloud.userland.bash.patterns import Pattern, compile_pattern
from simcloud.userland.commands.options import Options, UsageError, parse

TROUBLE = 2

_USAGE = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information."
_SHORT = "0123456789A:B:C:D:EFGHILPTUVabcd:e:f:hiLlm:noqRrsuvwxyZz"
_LONG = (
    "basic-regexp", "extended-regexp", "fixed-regexp", "fixed-strings", "perl-regexp",
    "after-context=", "before-context=", "binary-files=", "byte-offset", "context=", "color=?", "colour=?",
    "count", "devices=", "directories=", "exclude=", "exclude-from=", "exclude-dir=", "file=",
    "files-with-matches", "files-without-match", "group-separator=", "help", "include=", "ignore-case",
    "no-ignore-case", "initial-tab", "label=", "line-buffered", "line-number", "line-regexp", "max-count=",
    "no-filename", "no-group-separator", "no-messages", "null", "null-data", "only-matching", "quiet",
    "recursive", "dereference-recursive", "regexp=", "invert-match", "silent", "text", "binary",
    "unix-byte-offsets", "version", "with-filename", "word-regexp",
)  # fmt: skip
_LETTERS = {
    "basic-regexp": "G", "extended-regexp": "E", "fixed-regexp": "F", "fixed-strings": "F",
    "perl-regexp": "P", "after-context": "A", "before-context": "B", "byte-offset": "b", "context": "C",
    "colour": "color", "count": "c", "devices": "D", "directories": "d", "file": "f",
    "files-with-matches": "l", "files-without-match": "L", "ignore-case": "i", "y": "i", "initial-tab": "T",
    "line-number": "n", "line-regexp": "x", "max-count": "m", "no-filename": "h", "no-messages": "s",
    "null": "Z", "null-data": "z", "only-matching": "o", "quiet": "q", "recursive": "r",
    "dereference-recursive": "R", "regexp": "e", "invert-match": "v", "silent": "q", "text": "a",
    "unix-byte-offsets": "u", "version": "V", "with-filename": "H", "word-regexp": "w",
}  # fmt: skip
_FLAGS = {
    "i": "ignore_case", "w": "words", "x": "whole_lines", "v": "invert", "c": "count", "q": "quiet",
    "s": "silent", "o": "only", "n": "numbers", "b": "offsets", "Z": "null_names", "T": "tabs",
}  # fmt: skip
_FLAVOURS: dict[str, Flavour] = {"E": "extended", "F": "fixed", "G": "basic", "P": "perl"}
_COLORS = {"always": True, "yes": True, "force": True, "never": False, "no": False, "none": False}
_ACTIONS = ("read", "recurse", "skip")
MAX_CONTEXT = 1 << 31


class Settings(Struct):
    """The parsed options and patterns."""

    utf8: bool
    flavour: Flavour = "basic"
    patterns: list[bytes] = field(default_factory=list)
    ignore_case: bool = False
    words: bool = False
    whole_lines: bool = False
    invert: bool = False
    count: bool = False
    listing: Literal["", "l", "L"] = ""
    quiet: bool = False
    silent: bool = False
    only: bool = False
    numbers: bool = False
    offsets: bool = False
    names: bool | None = None
    null_names: bool = False
    tabs: bool = False
    color: bool = False
    label: str = "(standard input)"
    max_count: int | None = None
    before: int | None = None
    after: int | None = None
    separator: bytes | None = b"--"
    end: bytes = b"\n"
    binary: Literal["binary", "text", "without-match"] = "binary"
    directories: str = "read"
    follow_links: bool = False
    skip_devices: bool = False
    globs: list[tuple[bool, Pattern]] = field(default_factory=list)
    folder_globs: list[Pattern] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def shows_lines(self) -> bool:
        """Whether lines are printed at all."""
        return not (self.quiet or self.count or self.listing)

    @property
    def selects_nothing(self) -> bool:
        """Whether no line can be selected, so that nothing needs to be read."""
        all_rejected = self.patterns == [b""] and self.invert and not self.words and not self.whole_lines
        return (self.max_count == 0 or all_rejected) and self.listing != "L"


def read_options(args: list[str]) -> Options:
    """Split the command line; options are named by their letters where they have one."""
    try:
        options = parse(args, _SHORT, _LONG)
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{_USAGE}", TROUBLE) from None
    options.given = [(_LETTERS.get(name, name), value) for name, value in options.given]
    return options


async def read_settings(ctx: Context, program: str, options: Options) -> Settings:
    """Understand the options, in the order given, and collect the patterns."""
    reader = _Reader(ctx, program, Settings(utf8=is_utf8_locale(ctx.env)))
    return await reader.read(options)


class _Reader:
    def __init__(self, ctx: Context, program: str, settings: Settings) -> None:
        self.ctx = ctx
        self.program = program
        self.settings = settings
        self.keys: list[bytes] | None = None
        self.digits = ""
        self.flavour_letter = ""
        self.default_context: int | None = None

    async def read(self, options: Options) -> Settings:
        settings = self.settings
        for name, value in options.given:
            if name not in "0123456789":
                self.digits = ""
            await self.option(name, value)
        if settings.before is None:
            settings.before = self.default_context
        if settings.after is None:
            settings.after = self.default_context
        operands = list(options.operands)
        if self.keys is None:
            if not operands:
                raise UsageError(_USAGE, TROUBLE)
            self.add_patterns(operands.pop(0).encode("utf-8", "surrogateescape"))
        settings.patterns = self.keys or []
        settings.operands = operands
        if settings.flavour == "perl" and len(settings.patterns) > 1:
            raise self.mistake("the -P option only supports a single pattern")
        return settings

    def mistake(self, what: str) -> UsageError:
        return UsageError(f"{self.program}: {what}", TROUBLE)

    def add_patterns(self, text: bytes) -> None:
        self.keys = [*(self.keys or []), *text.split(b"\n")]

    async def option(self, name: str, value: str) -> None:
        if name in _FLAGS:
            setattr(self.settings, _FLAGS[name], True)
        elif name in _FLAVOURS:
            self.choose_flavour(name)
        elif name == "e":
            self.add_patterns(value.encode("utf-8", "surrogateescape"))
        elif name == "f":
            await self.pattern_file(value)
        elif not (self.context_option(name, value) or self.place_option(name, value)):
            self.other_option(name, value)

    def choose_flavour(self, letter: str) -> None:
        if self.flavour_letter not in ("", letter):
            raise self.mistake("conflicting matchers specified")
        self.flavour_letter = letter
        self.settings.flavour = _FLAVOURS[letter]

    async def pattern_file(self, path: str) -> None:
        try:
            stream = self.ctx.stdin if path == "-" else await self.ctx.open(path)
            data = await read_all(stream)
        except FileError as error:
            raise self.mistake(f"{path}: {error.strerror}") from None
        self.keys = self.keys or []
        if data:
            self.add_patterns(data.removesuffix(b"\n"))

    def context_option(self, name: str, value: str) -> bool:
        settings = self.settings
        match name:
            case "A":
                settings.after = self.length(value)
            case "B":
                settings.before = self.length(value)
            case "C":
                self.default_context = self.length(value)
            case "m":
                settings.max_count = self.max_count(value)
            case "group-separator":
                settings.separator = value.encode("utf-8", "surrogateescape")
            case "no-group-separator":
                settings.separator = None
            case _ if name in "0123456789":
                self.digits += name
                self.default_context = self.length(self.digits)
            case _:
                return False
        return True

    def length(self, value: str) -> int:
        if not value.isascii() or not value.isdigit():
            raise self.mistake(f"{value}: invalid context length argument")
        return int(value[:20]) if len(value) < 10 else MAX_CONTEXT

    def max_count(self, value: str) -> int | None:
        digits = value.removeprefix("-").removeprefix("+")
        if not digits.isascii() or not digits.isdigit():
            raise self.mistake("invalid max count")
        return None if value.startswith("-") and digits.strip("0") else int(digits[:20])

    def place_option(self, name: str, value: str) -> bool:
        """Options that say which files to search."""
        settings = self.settings
        match name:
            case "r" | "R":
                settings.directories = "recurse"
                settings.follow_links = name == "R"
            case "d":
                settings.directories = self.action(value)
            case "D":
                if value not in ("read", "skip"):
                    raise self.mistake("unknown devices method")
                settings.skip_devices = value == "skip"
            case "include" | "exclude":
                settings.globs.append((name == "include", compile_pattern(value)))
            case "exclude-from":
                self.glob_file(value)
            case "exclude-dir":
                settings.folder_globs.append(compile_pattern(value.rstrip("/") or value))
            case _:
                return False
        return True

    def action(self, value: str) -> str:
        if value not in _ACTIONS:
            choices = "".join(f"\n  - {self.quote(action)}" for action in _ACTIONS)
            what = f"invalid argument {self.quote(value)} for {self.quote('--directories')}"
            raise UsageError(f"{self.program}: {what}\nValid arguments are:{choices}\n{_USAGE}", 1)
        return value

    def quote(self, word: str) -> str:
        return f"‘{word}’" if self.settings.utf8 else f"'{word}'"

    def glob_file(self, path: str) -> None:
        try:
            text = self.ctx.files.read(path).decode("utf-8", "surrogateescape")
        except FileError as error:
            raise self.mistake(f"{path}: {error.strerror}") from None
        self.settings.globs.extend((False, compile_pattern(line)) for line in text.splitlines() if line)

    def other_option(self, name: str, value: str) -> None:
        settings = self.settings
        match name:
            case "no-ignore-case":
                settings.ignore_case = False
            case "l" | "L":
                settings.listing = "l" if name == "l" else "L"
            case "H" | "h":
                settings.names = name == "H"
            case "a":
                settings.binary = "text"
            case "I":
                settings.binary = "without-match"
            case "binary-files":
                self.binary_files(value)
            case "z":
                settings.end = b"\0"
            case "label":
                settings.label = value
            case "color":
                self.color(value or "auto")
            case "u":
                settings.warnings.append("--unix-byte-offsets (-u) is obsolete")

    def binary_files(self, value: str) -> None:
        match value:
            case "binary" | "text" | "without-match":
                self.settings.binary = value
            case _:
                raise self.mistake("unknown binary-files type")

    def color(self, when: str) -> None:
        if when in ("auto", "tty", "if-tty"):
            self.settings.color = self.ctx.stdout.isatty
        elif when in _COLORS:
            self.settings.color = _COLORS[when]
        else:
            raise UsageError(_USAGE, TROUBLE)
