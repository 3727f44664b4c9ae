"""Command and process substitution: commands whose output or input becomes part of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, ForkFailed, Stream
from simcloud.userland.bash.control import Abandoned
from simcloud.userland.bash.scripts import Reader
from simcloud.userland.bash.syntax import ProcessSubstitution, Sequence, Simple
from simcloud.userland.bash.word_parts import ShellSyntaxError

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Runner, Shell

HIGHEST_DESCRIPTOR: Final = 63


class Substitutions:
    """Runs substitutions for one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.open_descriptors: list[int] = []
        """Ends of pipes that process substitutions of the current command hold open."""

    async def capture(self, body: Sequence) -> str:
        """Return the output of commands. ``$(< file)`` needs no process."""
        if not body.items:
            self.shell.substitution_status = 0
            return ""
        only = body.items[0][0]
        if (
            len(body.items) == 1
            and isinstance(only, Simple)
            and not only.words
            and not only.assignments
            and len(only.redirects) == 1
            and only.redirects[0].operator == "<"
        ):
            return await self._file(only)

        async def run(child: Shell) -> int:
            return await child.run_command(body if len(body.items) != 1 or body.items[0][1] else only)

        return await self._collect(run)

    async def capture_text(self, source: str, line: int) -> str:
        """Parse and run the text of backquotes."""
        reader = Reader(source, self.shell.state, line, "command substitution")

        async def run(child: Shell) -> int:
            return await child.run_reader(Reader(source, child.state, line, reader.label))

        try:
            first = reader.next()
            for warned_line, warning in first.warnings:
                await self.shell.err(f"{self.shell.error_name}: line {warned_line}: warning: {warning}\n")
            if first.sequence is not None and reader.next().sequence is None:
                return await self.capture(first.sequence)
        except ShellSyntaxError as error:
            await self.shell.report_syntax_error(error, reader.label)
            self.shell.substitution_status = 2
            return ""
        if first.sequence is None:
            self.shell.substitution_status = 0
            return ""
        return await self._collect(run)

    async def _collect(self, run: Runner) -> str:
        shell = self.shell
        reader, writer = shell.ctx.pipe()
        fds = dict(shell.ctx.process.streams)
        fds[1] = writer
        try:
            process = shell.fork(run, fds, substitution=True)
        except ForkFailed as error:
            await shell.fork_failed(error)
            raise Abandoned(254) from None
        finally:
            writer.close()
        pieces: list[bytes] = []
        while data := await reader.read():
            shell.ctx.spend_bytes(len(data))
            pieces.append(data)
        reader.close()
        shell.substitution_status = await process.wait()
        shell.abandon_if_interrupted(process)
        return await self._text(b"".join(pieces))

    async def _text(self, data: bytes) -> str:
        if b"\0" in data:
            await self.shell.complain("warning: command substitution: ignored null byte in input")
            data = data.replace(b"\0", b"")
        return data.decode("utf-8", "surrogateescape").rstrip("\n")

    async def _file(self, command: Simple) -> str:
        shell = self.shell
        redirect = command.redirects[0]
        path = await shell.redirections.single_target(redirect)
        if path is None:
            shell.substitution_status = 1
            return ""
        pieces: list[bytes] = []
        try:
            stream = await shell.ctx.open(path)
            try:
                while data := await stream.read():
                    shell.ctx.spend_bytes(len(data))
                    pieces.append(data)
            finally:
                stream.close()
        except (FileError, BadDescriptor) as error:
            await shell.complain(f"{path}: {error}")
            shell.substitution_status = 1
            return ""
        shell.substitution_status = 0
        return await self._text(b"".join(pieces))

    async def process(self, part: ProcessSubstitution) -> str:
        """Start a command at the other end of a pipe; the path of our end."""
        shell = self.shell
        reader, writer = shell.ctx.pipe()
        ours, theirs = (reader, writer) if part.direction == "<" else (writer, reader)
        streams = shell.ctx.process.streams
        fds: dict[int, Stream] = {
            number: stream for number, stream in streams.items() if number not in self.open_descriptors
        }
        fds[1 if part.direction == "<" else 0] = theirs

        async def run(child: Shell) -> int:
            items = part.body.items
            return await child.run_command(items[0][0] if len(items) == 1 and not items[0][1] else part.body)

        try:
            process = shell.fork(run, fds, substitution=True)
        except ForkFailed as error:
            ours.close()
            await shell.fork_failed(error)
            raise Abandoned(254) from None
        finally:
            theirs.close()
        shell.last_background = process.pid
        shell.jobs.remember(process)
        number = HIGHEST_DESCRIPTOR
        while number in streams:
            number -= 1
        streams[number] = ours
        self.open_descriptors.append(number)
        return f"/dev/fd/{number}"

    def close_after(self, kept: int) -> None:
        """Let go of the descriptors opened since there were ``kept`` of them."""
        streams = self.shell.ctx.process.streams
        while len(self.open_descriptors) > kept:
            stream = streams.pop(self.open_descriptors.pop(), None)
            if stream is not None:
                stream.close()
