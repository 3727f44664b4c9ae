"""``md5sum`` and its family: print digests, or check files against a list of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.quoting import quote_name
from simcloud.userland.commands.text.tool import misuse, tool


class Digest(Protocol):
    """Computes a digest from data in pieces."""

    def update(self, data: bytes, /) -> None:
        """Take a piece of data."""

    def hexdigest(self) -> str:
        """The digest so far."""


def _md5() -> Digest:
    return hashlib.md5(usedforsecurity=False)


def _sha1() -> Digest:
    return hashlib.sha1(usedforsecurity=False)


DIGESTS: dict[str, Callable[[], Digest]] = {
    "md5": _md5,
    "sha1": _sha1,
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
}
DIGEST_BITS = {"md5": 128, "sha1": 160, "sha256": 256, "sha512": 512}


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


class _LineFormat(Struct):
    """The format of a line with a digest."""

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
    look = _LineFormat(name.upper(), "tag" in options, modes[-1:] == ["b"], "\0" if "z" in options else "\n")
    inputs = Inputs(ctx, options.operands)
    async for source in inputs.sources():
        hexdigest = await hash_source(source, name)
        if not source.failed:
            await emit(ctx, look.line(hexdigest, source.name).encode("utf-8", "surrogateescape"))
    return inputs.status


async def hash_source(source: Source, name: str) -> str:
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


_TAGGED = re.compile(rb"[ \t]*([A-Za-z0-9]+) ?\((.*)\)[ \t]*=[ \t]*([0-9A-Fa-f]+)")
_PLAIN = re.compile(rb"[ \t]*([0-9A-Fa-f]+)[ \t](.+)")


class _Entry(Struct):
    hexdigest: str
    name: str


class Checker:
    """Reads lists and reports on each file named in them."""

    def __init__(self, ctx: Context, options: Options, algorithm: str) -> None:
        self._ctx = ctx
        self._options = options
        self._algorithm = algorithm
        self._verbose = "status" not in options
        self._right = self._wrong = self._unreadable = self._malformed = self._missing = 0
        self._marked: bool | None = None

    async def run(self) -> int:
        """Check every list; 0 if all is well."""
        inputs = Inputs(
            self._ctx, self._options.operands, cannot_read="{name}: read error", stdin_name="standard input"
        )
        well = True
        async for source in inputs.sources():
            well &= await self._check_list(source)
        return 0 if well and not inputs.failed else 1

    async def _check_list(self, source: Source) -> bool:
        self._right = self._wrong = self._unreadable = self._malformed = self._missing = 0
        number = 0
        async for raw in source.lines():
            number += 1
            line = raw.removesuffix(b"\n").removesuffix(b"\r")
            if not line or line.startswith(b"#"):
                continue
            entry = self._parse(line)
            if entry is not None:
                await self._check_file(entry)
                continue
            self._malformed += 1
            if "w" in self._options:
                tag = self._algorithm.upper()
                await self._say(
                    f"{quote_name(source.name)}: {number}: improperly formatted {tag} checksum line"
                )
        if source.failed:
            return False
        return await self._conclude(quote_name(source.name))

    async def _conclude(self, name: str) -> bool:
        seen = self._right + self._wrong + self._unreadable + self._missing
        if not seen:
            await self._say(f"{name}: no properly formatted checksum lines found")
            return False
        if self._verbose:
            await self._warn(self._malformed, "line is", "lines are", "improperly formatted")
            await self._warn(self._unreadable, "listed file", "listed files", "could not be read")
            await self._warn(self._wrong, "computed checksum", "computed checksums", "did NOT match")
            if self._missing and not (self._right or self._wrong):
                await self._say(f"{name}: no file was verified")
        strict_failure = "strict" in self._options and self._malformed
        nothing_verified = self._missing and not (self._right or self._wrong)
        return not (self._wrong or self._unreadable or strict_failure or nothing_verified)

    async def _warn(self, count: int, one: str, many: str, what: str) -> None:
        if count:
            await self._say(f"WARNING: {count} {one if count == 1 else many} {what}")

    async def _say(self, message: str) -> None:
        await self._ctx.err(f"{self._ctx.args[0]}: {message}\n")

    def _parse(self, line: bytes) -> _Entry | None:
        escaped = line.startswith(b"\\")
        text = line[1:] if escaped else line
        form = _TAGGED.fullmatch(text)
        if form is not None:
            if form[1].decode("latin-1") != self._algorithm.upper():
                return None
            name, hexdigest = form[2], form[3]
        else:
            form = _PLAIN.fullmatch(text)
            if form is None:
                return None
            marked = len(form[2]) > 1 and form[2][0] in b" *"
            if self._marked and not marked:
                return None  # the first line settles it, lest a name pass for a mark or the other way round
            self._marked = marked if self._marked is None else self._marked
            name, hexdigest = form[2][1:] if self._marked else form[2], form[1]
        if len(hexdigest) * 4 != DIGEST_BITS[self._algorithm]:
            return None
        if escaped:
            name = name.replace(b"\\n", b"\n").replace(b"\\r", b"\r").replace(b"\\\\", b"\\")
        return _Entry(hexdigest.decode().lower(), name.decode("utf-8", "surrogateescape"))

    async def _check_file(self, entry: _Entry) -> None:
        state = DIGESTS[self._algorithm]()
        try:
            stream = self._ctx.stdin if entry.name == "-" else await self._ctx.open(entry.name)
            while data := await stream.read():
                self._ctx.spend_bytes(len(data))
                state.update(data)
        except FileError as error:
            if error.code == "ENOENT" and "ignore-missing" in self._options:
                self._missing += 1
                return
            self._unreadable += 1
            await self._say(f"{quote_name(entry.name)}: {error.strerror}")
            await self._report(entry, "FAILED open or read")
            return
        if state.hexdigest() == entry.hexdigest:
            self._right += 1
            if "quiet" not in self._options:
                await self._report(entry, "OK")
        else:
            self._wrong += 1
            await self._report(entry, "FAILED")

    async def _report(self, entry: _Entry, verdict: str) -> None:
        if self._verbose:
            await self._ctx.out(
                f"{quote_name(entry.name) if chr(10) in entry.name else entry.name}: {verdict}\n"
            )
