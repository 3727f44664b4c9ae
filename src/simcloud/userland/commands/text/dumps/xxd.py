"""``xxd``: hexadecimal dumps and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.counts import all_digits, whole
from simcloud.userland.commands.text.dumps.blocks import Blocks
from simcloud.userland.commands.text.inputs import Inputs, is_there
from simcloud.userland.commands.text.tool import fail

_USAGE = """Usage:
       xxd [options] [infile [outfile]]
    or
       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]
Options: -a -b -c cols -d -e -g bytes -i -l len -o off -p -r -s seek -u"""
_WITH_VALUE = {"c": "cols", "g": "groupsize", "l": "len", "o": "offset", "s": "skip", "seek": "skip"}
_MAX_COLUMNS = 256
_HEX = "0123456789abcdefABCDEF"


@dataclass
class _Request:
    kind: str = "hex"
    values: dict[str, int] = field(default_factory=dict)
    upper: bool = False
    decimal: bool = False
    skip_zeros: bool = False
    revert: bool = False
    operands: list[str] = field(default_factory=list)

    @property
    def columns(self) -> int:
        return self.values.get("c") or {"plain": 30, "bits": 6, "include": 12}.get(self.kind, 16)

    @property
    def group(self) -> int:
        default = {"bits": 1, "little": 4}.get(self.kind, 2)
        return self.values.get("g", default) or self.columns


@command("xxd")
async def xxd(ctx: Context) -> int:
    """Make a hexadecimal dump, or turn one back into data."""
    request = _parse(ctx)
    inputs = Inputs(ctx, request.operands[:1], cannot_open="{plain}: {why}", weight=8)
    operand = inputs.operands[0]
    if operand != "-" and not is_there(ctx, operand):
        await inputs.complain("{plain}: {why}", operand, "No such file or directory")
        return 2
    output = ctx.stdout
    if len(request.operands) > 1 and request.operands[1] != "-":
        try:
            output = await ctx.open(
                request.operands[1], read=False, write=True, create=True, truncate=not request.revert
            )
        except FileError as error:
            fail(ctx, f"{request.operands[1]}: {error.strerror}", 3)
    if request.revert:
        data = await inputs.read_all()
        await _write(ctx, output, _plain_bytes(data) if request.kind == "plain" else _reverted(ctx, data))
    else:
        await _dump(ctx, request, inputs, output)
    return 2 if inputs.failed else 0


def _parse(ctx: Context) -> _Request:
    request = _Request()
    words = ctx.args[1:]
    kinds = {
        "p": "plain",
        "ps": "plain",
        "postscript": "plain",
        "plain": "plain",
        "b": "bits",
        "bits": "bits",
    }
    kinds |= {"i": "include", "include": "include", "e": "little"}
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        name = word.lstrip("-") if word.startswith("--") else word[1:]
        if name in kinds:
            request.kind = kinds[name]
        elif name in ("u", "uppercase"):
            request.upper = True
        elif name in ("a", "autoskip"):
            request.skip_zeros = True
        elif name in ("r", "revert"):
            request.revert = True
        elif name == "d":
            request.decimal = True
        elif name in ("v", "version"):
            raise UsageError("xxd 2022-01-14 by Juergen Weigert et al.", 0)
        elif name[:1] in _WITH_VALUE:
            _take_value(request, name, words)
        else:
            raise UsageError(_USAGE)
    request.operands = words
    if len(words) > 2:
        raise UsageError(_USAGE)
    if request.columns < 1 or (request.kind != "plain" and request.columns > _MAX_COLUMNS):
        fail(ctx, f"invalid number of columns (max. {_MAX_COLUMNS}).")
    if request.kind == "little" and request.group & (request.group - 1):
        fail(ctx, "number of octets per group must be a power of 2 with -e.")
    return request


def _take_value(request: _Request, name: str, words: list[str]) -> None:
    letter = name[0]
    full = {_WITH_VALUE[letter], "seek" if letter == "s" else _WITH_VALUE[letter], letter}
    text = name[1:] if name not in full else (words.pop(0) if words else "")
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if digits[:2].lower() == "0x" and all(digit in _HEX for digit in digits[2:]) and digits[2:]:
        request.values[letter] = sign * int(digits, 16)
    elif all_digits(digits):
        request.values[letter] = sign * whole(digits)
    else:
        raise UsageError(_USAGE)


async def _write(ctx: Context, output: Stream, data: bytes) -> None:
    ctx.spend_bytes(len(data))
    await output.write(data)


async def _dump(ctx: Context, request: _Request, inputs: Inputs, output: Stream) -> None:
    blocks = Blocks(request.columns, max(0, request.values.get("s", 0)), request.values.get("l"))
    if request.kind == "include":
        await _include(ctx, request, blocks.batches(inputs), output)
        return
    address = max(0, request.values.get("s", 0)) + request.values.get("o", 0)
    zeros = _ZeroRows()
    async for batch in blocks.batches(inputs):
        lines: list[str] = []
        for row in batch:
            if request.kind == "plain":
                lines.append((row.hex().upper() if request.upper else row.hex()) + "\n")
                continue
            line = _line(request, address, row)
            address += len(row)
            lines.append(zeros.take(line, is_zero=not any(row)) if request.skip_zeros else line)
        await _write(ctx, output, "".join(lines).encode())
    await _write(ctx, output, zeros.finish().encode())


@dataclass
class _ZeroRows:
    """Replaces rows of zeros by a star when at least three follow each other; the very last row stays."""

    count: int = 0
    second: str = ""
    last: str = ""

    def take(self, line: str, is_zero: bool) -> str:
        """What to write for a row."""
        if is_zero:
            self.count += 1
            if self.count == 1:
                return line
            if self.count == 2:
                self.second = line
            self.last = line
            return ""
        held = self._held(self.count)
        self.count = 0
        return held + line

    def finish(self) -> str:
        """What is left to write at the end."""
        return self._held(self.count - 1) + self.last if self.count > 1 else ""

    def _held(self, count: int) -> str:
        return "*\n" if count > 2 else self.second if count == 2 else ""


def _line(request: _Request, address: int, row: bytes) -> str:
    """One row: its address, its bytes in groups, its text."""
    groups: list[str] = []
    for at in range(0, len(row), request.group):
        group = row[at : at + request.group]
        if request.kind == "bits":
            groups.append("".join(f"{byte:08b}" for byte in group))
        elif request.kind == "little":
            groups.append("  " * (request.group - len(group)) + group[::-1].hex())
        else:
            groups.append(group.hex())
    shown = " ".join(groups)
    if request.upper:
        shown = shown.upper()
    per_byte = 8 if request.kind == "bits" else 2
    columns = request.columns
    width = per_byte * columns + (columns - 1) // request.group
    if request.kind == "little":
        width = per_byte * request.group * -(-columns // request.group) + (columns - 1) // request.group
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
    label = f"{address:08d}" if request.decimal else f"{address:08x}"
    return f"{label}: {shown:<{width}}  {text}\n"


async def _include(
    ctx: Context, request: _Request, batches: AsyncIterator[list[bytes]], output: Stream
) -> None:
    named = bool(request.operands) and request.operands[0] != "-"
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in request.operands[0]) if named else ""
    if name[:1].isdigit():
        name = "__" + name
    digits = "0X%02X" if request.upper else "0x%02x"
    rows: list[str] = []
    size = 0
    async for batch in batches:
        size += sum(map(len, batch))
        rows += ["  " + ", ".join(digits % byte for byte in row) for row in batch]
    body = ",\n".join(rows) + ("\n" if rows else "")
    if named:
        body = f"unsigned char {name}[] = {{\n{body}}};\nunsigned int {name}_len = {size};\n"
    await _write(ctx, output, body.encode())


def _plain_bytes(data: bytes) -> bytes:
    """Pairs of hexadecimal digits, whatever stands between them ignored."""
    digits = "".join(chr(byte) for byte in data if chr(byte) in _HEX)
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _reverted(ctx: Context, data: bytes) -> bytes:
    """The data that a dump shows, each row at its address."""
    out = bytearray()
    for line in data.decode("latin-1").split("\n"):
        label, colon, rest = line.partition(":")
        if not colon or not label.strip() or any(digit not in _HEX for digit in label.strip()):
            continue
        address = int(label, 16)
        shown = rest.strip(" ").split("  ")[0] if rest.strip(" ") else ""
        row = _plain_bytes(shown.encode("latin-1"))
        ctx.spend_bytes(max(0, address - len(out)))
        out += bytes(max(0, address - len(out)))
        out[address : address + len(row)] = row
    return bytes(out)
