"""The parser for sed scripts. Errors have the messages of GNU sed, with their position."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.patterns import Regex, RegexError, compile_regex
from simcloud.userland.commands.sed.delimited import parse_replacement, parse_translation, read_delimited
from simcloud.userland.commands.sed.escapes import resolve_in_regex, resolve_in_text
from simcloud.userland.commands.sed.reader import Chunk, Reader, ScriptError
from simcloud.userland.commands.sed.script import Address, Command, Kind, Script, Substitution

MAX_COMMANDS = 10_000

_VERSION = (4, 9)
_DIGITS = "0123456789"
_FILE_COMMANDS = "rRwW"


def parse_script(chunks: list[Chunk], *, extended: bool, utf8: bool, sandbox: bool = False) -> Script:
    """Parse the chunks of a script as one."""
    return _Parser(chunks, extended, utf8, sandbox).parse()


class _Parser:
    def __init__(self, chunks: list[Chunk], extended: bool, utf8: bool, sandbox: bool) -> None:
        self.reader = Reader(chunks)
        self.extended = extended
        self.utf8 = utf8
        self.sandbox = sandbox
        self.script = Script()
        self.blocks: list[tuple[int, str]] = []
        self.labels: dict[str, int] = {}
        self.arguments: dict[str, Callable[[Command], None]] = {
            "{": self.open_block, "}": self.close_block, ":": self.label, "#": self.comment,
            "s": self.substitution, "y": self.translation, "v": self.version, "e": self.refuse,
            **dict.fromkeys("aic", self.text), **dict.fromkeys(_FILE_COMMANDS, self.path),
            **dict.fromkeys("btT", self.jump), **dict.fromkeys("lqQ", self.count),
            **dict.fromkeys("=dDFgGhHnNpPxz", self.nothing),
        }  # fmt: skip

    def parse(self) -> Script:
        if self.reader.get() == "#" and self.reader.get() == "n" and self.reader.get() in ("", "\n"):
            self.script.quiet = True
        else:
            self.reader = Reader(self.reader.chunks)
        while True:
            self.chunk()
            if not self.reader.next_chunk():
                break
        if self.blocks:
            raise ScriptError(f"{self.blocks[-1][1]}: unmatched `{{'")
        self.resolve_labels()
        self.script.place = self.reader.place(whole=True)
        return self.script

    def chunk(self) -> None:
        reader = self.reader
        while True:
            char = reader.get()
            while char and char in " \t\n;":
                char = reader.get()
            if not char:
                return
            reader.back(char)
            self.command()

    def command(self) -> None:
        reader = self.reader
        command = Command("")
        self.addresses(command)
        char = reader.get_nonblank()
        if char == "!":
            command.negated = True
            char = reader.get_nonblank()
            if char == "!":
                raise reader.mistake("multiple `!'s")
        if not char:
            raise reader.mistake("missing command")
        if char not in self.arguments:
            raise reader.mistake(f"unknown command: `{char}'")
        command.name = char
        if len(self.script.commands) >= MAX_COMMANDS:
            raise reader.mistake("too many commands")
        self.arguments[char](command)

    def add(self, command: Command) -> None:
        self.script.commands.append(command)

    # -- addresses ------------------------------------------------------------------------------

    def addresses(self, command: Command) -> None:
        reader = self.reader
        first = self.address()
        if first is None:
            return
        if first.kind in (Kind.PLUS, Kind.MULTIPLE):
            raise reader.mistake("invalid usage of +N or ~N as first address")
        command.first = first
        char = reader.get_nonblank()
        if char == ",":
            command.second = self.address()
            if command.second is None:
                reader.get_nonblank()
                raise reader.mistake("unexpected `,'")
        else:
            reader.back(char)
        second = command.second
        if first == Address(Kind.LINE, 0):
            if second is None or second.kind is not Kind.REGEX:
                reader.get_nonblank()
                raise reader.mistake("invalid usage of line address 0")
            command.reset()

    def address(self) -> Address | None:
        reader = self.reader
        char = reader.get_nonblank()
        if char in ("/", "\\"):
            return self.regex_address(reader.get() if char == "\\" else char)
        if char == "$":
            return Address(Kind.LAST)
        if char and char in _DIGITS:
            number = reader.number(char)
            following = reader.get_nonblank()
            if following != "~":
                reader.back(following)
                return Address(Kind.LINE, number)
            step = self.optional_number()
            return Address(Kind.STEP, number, step) if step else Address(Kind.LINE, number)
        if char in ("+", "~"):
            number = self.optional_number()
            return Address(Kind.PLUS if char == "+" else Kind.MULTIPLE, number)
        reader.back(char)
        return None

    def optional_number(self) -> int:
        char = self.reader.get_nonblank()
        if char and char in _DIGITS:
            return self.reader.number(char)
        self.reader.back(char)
        return 0

    def regex_address(self, delimiter: str) -> Address:
        reader = self.reader
        pattern = read_delimited(reader, delimiter, regex=True) if delimiter not in ("", "\n") else None
        if pattern is None:
            raise reader.mistake("unterminated address regex")
        flags = ""
        while (char := reader.get_nonblank()) in ("I", "M"):
            flags += char
        reader.back(char)
        return Address(Kind.REGEX, regex=self.regex(pattern, flags))

    def regex(self, pattern: str, flags: str) -> Regex | None:
        """A compiled pattern; None for the empty one."""
        if not pattern:
            if flags:
                raise self.reader.mistake("cannot specify modifiers on empty regexp")
            return None
        try:
            return compile_regex(
                resolve_in_regex(pattern).encode("latin-1"),
                "extended" if self.extended else "basic",
                ignore_case="I" in flags,
                multiline="M" in flags,
                utf8=self.utf8,
                dialect="sed",
            )
        except RegexError as mistake:
            if mistake.fatal:
                raise ScriptError(str(mistake), 4) from None
            raise self.reader.mistake(str(mistake)) from None

    # -- commands -------------------------------------------------------------------------------

    def end(self) -> None:
        """Expect the end of the command."""
        char = self.reader.get_nonblank()
        if char in ("}", "#"):
            self.reader.back(char)
        elif char not in ("", "\n", ";"):
            raise self.reader.mistake("extra characters after command")

    def nothing(self, command: Command) -> None:
        self.end()
        self.add(command)

    def comment(self, command: Command) -> None:
        if command.first is not None:
            raise self.reader.mistake("comments don't accept any addresses")
        while self.reader.get() not in ("", "\n"):
            pass

    def open_block(self, command: Command) -> None:
        self.blocks.append((len(self.script.commands), self.reader.place(whole=True)))
        self.add(command)

    def close_block(self, command: Command) -> None:
        if not self.blocks:
            raise self.reader.mistake("unexpected `}'")
        if command.first is not None:
            raise self.reader.mistake("`}' doesn't want any addresses")
        self.end()
        opened, _ = self.blocks.pop()
        self.script.commands[opened].target = len(self.script.commands)

    def label(self, command: Command) -> None:
        if command.first is not None:
            raise self.reader.mistake(": doesn't want any addresses")
        name = self.name()
        if not name:
            raise self.reader.mistake('":" lacks a label')
        self.labels[name] = len(self.script.commands)

    def jump(self, command: Command) -> None:
        command.label = self.name()
        self.add(command)

    def name(self) -> str:
        """A label, up to a blank, a semicolon or a closing brace."""
        name = ""
        char = self.reader.get_nonblank()
        while char and char not in " \t\n\r\v\f;}":
            name += char
            char = self.reader.get()
        self.reader.back(char)
        return name

    def resolve_labels(self) -> None:
        for command in self.script.commands:
            if command.name in ("b", "t", "T"):
                if command.label and command.label not in self.labels:
                    raise ScriptError(f"can't find label for jump to `{command.label}'", 4)
                end = len(self.script.commands)
                command.target = self.labels[command.label] if command.label else end

    def count(self, command: Command) -> None:
        if command.name in "qQ" and command.second is not None:
            raise self.reader.mistake("command only uses one address")
        char = self.reader.get_nonblank()
        if char and char in _DIGITS:
            command.number = self.reader.number(char)
        else:
            self.reader.back(char)
        self.nothing(command)

    def version(self, command: Command) -> None:
        wanted = self.name()
        numbers = wanted.split(".")
        if wanted and all(number.isdigit() for number in numbers) and [*map(int, numbers)] > [*_VERSION]:
            raise self.reader.mistake("expected newer version of sed")

    def refuse(self, command: Command) -> None:
        if self.sandbox:
            raise self.reader.mistake("e/r/w commands disabled in sandbox mode")
        raise self.reader.mistake("running commands from sed is not supported")

    def path(self, command: Command) -> None:
        if self.sandbox:
            raise self.reader.mistake("e/r/w commands disabled in sandbox mode")
        command.path = self.file_name()
        self.add(command)

    def file_name(self) -> str:
        name = ""
        char = self.reader.get_nonblank()
        while char not in ("", "\n"):
            name += char
            char = self.reader.get()
        if not name:
            raise self.reader.mistake("missing filename in r/R/w/W commands")
        return name.encode("latin-1").decode("utf-8", "surrogateescape")

    def text(self, command: Command) -> None:
        r"""``a text``, or ``a\`` with the text on the next line. An escaped newline continues it."""
        reader = self.reader
        char = reader.get_nonblank()
        if not char:
            raise reader.mistake("expected \\ after `a', `c' or `i'")
        literal_first = False
        if char == "\\":
            char = reader.get()
            if char in ("", "\n"):
                char = reader.get() if char or reader.next_chunk() else ""
            else:
                literal_first = char != "\\"
        text = ""
        while char not in ("", "\n"):
            if char == "\\" and not literal_first:
                following = reader.get()
                if not following:
                    following = "\n" if reader.next_chunk() else ""
                char += following
            literal_first = False
            text += char
            char = reader.get()
        command.text = (resolve_in_text(text) + "\n").encode("latin-1") if text else b""
        self.add(command)

    def translation(self, command: Command) -> None:
        reader = self.reader
        delimiter = self.delimiter("y")
        source = read_delimited(reader, delimiter, regex=False)
        target = read_delimited(reader, delimiter, regex=False) if source is not None else None
        if source is None or target is None:
            raise reader.mistake("unterminated `y' command")
        table = parse_translation(source, target, utf8=self.utf8)
        if table is None:
            raise reader.mistake("strings for `y' command are different lengths")
        command.translation = table
        self.nothing(command)

    def delimiter(self, name: str) -> str:
        char = self.reader.get()
        if char in ("", "\n", "\\"):
            raise self.reader.mistake(f"unterminated `{name}' command")
        if self.utf8 and ord(char) >= 0x80:
            raise self.reader.mistake("delimiter character is not a single-byte character")
        return char

    def substitution(self, command: Command) -> None:
        reader = self.reader
        delimiter = self.delimiter("s")
        pattern = read_delimited(reader, delimiter, regex=True)
        replacement = read_delimited(reader, delimiter, regex=False) if pattern is not None else None
        if pattern is None or replacement is None:
            raise reader.mistake("unterminated `s' command")
        flags = _Flags()
        self.flags(flags)
        regex = self.regex(pattern, flags.regex)
        parts = parse_replacement(replacement)
        command.substitution = Substitution(
            regex, parts, flags.everywhere, flags.show, flags.number or 1, flags.path
        )
        highest = command.substitution.groups
        if regex is not None and highest > regex.groups:
            raise reader.mistake(f"invalid reference \\{highest} on `s' command's RHS")
        self.add(command)

    def flags(self, flags: _Flags) -> None:
        reader = self.reader
        while (char := reader.get()) not in ("", "\n", ";"):
            if char in "}#":
                reader.back(char)
                return
            if char in "iI":
                flags.regex += "I"
            elif char in "mM":
                flags.regex += "M"
            elif char == "p":
                if flags.show:
                    raise reader.mistake("multiple `p' options to `s' command")
                flags.show = 1
            elif char == "g":
                if flags.everywhere:
                    raise reader.mistake("multiple `g' options to `s' command")
                flags.everywhere = True
            elif char in _DIGITS:
                self.which(flags, char)
            elif char == "w":
                if self.sandbox:
                    raise reader.mistake("e/r/w commands disabled in sandbox mode")
                flags.path = self.file_name()
                return
            elif char == "e":
                self.refuse(Command("e"))
            elif char not in " \t":
                raise reader.mistake("unknown option to `s'")

    def which(self, flags: _Flags, digit: str) -> None:
        if flags.number:
            raise self.reader.mistake("multiple number options to `s' command")
        flags.number = self.reader.number(digit)
        if not flags.number:
            raise self.reader.mistake("number option to `s' command may not be zero")


class _Flags:
    """The flags of an ``s`` command."""

    def __init__(self) -> None:
        self.regex = ""
        self.everywhere = False
        self.show = 0
        self.number = 0
        self.path = ""
