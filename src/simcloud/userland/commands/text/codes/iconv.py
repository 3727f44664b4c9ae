"""``iconv``: text from one encoding to another. Knows UTF-8, UTF-16, UTF-32, Latin-1 and its kin, and ASCII."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs
from simcloud.userland.commands.text.tool import fail, tool

_CODECS = {
    "ASCII": "ascii", "US-ASCII": "ascii", "ANSI_X3.4-1968": "ascii", "C": "ascii",
    "UTF-8": "utf-8", "UTF8": "utf-8",
    "LATIN1": "latin-1", "ISO-8859-1": "latin-1", "ISO8859-1": "latin-1", "ISO_8859-1": "latin-1", "L1": "latin-1",
    "ISO-8859-15": "iso8859-15", "ISO8859-15": "iso8859-15", "LATIN-9": "iso8859-15",
    "CP1252": "cp1252", "WINDOWS-1252": "cp1252",
    "UTF-16": "utf-16", "UTF16": "utf-16", "UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be",
    "UTF-32": "utf-32", "UTF32": "utf-32", "UTF-32LE": "utf-32-le", "UTF-32BE": "utf-32-be",
}  # fmt: skip
_LOOKALIKES = str.maketrans(
    {
        "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "€": "EUR", "«": "<<", "»": ">>",
        "\u00a0": " ", "©": "(C)", "®": "(R)", "™": "(TM)", "×": "x", "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe",
        "•": "o", "→": "->", "←": "<-",
    }
)  # fmt: skip


@tool(
    "iconv",
    options="f,from-code= t,to-code= l,list c o,output= s,silent verbose",
    usage="[OPTION...] [FILE...]",
    version="(Debian GLIBC 2.36-9+deb12u14) 2.36",
    trouble=64,
    try_help="Try `{name} --help' or `{name} --usage' for more information.",
)
async def iconv(ctx: Context, options: Options) -> int:
    """Convert text from one character encoding to another."""
    if "l" in options:
        await ctx.out("".join(f"{name}//\n" for name in sorted(_CODECS)))
        return 0
    target, _, extras = options.last("t", default="ASCII").partition("//")
    decoder = _codec(ctx, options.last("f", default="ASCII").partition("//")[0])
    encoder = _codec(ctx, target)
    output = ctx.stdout
    if "o" in options:
        try:
            output = await ctx.open(options.last("o"), read=False, write=True, create=True, truncate=True)
        except FileError as error:
            fail(ctx, f"unable to open output file: {error.strerror}")
    inputs = Inputs(
        ctx,
        options.operands,
        "cannot open input file `{plain}': {why}",
        "error while reading the input: {why}",
    )
    async for source in inputs.sources():
        data = await source.read_all()
        converted, mistake = _converted(data, decoder, encoder, extras.upper(), skip="c" in options)
        ctx.spend_bytes(len(converted))
        await output.write(converted)
        if mistake:
            fail(ctx, mistake)
    return inputs.status


def _codec(ctx: Context, name: str) -> str:
    codec = _CODECS.get(name.upper() or "ASCII")
    if codec is None:
        fail(ctx, "failed to start conversion processing")
    return codec


def _converted(data: bytes, decoder: str, encoder: str, extras: str, skip: bool) -> tuple[bytes, str]:
    """What could be converted, and what stopped it."""
    ignored = skip or "IGNORE" in extras
    mistake = ""
    try:
        text = data.decode(decoder)
    except UnicodeDecodeError as error:
        if not ignored:
            whole = data[: error.start]
            incomplete = (
                error.end == len(data) and "unexpected end" in error.reason
            ) or "truncated" in error.reason
            place = f"illegal input sequence at position {error.start}"
            mistake = "incomplete character or shift sequence at end of buffer" if incomplete else place
            text = whole.decode(decoder)
        else:
            text = data.decode(decoder, "ignore")
    if "TRANSLIT" in extras:
        text = "".join(c if _fits(c, encoder) else c.translate(_LOOKALIKES) for c in text)
        text = "".join(c if _fits(c, encoder) else "?" for c in text)
    try:
        return text.encode(encoder), mistake
    except UnicodeEncodeError as error:
        if ignored:
            position = len(data) if "IGNORE" in extras and not skip else 0
            note = f"illegal input sequence at position {position}" if position else mistake
            return text.encode(encoder, "ignore"), note
        before = text[: error.start]
        return before.encode(encoder), f"illegal input sequence at position {len(before.encode(decoder))}"


def _fits(character: str, encoder: str) -> bool:
    try:
        character.encode(encoder)
    except UnicodeEncodeError:
        return False
    return True
