"""``md5sum`` and its family, ``cksum`` and ``sum``."""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.codes.checksums import (
    DIGEST_BITS,
    TAGS,
    BsdSum,
    Crc,
    SysvSum,
    digest,
)
from simcloud.userland.commands.text.codes.digest_check import Checker
from simcloud.userland.commands.text.counts import number
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, misuse, one_of, tool

_CHECKING = "c,check ignore-missing quiet status strict w,warn"
_OPTIONS = f"b,binary t,text tag z,zero {_CHECKING}"
_SUMS: dict[str, type[BsdSum | SysvSum | Crc]] = {"bsd": BsdSum, "sysv": SysvSum, "crc": Crc}


@tool("md5sum", options=_OPTIONS)
async def md5sum(ctx: Context, options: Options) -> int:
    """Print or check MD5 checksums."""
    return await _family(ctx, options, "md5")


@tool("sha1sum", options=_OPTIONS)
async def sha1sum(ctx: Context, options: Options) -> int:
    """Print or check SHA1 checksums."""
    return await _family(ctx, options, "sha1")


@tool("sha224sum", options=_OPTIONS)
async def sha224sum(ctx: Context, options: Options) -> int:
    """Print or check SHA224 checksums."""
    return await _family(ctx, options, "sha224")


@tool("sha256sum", options=_OPTIONS)
async def sha256sum(ctx: Context, options: Options) -> int:
    """Print or check SHA256 checksums."""
    return await _family(ctx, options, "sha256")


@tool("sha384sum", options=_OPTIONS)
async def sha384sum(ctx: Context, options: Options) -> int:
    """Print or check SHA384 checksums."""
    return await _family(ctx, options, "sha384")


@tool("sha512sum", options=_OPTIONS)
async def sha512sum(ctx: Context, options: Options) -> int:
    """Print or check SHA512 checksums."""
    return await _family(ctx, options, "sha512")


@tool("b2sum", options=f"{_OPTIONS} l,length=")
async def b2sum(ctx: Context, options: Options) -> int:
    """Print or check BLAKE2b checksums."""
    return await _family(ctx, options, "blake2b")


@tool("cksum", options=f"a,algorithm= {_CHECKING} l,length= tag untagged debug z,zero")
async def cksum(ctx: Context, options: Options) -> int:
    """Print or check checksums, CRC by default."""
    choices = (*_SUMS, *DIGEST_BITS, "sm3")
    name = one_of(ctx, "algorithm", options.last("a"), choices) if "a" in options else "crc"
    if name == "sm3":
        fail(ctx, "the algorithm sm3 is not supported")
    bits = _bits(ctx, options, "blake2b")
    if bits != DIGEST_BITS["blake2b"] and name != "blake2b":
        fail(ctx, "--length is only supported with --algorithm=blake2b")
    if name in _SUMS:
        if "c" in options and "a" in options:
            fail(ctx, "--check is not supported with --algorithm={bsd,sysv,crc}")
        _check_options(ctx, options)
        if "c" in options:
            return await Checker(ctx, options, None).run()
        return await _sums(ctx, options, name)
    tags = [option for option, _ in options.given if option in ("tag", "untagged")]
    return await _family(ctx, options, name, tagged=not tags or tags[-1] == "tag")


@tool("sum", options="r s,sysv")
async def sum_(ctx: Context, options: Options) -> int:
    """Print checksums and block counts, in the old ways."""
    kinds = [name for name, _ in options.given if name in ("r", "s")]
    return await _sums(ctx, options, "sysv" if kinds and kinds[-1] == "s" else "bsd")


async def _sums(ctx: Context, options: Options, kind: str) -> int:
    inputs = Inputs(ctx, options.operands, weight=2 if kind == "bsd" else 1)
    end = "\0" if "z" in options else "\n"
    async for source in inputs.sources():
        total = _SUMS[kind]()
        async for piece in source.pieces():
            total.update(piece)
        if not source.failed:
            name = f" {source.name}" if options.operands else ""
            await emit(ctx, f"{total.show()}{name}{end}".encode("utf-8", "surrogateescape"))
    return inputs.status


@dataclass
class _Look:
    """How a line with a digest looks."""

    tag: str
    tagged: bool
    binary: bool
    end: str

    def line(self, hexdigest: str, name: str) -> str:
        escape = self.end == "\n" and any(special in name for special in "\\\n\r")
        shown = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") if escape else name
        mark = "\\" if escape else ""
        if self.tagged:
            return f"{mark}{self.tag} ({shown}) = {hexdigest}{self.end}"
        return f"{mark}{hexdigest} {'*' if self.binary else ' '}{shown}{self.end}"


async def _family(ctx: Context, options: Options, name: str, tagged: bool = False) -> int:
    bits = _bits(ctx, options, name)
    _check_options(ctx, options)
    if "c" in options:
        return await Checker(ctx, options, name).run()
    modes = [option for option, _ in options.given if option in ("b", "t")]
    tag = TAGS[name] if bits == DIGEST_BITS[name] else f"{TAGS[name]}-{bits}"
    look = _Look(
        tag,
        tagged or ("tag" in options and "untagged" not in options),
        modes[-1:] == ["b"],
        "\0" if "z" in options else "\n",
    )
    inputs = Inputs(ctx, options.operands)
    async for source in inputs.sources():
        hexdigest = await hashed(source, name, bits)
        if not source.failed:
            await emit(ctx, look.line(hexdigest, source.name).encode("utf-8", "surrogateescape"))
    return inputs.status


async def hashed(source: Source, name: str, bits: int) -> str:
    """The digest of an input, in hexadecimal."""
    state = digest(name, bits)
    async for piece in source.pieces():
        state.update(piece)
    return state.hexdigest()


def _bits(ctx: Context, options: Options, name: str) -> int:
    if "l" not in options:
        return DIGEST_BITS[name]
    text = options.last("l")
    bits = number(ctx, text, "invalid length")
    why = ""
    if bits % 8:
        why = "length is not a multiple of 8"
    elif bits > 512:
        why = "maximum digest length for 'BLAKE2b' is 512 bits"
    if why:
        fail(ctx, f"invalid length: {quote(text)}\n{ctx.args[0]}: {why}")
    return bits or 512


def _check_options(ctx: Context, options: Options) -> None:
    modes = [option for option, _ in options.given if option in ("b", "t", "tag")]
    if "tag" in options and modes[-1:] == ["t"]:
        misuse(ctx, "--tag does not support --text mode")
    if "c" in options:
        if "z" in options:
            misuse(ctx, "the --zero option is not supported when verifying checksums")
        if "tag" in options:
            misuse(ctx, "the --tag option is meaningless when verifying checksums")
        return
    loudness = [option for option, _ in options.given if option in ("status", "w", "quiet")][-1:]
    for name in ("ignore-missing", *loudness, "strict"):
        if name in options:
            word = "warn" if name == "w" else name
            misuse(ctx, f"the --{word} option is meaningful only when verifying checksums")
