"""``md5sum`` and its family."""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.codes.checksums import DIGESTS
from simcloud.userland.commands.text.codes.digest_check import Checker
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.tool import misuse, tool

_OPTIONS = "b,binary t,text tag z,zero c,check ignore-missing quiet status strict w,warn"


@tool("md5sum", options=_OPTIONS)
async def md5sum(ctx: Context, options: Options) -> int:
    """Print or check MD5 checksums."""
    return await _family(ctx, options, "md5")


@tool("sha1sum", options=_OPTIONS)
async def sha1sum(ctx: Context, options: Options) -> int:
    """Print or check SHA1 checksums."""
    return await _family(ctx, options, "sha1")


@tool("sha256sum", options=_OPTIONS)
async def sha256sum(ctx: Context, options: Options) -> int:
    """Print or check SHA256 checksums."""
    return await _family(ctx, options, "sha256")


@tool("sha512sum", options=_OPTIONS)
async def sha512sum(ctx: Context, options: Options) -> int:
    """Print or check SHA512 checksums."""
    return await _family(ctx, options, "sha512")


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


async def _family(ctx: Context, options: Options, name: str) -> int:
    _check_options(ctx, options)
    if "c" in options:
        return await Checker(ctx, options, name).run()
    modes = [option for option, _ in options.given if option in ("b", "t")]
    look = _Look(name.upper(), "tag" in options, modes[-1:] == ["b"], "\0" if "z" in options else "\n")
    inputs = Inputs(ctx, options.operands)
    async for source in inputs.sources():
        hexdigest = await hashed(source, name)
        if not source.failed:
            await emit(ctx, look.line(hexdigest, source.name).encode("utf-8", "surrogateescape"))
    return inputs.status


async def hashed(source: Source, name: str) -> str:
    """The digest of an input, in hexadecimal."""
    state = DIGESTS[name]()
    async for piece in source.pieces():
        state.update(piece)
    return state.hexdigest()


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
