"""``md5sum -c`` and its like: compares files with a list of digests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.codes.checksums import DIGEST_BITS, DIGESTS
from simcloud.userland.commands.text.inputs import Inputs, Source
from simcloud.userland.commands.text.quoting import quoted_name

_TAGGED = re.compile(rb"[ \t]*([A-Za-z0-9]+) ?\((.*)\)[ \t]*=[ \t]*([0-9A-Fa-f]+)")
_PLAIN = re.compile(rb"[ \t]*([0-9A-Fa-f]+)[ \t](.+)")


@dataclass
class _Entry:
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
                    f"{quoted_name(source.name)}: {number}: improperly formatted {tag} checksum line"
                )
        if source.failed:
            return False
        return await self._conclude(quoted_name(source.name))

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
            await self._say(f"{quoted_name(entry.name)}: {error.strerror}")
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
                f"{quoted_name(entry.name) if chr(10) in entry.name else entry.name}: {verdict}\n"
            )
