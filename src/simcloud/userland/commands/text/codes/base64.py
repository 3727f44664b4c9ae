"""``base64``: encode and decode data."""

from __future__ import annotations

import base64 as codec
import binascii

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import number
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.tool import at_most, fail, tool

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BYTES_IN = 3
_LETTERS_OUT = 4
_BITS_PER_LETTER = 6


@tool("base64", options="d,decode i,ignore-garbage w,wrap=", usage="[OPTION]... [FILE]")
async def base64(ctx: Context, options: Options) -> int:
    """Encode or decode base64 data."""
    return await _Coder(ctx, options).run()


class _Coder:
    """Encodes groups of three bytes as four letters."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options

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

    async def _encode(self, source: Source, wrap: int) -> None:
        rest, column = b"", 0
        async for piece in source.pieces():
            data = rest + piece
            whole = len(data) - len(data) % _BYTES_IN
            rest = data[whole:]
            column = await self._write_wrapped(codec.b64encode(data[:whole]), wrap, column)
        column = await self._write_wrapped(codec.b64encode(rest), wrap, column)
        if wrap and column:
            await emit(self._ctx, b"\n")

    async def _write_wrapped(self, letters: bytes, wrap: int, column: int) -> int:
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
        garbage = bytes(byte for byte in range(256) if byte not in _LETTERS + b"=")
        unwanted = garbage if "i" in self._options else b"\n"
        rest = b""
        async for piece in source.pieces():
            data = rest + piece.translate(None, unwanted)
            whole = len(data) - len(data) % _LETTERS_OUT
            rest = data[whole:]
            await self._decode_groups(data[:whole])
        if rest:
            await self._decode_groups(rest)

    async def _decode_groups(self, data: bytes) -> None:
        if not data.translate(None, _LETTERS):
            whole = len(data) - len(data) % _LETTERS_OUT
            await emit(self._ctx, binascii.a2b_base64(data[:whole]))
            data = data[whole:]
        for at in range(0, len(data), _LETTERS_OUT):
            group = data[at : at + _LETTERS_OUT]
            bare = group.rstrip(b"=")
            known = len(bare) - len(bare.lstrip(_LETTERS))
            if known == len(bare) and len(group) == _LETTERS_OUT and len(bare) >= 2:
                await emit(self._ctx, binascii.a2b_base64(group))
                continue
            await self._salvage(group[:known])

    async def _salvage(self, letters: bytes) -> None:
        """Write the whole bytes that letters before a mistake stand for, and end."""
        value = 0
        for letter in letters:
            value = value << _BITS_PER_LETTER | _LETTERS.index(letter)
        spare = len(letters) * _BITS_PER_LETTER % 8
        size = len(letters) * _BITS_PER_LETTER // 8
        await emit(self._ctx, (value >> spare).to_bytes(size, "big") if size else b"")
        fail(self._ctx, "invalid input")
