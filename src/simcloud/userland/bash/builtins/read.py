"""read and mapfile: read lines into variables, without consuming more of the stream than needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, FileStream, Stream
from simcloud.sim import TimedOut
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.expansion import DEFAULT_IFS
from simcloud.userland.bash.streams import HereText, safe_size
from simcloud.userland.bash.variable import Readonly, Variable, VariableError, is_name

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

TIMED_OUT: Final = 142
BYTEWISE_COST: Final = 16
MAX_INT: Final = 2**31 - 1
NUMBERS: Final = (
    ("n", 0, "line count"),
    ("O", 0, "array origin"),
    ("s", 0, "line count"),
    ("u", 0, "file descriptor specification"),
    ("c", 5000, "callback quantum"),
)
"""Options of mapfile that are numbers, what they are by default, and how a wrong one is called."""


async def read_line(shell: Shell, stream: Stream, delimiter: bytes = b"\n") -> tuple[str, bool]:
    """Text up to a delimiter (taken but not given), and whether the stream ended first."""
    data, ended = await read_bytes(shell, stream, delimiter)
    return data.replace(b"\0", b"").decode("utf-8", "surrogateescape"), ended


async def read_bytes(shell: Shell, stream: Stream, delimiter: bytes) -> tuple[bytes, bool]:
    """As ``read_line``, in bytes. What lies behind the delimiter is left to the next reader."""
    if isinstance(stream, HereText):
        data, ended = stream.take_until(delimiter)
        shell.ctx.spend_bytes(len(data))
        return data, ended
    pieces: list[bytes] = []
    while True:
        size = safe_size(stream, delimiter)
        data = await stream.read(size)
        if not data:
            return b"".join(pieces), True
        # Reading byte by byte is dear, and is charged for.
        shell.ctx.spend_bytes(len(data) if size > 1 else BYTEWISE_COST)
        found = data.find(delimiter)
        if found < 0:
            pieces.append(data)
            continue
        pieces.append(data[:found])
        if isinstance(stream, FileStream) and stream.file.kind == "file":
            stream.file.seek(found + 1 - len(data), 1)
        return b"".join(pieces), False


class _Input:
    """The text that ``read`` consumed, and which characters a backslash protects."""

    def __init__(self) -> None:
        self.characters: list[str] = []
        self.protected: dict[int, None] = {}

    def add(self, text: str) -> None:
        self.characters.extend(text)

    def protect(self, character: str) -> None:
        self.protected[len(self.characters)] = None
        self.characters.append(character)

    @property
    def text(self) -> str:
        return "".join(self.characters)


class _Splitter:
    """Splits an input into fields at IFS, one by one."""

    def __init__(self, given: _Input, ifs: str) -> None:
        self.text = given.text
        self.protected = given.protected
        self.blanks = "".join(character for character in ifs if character in DEFAULT_IFS)
        self.ifs = ifs
        self.position = 0
        self._skip_blanks()

    @property
    def done(self) -> bool:
        return self.position >= len(self.text)

    def _at(self, characters: str) -> bool:
        return (
            not self.done and self.text[self.position] in characters and self.position not in self.protected
        )

    def _skip_blanks(self) -> None:
        while self._at(self.blanks):
            self.position += 1

    def next(self) -> str:
        start = self.position
        while not self.done and not self._at(self.ifs):
            self.position += 1
        field = self.text[start : self.position]
        self._skip_blanks()
        if self._at(self.ifs):
            self.position += 1
            self._skip_blanks()
        return field

    def rest(self) -> str:
        """All that is left, for the last variable."""
        start = self.position
        field = self.next()
        if self.done:
            return field
        end = len(self.text)
        while end > start and self.text[end - 1] in self.blanks and end - 1 not in self.protected:
            end -= 1
        self.position = len(self.text)
        return self.text[start:end]


@builtin("read")
async def read(shell: Shell, argv: list[str]) -> int:
    """Read a line into variables."""
    try:
        options = Options(argv, "ersa:d:i:n:N:p:t:u:")
    except BadOption as mistake:
        return await usage(shell, "read", str(mistake))
    names = options.rest
    for name in [*names, *([options.given["a"]] if "a" in options else [])]:
        if not is_name(name.partition("[")[0]):
            await shell.complain(f"read: `{name}': not a valid identifier")
            return 1
    number = options.given.get("u", "0")
    if not number.isdigit():
        await shell.complain(f"read: {number}: invalid file descriptor specification")
        return 1
    stream = shell.ctx.process.streams.get(int(number))
    if stream is None:
        await shell.complain(f"read: {number}: invalid file descriptor: Bad file descriptor")
        return 1
    timeout_s = await _timeout(shell, options.given.get("t"))
    if timeout_s is not None and timeout_s < 0:
        return 1
    count = options.given.get("N", options.given.get("n"))
    if count is not None and not (count.isdigit() and int(count) <= MAX_INT):
        await shell.complain(f"read: {count}: invalid number")
        return 1
    if "p" in options and stream.isatty:
        await shell.err(options.given["p"])
    given = _Input()
    status = await _fill(shell, stream, given, options, timeout_s)
    _store(shell, given, options, names)
    return status


async def _timeout(shell: Shell, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
        if 0 <= seconds <= MAX_INT:
            return seconds
    except ValueError:
        pass
    await shell.complain(f"read: {text}: invalid timeout specification")
    return -1.0


async def _fill(
    shell: Shell, stream: Stream, given: _Input, options: Options, timeout_s: float | None
) -> int:
    try:
        if timeout_s is None:
            ended = await _take(shell, stream, given, options)
        else:
            with shell.ctx.kernel.timeout(timeout_s):
                ended = await _take(shell, stream, given, options)
    except TimedOut:
        return TIMED_OUT
    except (BadDescriptor, FileError) as error:
        number = options.given.get("u", "0")
        await shell.complain(f"read: read error: {number}: {error}")
        return 1
    return int(ended)


async def _take(shell: Shell, stream: Stream, given: _Input, options: Options) -> bool:
    raw = "r" in options
    delimiter = options.given.get("d", "\n").encode("utf-8", "surrogateescape")[:1] or b"\0"
    if "N" in options or "n" in options:
        return await _take_characters(shell, stream, given, options, delimiter)
    while True:
        line, ended = await read_line(shell, stream, delimiter)
        if raw or "\\" not in line:
            given.add(line)
            return ended
        if not _unescape(line, given) or ended:
            return ended
        if delimiter != b"\n":
            given.protect(delimiter.decode("latin-1"))


def _unescape(line: str, given: _Input) -> bool:
    """Add a line whose backslashes protect characters; whether it ends in one that continues it."""
    position = 0
    while position < len(line):
        character = line[position]
        if character != "\\":
            given.characters.append(character)
        elif position + 1 == len(line):
            return True
        else:
            position += 1
            if line[position] != "\n":
                given.protect(line[position])
        position += 1
    return False


async def _take_characters(
    shell: Shell, stream: Stream, given: _Input, options: Options, delimiter: bytes
) -> bool:
    exactly = "N" in options
    wanted = int(options.given["N"] if exactly else options.given["n"])
    raw = "r" in options
    escaped = False
    while len(given.characters) < wanted:
        data = await stream.read(1)
        if not data:
            return True
        while data[0] >= 0xC0 and _incomplete(data):
            more = await stream.read(1)
            if not more:
                break
            data += more
        shell.ctx.spend_bytes(len(data))
        character = data.decode("utf-8", "surrogateescape")
        if escaped:
            escaped = False
            if character != "\n":
                given.protect(character)
        elif data == delimiter and not exactly:
            return False
        elif character == "\\" and not raw:
            escaped = True
        else:
            given.add(character)
    return False


def _incomplete(data: bytes) -> bool:
    length = 2 if data[0] < 0xE0 else 3 if data[0] < 0xF0 else 4
    return len(data) < length


def _store(shell: Shell, given: _Input, options: Options, names: list[str]) -> None:
    if "a" in options:
        fields: list[str] = []
        splitter = _Splitter(given, shell.expander.ifs())
        while not splitter.done:
            fields.append(splitter.next())
        assign_list(shell, options.given["a"], fields)
    elif not names:
        shell.state.assign("REPLY", given.text)
    elif "N" in options:
        _assign(shell, names[0], given.text)
        for name in names[1:]:
            _assign(shell, name, "")
    else:
        splitter = _Splitter(given, shell.expander.ifs())
        for name in names[:-1]:
            _assign(shell, name, splitter.next())
        _assign(shell, names[-1], splitter.rest())


def _assign(shell: Shell, name: str, value: str) -> None:
    base, bracket, rest = name.partition("[")
    if bracket:
        shell.state.assign_element(base, rest.removesuffix("]"), value)
    else:
        shell.state.assign(name, value)


def assign_list(shell: Shell, name: str, values: list[str]) -> None:
    """Make a variable an array of these values."""
    variable = shell.state.find(name)
    if variable is None:
        variable = shell.state.scopes[0][name] = Variable()
    if variable.readonly:
        raise Readonly(name)
    if variable.associative:
        raise VariableError(f"{name}: cannot convert associative to indexed array")
    variable.scalar = None
    variable.items = dict(enumerate(values))


@builtin("mapfile", "readarray")
async def mapfile(shell: Shell, argv: list[str]) -> int:
    """Read lines into an array."""
    try:
        options = Options(argv, "d:n:O:s:tu:C:c:")
    except BadOption as mistake:
        return await usage(shell, argv[0], str(mistake))
    name = options.rest[0] if options.rest else "MAPFILE"
    if not is_name(name):
        await shell.complain(f"{argv[0]}: `{name}': not a valid identifier")
        return 1
    numbers: dict[str, int] = {}
    for letter, default, what in NUMBERS:
        text = options.given.get(letter, str(default))
        if not text.isdigit():
            await shell.complain(f"{argv[0]}: {text}: invalid {what}")
            return 1
        numbers[letter] = int(text)
    stream = shell.ctx.process.streams.get(numbers["u"])
    if stream is None:
        await shell.complain(f"{argv[0]}: {numbers['u']}: invalid file descriptor: Bad file descriptor")
        return 1
    delimiter = options.given.get("d", "\n").encode("utf-8", "surrogateescape")[:1] or b"\0"
    return await _map_lines(shell, stream, name, options, numbers, delimiter)


async def _map_lines(
    shell: Shell, stream: Stream, name: str, options: Options, numbers: dict[str, int], delimiter: bytes
) -> int:
    variable = shell.state.find(name)
    if variable is None:
        variable = shell.state.scopes[0][name] = Variable()
    if variable.readonly:
        raise Readonly(name)
    if variable.items is None or "O" not in options:
        variable.scalar, variable.items, variable.associative = None, {}, False
    assert variable.items is not None
    skipped, taken = 0, 0
    while not numbers["n"] or taken < numbers["n"]:
        shell.ctx.spend_turn()
        data, ended = await read_bytes(shell, stream, delimiter)
        if ended and not data:
            break
        if skipped < numbers["s"]:
            skipped += 1
            continue
        line = data if "t" in options or ended else data + delimiter
        text = line.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        index = numbers["O"] + taken
        taken += 1
        if "C" in options and taken % max(1, numbers["c"]) == 0:
            from simcloud.userland.bash.escapes import quote_single

            await shell.run_text(f"{options.given['C']} {index} {quote_single(text)}", "mapfile", shell.line)
        variable.items[index] = text
        if ended:
            break
    return 0
