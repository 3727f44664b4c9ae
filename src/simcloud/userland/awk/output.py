"""Where ``print`` writes: standard output, files, and commands that read from a pipe.

Output collects in memory and leaves when it is due: when much has collected, before a command runs,
before the program waits for input, at the end. When stdout is no terminal and commands that may share it
are being fed, it leaves in whole blocks only, as from the C library: so their order is the genuine one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import (
    CommandNotFound,
    Context,
    ForkFailed,
    NotExecutable,
    Process,
    Stream,
)
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.locale import Locale

BLOCK_BYTES: Final = 4096
MANY_PARTS: Final = 2048
"""Number of buffered pieces of output that triggers a write."""

NOT_FOUND: Final = 127
SIGNALLED: Final = 256
"""Added to the signal number in the status of a command that was killed."""


class Outlet:
    """One destination. Append text to ``parts``; ``flush`` sends it."""

    def __init__(
        self,
        name: str,
        stream: Stream,
        locale: Locale,
        pay: Callable[[int], None],
        feeds: Process | None = None,
    ) -> None:
        self.name = name
        self.parts: list[str] = []
        self.feeds = feeds
        self._stream = stream
        self._locale = locale
        self._pay = pay
        self._waiting = b""

    async def flush(self, *, whole_blocks: bool = False) -> None:
        """Send what has collected; with ``whole_blocks`` keep what does not fill one."""
        if not self.parts and not self._waiting:
            return
        data = self._waiting + self._locale.encode("".join(self.parts))
        self.parts.clear()
        sent = len(data) // BLOCK_BYTES * BLOCK_BYTES if whole_blocks else len(data)
        self._waiting = data[sent:]
        if sent:
            self._pay(sent)
            await self._stream.write(data[:sent])

    async def close(self) -> int:
        """Send the rest and end; the status of the command it fed, 0 for a file."""
        try:
            await self.flush()
        finally:
            self._stream.close()
        return 0 if self.feeds is None else exit_status(self.feeds, await self.feeds.wait())


def exit_status(process: Process, status: int) -> int:
    """Return awk's status of a command: its exit status, or 256 plus the signal number."""
    return status if process.ended_by is None else SIGNALLED + process.ended_by


class Outputs:
    """All destinations of one program."""

    def __init__(self, ctx: Context, locale: Locale) -> None:
        self._ctx = ctx
        self._locale = locale
        self.stdout = Outlet("standard output", ctx.stdout, locale, ctx.spend_bytes)
        self._stderr = Outlet("/dev/stderr", ctx.stderr, locale, ctx.spend_bytes)
        self._opened: dict[str, Outlet] = {}
        self._complaints: list[tuple[str, str]] = []
        self._ending = False

    def complain(self, message: str) -> None:
        """Put a line on stderr, after all that was printed before it."""
        self._complaints.append(("".join(self.stdout.parts), message))
        self.stdout.parts.clear()

    async def _voice_complaints(self) -> None:
        complaints, self._complaints = self._complaints, []
        printed_since = self.stdout.parts.copy()
        self.stdout.parts.clear()
        for printed, message in complaints:
            self.stdout.parts.append(printed)
            await self._flush(self.stdout)
            self._stderr.parts.append(message)
            await self._stderr.flush()
        self.stdout.parts.extend(printed_since)

    def put(self, name: str, text: str) -> bool:
        """Print into a destination if that needs no waiting; False if it does, and nothing is done."""
        outlet = self._opened.get(name)
        if outlet is None or outlet is self._stderr or len(outlet.parts) >= MANY_PARTS:
            return False
        outlet.parts.append(text)
        return True

    async def write(self, kind: str, name: str, text: str) -> None:
        """Print into a file (``>``, ``>>``) or a command (``|``), opening it if need be."""
        outlet = self._opened.get(name) or await self._open(kind, name)
        outlet.parts.append(text)
        if outlet is self._stderr:
            if self._ctx.stdout.isatty:
                await self.stdout.flush()
            await outlet.flush()
        elif len(outlet.parts) >= MANY_PARTS:
            await self.ease()

    async def _open(self, kind: str, name: str) -> Outlet:
        if not name:
            raise Fatal(f"expression for `{kind}' redirection has null string value")
        if kind == "|":
            outlet = await self._open_command(name)
        elif name in ("/dev/stdout", "-"):
            outlet = self.stdout
        elif name == "/dev/stderr":
            outlet = self._stderr
        else:
            outlet = await self._open_file(kind, name)
        self._opened[name] = outlet
        return outlet

    async def _open_file(self, kind: str, name: str) -> Outlet:
        appending = kind == ">>"
        path = self._locale.to_argument(name)
        try:
            stream = await self._ctx.open(
                path, read=False, write=True, create=True, truncate=not appending, append=appending
            )
        except FileError as error:
            raise Fatal(f"cannot redirect to `{name}': {error.strerror}") from None
        return Outlet(name, stream, self._locale, self._ctx.spend_bytes)

    async def _open_command(self, command: str) -> Outlet:
        await self.flush()
        ctx = self._ctx
        reader, writer = ctx.pipe()
        process = self.start(command, {0: reader, 1: ctx.stdout, 2: ctx.stderr})
        reader.close()
        if process is None:
            raise Fatal(f"cannot open pipe `{command}' for output: Cannot allocate memory")
        return Outlet(command, writer, self._locale, ctx.spend_bytes, process)

    def start(self, command: str, streams: dict[int, Stream] | None = None) -> Process | None:
        """Start a command line in the shell; None when that is not possible."""
        try:
            return self._ctx.start(["sh", "-c", self._locale.to_argument(command)], fds=streams)
        except (CommandNotFound, NotExecutable, ForkFailed):
            return None

    async def run(self, command: str) -> int:
        """Run a command line to its end (``system``)."""
        await self.flush()
        process = self.start(command)
        return NOT_FOUND if process is None else exit_status(process, await process.wait())

    # -- flushing and closing ------------------------------------------------------------------

    async def ease(self) -> None:
        """Write complete blocks before the program continues or waits for input."""
        if self._complaints:
            await self._voice_complaints()
        feeding = any(outlet.feeds is not None for outlet in self._opened.values())
        due = [outlet for outlet in self._opened.values() if len(outlet.parts) >= MANY_PARTS]
        for outlet in [self.stdout, *due]:
            shared = outlet is self.stdout and feeding and not self._ctx.stdout.isatty
            try:
                await outlet.flush(whole_blocks=shared)
            except FileError as error:
                raise Fatal(f'print to "{outlet.name}" failed: {error.strerror}') from None

    async def flush(self) -> None:
        """Send everything, everywhere."""
        if self._complaints:
            await self._voice_complaints()
        await self._flush(self.stdout)
        for outlet in list(self._opened.values()):
            await self._flush(outlet)

    async def _flush(self, outlet: Outlet) -> None:
        try:
            await outlet.flush()
        except FileError as error:
            what = f'flush to "{outlet.name}" failed'
            if outlet is self.stdout:
                what = "fflush: cannot flush standard output"
            raise Fatal(f"{what}: {error.strerror}") from None

    async def flush_one(self, name: str) -> bool:
        """Send what was printed into one destination; False if there is none of that name."""
        outlet = self._opened.get(name)
        if outlet is not None:
            await self._flush(outlet)
        return outlet is not None

    async def close(self, name: str) -> int | None:
        """Close one destination; its status, or None if there is none of that name."""
        outlet = self._opened.pop(name, None)
        if outlet is None:
            return None
        if outlet is self.stdout or outlet is self._stderr:
            await self._flush(outlet)
            return 0
        if outlet.feeds is not None and not self._ending:
            await self._flush(self.stdout)
        try:
            return await outlet.close()
        except FileError as error:
            raise Fatal(f'flush to "{outlet.name}" failed: {error.strerror}') from None

    async def close_all(self) -> None:
        """The end: the last opened destination is closed first, stdout flushed last."""
        if self._complaints:
            await self._voice_complaints()
        if self._ctx.stdout.isatty:
            await self.stdout.flush()
        self._ending = True
        for name in reversed(list(self._opened)):
            await self.close(name)
        await self.stdout.flush()
