"""``cat``, and ``less`` and ``more``, which do the same without a terminal; on one, less pages."""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream, Stream, read_all
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.screen import find_keyboard, get_size, page
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.quoting import quote_name
from simcloud.userland.commands.text.tool import UTIL_LINUX, tool


@tool(
    "cat",
    options="b,number-nonblank n,number s,squeeze-blank v,show-nonprinting E,show-ends T,show-tabs A,show-all e t u",
)
async def cat(ctx: Context, options: Options) -> int:
    """Write files or standard input one after the other."""
    inputs = Inputs(ctx, options.operands)
    marker = _Marker(
        number="b" in options or "n" in options,
        number_blank="b" not in options,
        squeeze="s" in options,
        ends=options.any("A", "e", "E"),
        visible=_visible(tabs=options.any("A", "t", "T"), controls=options.any("A", "e", "t", "v")),
    )
    async for source in inputs.sources():
        if source.stream is not None and _is_output(source.stream, ctx.stdout):
            inputs.failed = True
            await ctx.err(f"{ctx.args[0]}: {quote_name(source.name)}: input file is output file\n")
            continue
        async for piece in source.pieces():
            await emit(ctx, marker.mark(piece))
    await emit(ctx, marker.rest)
    return inputs.status


def _is_output(source: Stream, output: Stream) -> bool:
    """Whether reading would chase what is being written, for ever."""
    if not isinstance(source, FileStream) or not isinstance(output, FileStream):
        return False
    one, other = source.file.stat(), output.file.stat()
    same = (one.dev, one.ino) == (other.dev, other.ino)
    return same and one.is_file and source.file.tell() < one.size


def _visible(tabs: bool, controls: bool) -> list[bytes] | None:
    """Return the translation of each byte, None when all are unchanged."""
    if not tabs and not controls:
        return None
    shown = [bytes([byte]) for byte in range(256)]
    if controls:
        for byte in range(256):
            low = byte & 0x7F
            sign = b"^" + bytes([low ^ 0x40]) if low < 0x20 or low == 0x7F else bytes([low])
            shown[byte] = b"M-" + sign if byte >= 0x80 else sign
        shown[0x09], shown[0x0A] = b"\t", b"\n"
    if tabs:
        shown[0x09] = b"^I"
    return shown


class _Marker(Struct):
    """Numbers and marks lines; keeps its position in a line between pieces of data."""

    number: bool
    number_blank: bool
    squeeze: bool
    ends: bool
    visible: list[bytes] | None
    rest: bytes = b""
    _line: int = 0
    _at_start: bool = True
    _blanks: int = 0

    def mark(self, piece: bytes) -> bytes:
        """The piece as it is to be shown."""
        if not (self.number or self.squeeze or self.ends or self.visible):
            return piece
        piece, self.rest = self.rest + piece, b""
        if self.ends and piece.endswith(b"\r"):  # a line end may follow in the next piece
            piece, self.rest = piece[:-1], b"\r"
        return b"".join(map(self._mark_line, _split(piece)))

    def _mark_line(self, line: bytes) -> bytes:
        blank = self._at_start and line == b"\n"
        self._blanks = self._blanks + 1 if blank else 0
        if self.squeeze and self._blanks > 1:
            return b""
        prefix = b""
        if self.number and self._at_start and (self.number_blank or not blank):
            self._line += 1
            prefix = b"%6d\t" % self._line
        ended = line.endswith(b"\n")
        self._at_start = ended
        text = line[:-1] if ended else line
        if self.ends and ended and text.endswith(b"\r"):
            text, end = text[:-1], b"^M$\n"
        else:
            end = (b"$\n" if self.ends else b"\n") if ended else b""
        if self.visible is not None:
            visible = self.visible
            text = b"".join([visible[byte] for byte in text])
        return prefix + text + end


def _split(piece: bytes) -> list[bytes]:
    """Lines with their newlines (``splitlines`` would split at carriage returns too)."""
    lines = [line + b"\n" for line in piece.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


@tool(
    "less",
    options="a b= c d e,quit-at-eof f,force g i,ignore-case m n,line-numbers q s,squeeze-blank-lines t= u w x= "
    "z= A B C E,QUIT-AT-EOF F,quit-if-one-screen G H I J K L M N,LINE-NUMBERS O= P= Q R,RAW-CONTROL-CHARS "
    "S,chop-long-lines U V W X,no-init",
    usage="[options] [file]...",
    version="590 (GNU regular expressions)",
)
async def less(ctx: Context, options: Options) -> int:
    """Page through files or standard input on a terminal; without one, write them."""
    if ctx.stdout.isatty and (keyboard := find_keyboard(ctx)) is not None:
        return await _page(ctx, keyboard, options)
    for operand in options.operands or ["-"]:
        if operand != "-" and ctx.files.is_dir(operand):
            await ctx.out(f"{operand} is a directory\n")
            continue
        await _copy(ctx, operand, "{plain}: {why}\n", to_stdout=True)
    return 0


async def _page(ctx: Context, keyboard: Stream, options: Options) -> int:
    if not options.operands and ctx.stdin.isatty:
        await ctx.out('Missing filename ("less --help" for help)\n')
        return 1
    for operand in options.operands or ["-"]:
        try:
            data = await (ctx.read_file(operand) if operand != "-" else read_all(ctx.stdin))
        except FileError as error:
            await ctx.out(f"{operand}: {error.strerror}\n")
            return 1
        text = data.decode("utf-8", "replace")
        if options.any("F") and text.count("\n") < get_size(ctx)[1]:
            await ctx.out(text)
        else:
            await page(ctx, keyboard, text, operand if operand != "-" else "")
    return 0


@tool("more", options="d f l c p s u n= e", usage="[options] <file>...", version=UTIL_LINUX)
async def more(ctx: Context, options: Options) -> int:
    """Write standard input and then each file under its name; there is no terminal to page on."""
    if not ctx.stdin.isatty:
        await _copy(ctx, "-", "", to_stdout=True)
    for operand in options.operands:
        if ctx.files.is_dir(operand):
            await ctx.out(f"\n*** {operand}: directory ***\n\n")
        else:
            title = f"::::::::::::::\n{operand}\n::::::::::::::\n"
            await _copy(ctx, operand, f"{ctx.args[0]}: cannot open {{plain}}: {{why}}\n", title)
    return 0


async def _copy(
    ctx: Context, operand: str, cannot_open: str, title: str = "", to_stdout: bool = False
) -> None:
    try:
        stream = ctx.stdin if operand == "-" else await ctx.open(operand)
    except FileError as error:
        message = cannot_open.format(plain=operand, why=error.strerror)
        await (ctx.out(message) if to_stdout else ctx.err(message))
        return
    await ctx.out(title)
    async for piece in Source(Inputs(ctx, []), operand, stream).pieces():
        await emit(ctx, piece)
