"""``base64`` and ``base32``: bytes as letters and back."""

from __future__ import annotations

import base64 as codec
import binascii

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import number
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.tool import at_most, fail, tool

_LETTERS64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LETTERS32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_OPTIONS = "d,decode i,ignore-garbage w,wrap="
_USAGE = "[OPTION]... [FILE]"


@tool("base64", options=_OPTIONS, usage=_USAGE)
async def base64(ctx: Context, options: Options) -> int:
    """Encode or decode base64 data."""
    return await _Coder(ctx, options, _LETTERS64, 3, 4).run()


@tool("base32", options=_OPTIONS, usage=_USAGE)
async def base32(ctx: Context, options: Options) -> int:
    """Encode or decode base32 data."""
    return await _Coder(ctx, options, _LETTERS32, 5, 8).run()


class _Coder:
    """Groups of so many bytes as so many letters."""

    def __init__(
        self, ctx: Context, options: Options, letters: bytes, bytes_in: int, letters_out: int
    ) -> None:
        self._ctx = ctx
        self._options = options
        self._letters = letters
        self._bytes_in = bytes_in
        self._letters_out = letters_out

    async def run(self) -> int:
        """Code standard input or the one file that may be given."""
        ctx, options = self._ctx, self._options
        wrap = number(ctx, options.last("w", default="76"), "invalid wrap size")
        at_most(ctx, options.operands, 1)
        inputs = Inputs(ctx, options.operands, cannot_read="read error: {why}", weight=2)
        source = await inputs.open(inputs.operands[0])
        if source is not None:
            await (self._decode(source) if "d" in options else self._encode(source, wrap))
        return inputs.status

    def _encoded(self, data: bytes) -> bytes:
        return codec.b64encode(data) if self._bytes_in == 3 else codec.b32encode(data)

    async def _encode(self, source: Source, wrap: int) -> None:
        rest, column = b"", 0
        async for piece in source.pieces():
            data = rest + piece
            whole = len(data) - len(data) % self._bytes_in
            rest = data[whole:]
            column = await self._wrapped(self._encoded(data[:whole]), wrap, column)
        column = await self._wrapped(self._encoded(rest), wrap, column)
        if wrap and column:
            await emit(self._ctx, b"\n")

    async def _wrapped(self, letters: bytes, wrap: int, column: int) -> int:
        """Write letters in lines of a width; the column where they end."""
        if not wrap:
            await emit(self._ctx, letters)
            return 0
        lines: list[bytes] = []
        at = 0
        while at < len(letters):
            taken = letters[at : at + wrap - column]
            at += len(taken)
            column += len(taken)
            lines.append(taken)
            if column == wrap:
                lines.append(b"\n")
                column = 0
        await emit(self._ctx, b"".join(lines))
        return column

    async def _decode(self, source: Source) -> None:
        """Decode group by group; what comes before a mistake is written."""
        garbage = bytes(byte for byte in range(256) if byte not in self._letters + b"=")
        unwanted = garbage if "i" in self._options else b"\n"
        rest = b""
        async for piece in source.pieces():
            data = rest + piece.translate(None, unwanted)
            whole = len(data) - len(data) % self._letters_out
            rest = data[whole:]
            await self._decode_groups(data[:whole])
        if rest:
            await self._decode_groups(rest)

    async def _decode_groups(self, data: bytes) -> None:
        if not data.translate(None, self._letters):
            whole = len(data) - len(data) % self._letters_out
            await emit(self._ctx, self._decoded(data[:whole]))
            data = data[whole:]
        for at in range(0, len(data), self._letters_out):
            group = data[at : at + self._letters_out]
            bare = group.rstrip(b"=")
            known = len(bare) - len(bare.lstrip(self._letters))
            if known == len(bare) and len(group) == self._letters_out and self._padding_fits(bare):
                await emit(self._ctx, self._decoded(group))
                continue
            cut_short = self._letters_out == 8 and len(group) < 8
            await self._salvage(b"" if cut_short else group[:known])

    def _padding_fits(self, bare: bytes) -> bool:
        allowed = (2, 3, 4) if self._letters_out == 4 else (2, 4, 5, 7, 8)
        return len(bare) in allowed

    def _decoded(self, letters: bytes) -> bytes:
        if self._letters_out == 4:
            return binascii.a2b_base64(letters)
        return codec.b32decode(letters) if letters else b""

    async def _salvage(self, letters: bytes) -> None:
        """Write the whole bytes that letters before a mistake stand for, and end."""
        bits_per_letter = 6 if self._letters_out == 4 else 5
        value = 0
        for letter in letters:
            value = value << bits_per_letter | self._letters.index(letter)
        spare = len(letters) * bits_per_letter % 8
        size = len(letters) * bits_per_letter // 8
        await emit(self._ctx, (value >> spare).to_bytes(size, "big") if size else b"")
        fail(self._ctx, "invalid input")
