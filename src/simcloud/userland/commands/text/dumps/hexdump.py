"""``hexdump`` (``hd``): data in hexadecimal and other formats."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import SIZE_SUFFIXES, parse_number
from simcloud.userland.commands.text.dumps.blocks import Blocks, Repeats
from simcloud.userland.commands.text.dumps.hexdump_formats import Format, FormatError, parse_format
from simcloud.userland.commands.text.inputs import Inputs, emit, read_operand
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, tool

_END = '"%07.7_Ax\n"'
_NAMED = {
    "b": (_END, '"%07.7_ax " 16/1 "%03o " "\\n"'),
    "c": (_END, '"%07.7_ax " 16/1 "%3_c " "\\n"'),
    "C": ('"%08.8_Ax\n"', '"%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x " ', '"  |" 16/1 "%_p" "|\\n"'),
    "d": (_END, '"%07.7_ax " 8/2 "  %05u " "\\n"'),
    "o": (_END, '"%07.7_ax " 8/2 " %06o " "\\n"'),
    "x": (_END, '"%07.7_ax " 8/2 "   %04x " "\\n"'),
}
_DEFAULT = (_END, '"%07.7_ax " 8/2 "%04x " "\\n"')


@tool(
    "hexdump",
    "hd",
    options="b,one-byte-octal c,one-byte-char C,canonical d,two-bytes-decimal o,two-bytes-octal "
    "x,two-bytes-hex e,format= f,format-file= n,length= s,skip= v,no-squeezing L,color=?",
    usage="[options] <file>...",
    version=UTIL_LINUX,
)
async def hexdump(ctx: Context, options: Options) -> int:
    """Write data in hexadecimal, or in another format."""
    try:
        formats = await _formats(ctx, options)
    except FormatError as error:
        fail(ctx, str(error))
    block_size = max((form.size for form in formats), default=0)
    ctx.spend_bytes(block_size * 16)
    for form in formats:
        form.stretch(block_size)
    skip, limit = _count(ctx, options, "s", "offset") or 0, _count(ctx, options, "n", "length")
    inputs = Inputs(ctx, options.operands, "{plain}: {why}", "{plain}: {why}", weight=12, dash_is_stdin=False)
    address, read_any = skip, False
    repeats = Repeats(block_size, "v" not in options)
    async for batch in Blocks(max(1, block_size), skip, limit).batches(inputs):
        shown: list[bytes] = []
        for block in batch:
            read_any = True
            star = repeats.shown(block)
            if star is None:
                star = "".join([form.show(block, address) for form in formats]).encode("latin-1")
            shown.append(star)
            address += len(block)
        await emit(ctx, b"".join(shown))
    if read_any or (skip and not inputs.failed):
        endings = [form.ending for form in formats if form.ending]
        ending = [piece.show(b"", address) for piece in endings[-1]] if endings else []
        await emit(ctx, "".join(ending).encode("latin-1"))
    if inputs.opened == 0:
        await ctx.err(f"{ctx.args[0]}: all input file arguments failed\n")
    return 0 if inputs.opened == len(inputs.operands) else 1


async def _formats(ctx: Context, options: Options) -> list[Format]:
    texts: list[str] = ['"%08.8_Ax\n"', *_NAMED["C"][1:]] if ctx.args[0].endswith("hd") else []
    for name, value in options.given:
        if name in _NAMED:
            texts += _NAMED[name]
        elif name == "e":
            texts.append(value)
        elif name == "f":
            data = await read_operand(ctx, value, "can't read {plain}: {why}")
            lines = data.decode("utf-8", "surrogateescape").splitlines()
            texts += [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return [parse_format(text) for text in texts or _DEFAULT]


def _count(ctx: Context, options: Options, letter: str, word: str) -> int | None:
    if letter not in options:
        return None
    text = options.last(letter)
    is_hexadecimal = (
        text[:2].lower() == "0x" and text[2:] and all(c in "0123456789abcdefABCDEF" for c in text[2:])
    )
    value = int(text, 16) if is_hexadecimal else parse_number(text, SIZE_SUFFIXES)
    if value is None or value < 0:
        fail(ctx, f"failed to parse {word}: {quote(text)}: Invalid argument")
    return value
