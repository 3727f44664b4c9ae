"""The sources of records: the files of the command line, and those that ``getline`` opens."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Process, Stream
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.output import Outputs, exit_status
from simcloud.userland.awk.records import RecordReader, Separator


class Source:
    """An input of ``getline``: a file, or a command that writes into a pipe."""

    def __init__(self, reader: RecordReader, process: Process | None) -> None:
        self.reader = reader
        self._process = process

    async def close(self) -> int:
        """Stop reading; the command's status, 0 for a file."""
        self.reader.stream.close()
        return 0 if self._process is None else exit_status(self._process, await self._process.wait())


class Inputs:
    """All inputs of a program. ``MainInput`` knows the order of the command line's files."""

    def __init__(self, ctx: Context, locale: Locale, outputs: Outputs, separator: Separator) -> None:
        self._ctx = ctx
        self._locale = locale
        self._outputs = outputs
        self._separator = separator
        self._opened: dict[str, Source] = {}
        self.main: RecordReader | None = None

    def change_separator(self, separator: Separator) -> None:
        """RS was assigned: everything that is being read is affected."""
        self._separator = separator
        if self.main is not None:
            self.main.change(separator)
        for source in self._opened.values():
            source.reader.change(separator)

    async def open_main(self, name: str) -> None:
        """Begin to read a file of the command line (``-`` is stdin). Raises ``FileError``."""
        self.main = self._reader(await self._open_file(name))

    def close_main(self) -> None:
        """Done with that file."""
        if self.main is not None:
            self.main.stream.close()
            self.main = None

    async def getline(self, kind: str, name: str) -> RecordReader:
        """The reader of a file (``<``) or command (``|``), opened if need be. Raises ``FileError``."""
        if not name:
            raise Fatal(f"expression for `{kind}' redirection has null string value")
        source = self._opened.get(name)
        if source is None:
            source = self._opened[name] = await (
                self._open_command(name) if kind == "|" else self._open_source(name)
            )
        return source.reader

    async def _open_source(self, name: str) -> Source:
        return Source(self._reader(await self._open_file(name)), None)

    async def _open_command(self, command: str) -> Source:
        await self._outputs.flush()
        ctx = self._ctx
        reader, writer = ctx.pipe()
        process = self._outputs.start(command, {0: ctx.stdin, 1: writer, 2: ctx.stderr})
        writer.close()
        if process is None:
            reader.close()
            raise FileError("ENOMEM", command)
        return Source(self._reader(reader), process)

    async def _open_file(self, name: str) -> Stream:
        if name in ("-", "/dev/stdin"):
            return self._ctx.stdin.dup()
        path = self._locale.to_argument(name)
        if self._ctx.files.is_dir(path):
            raise FileError("EISDIR", path)
        return await self._ctx.open(path)

    def _reader(self, stream: Stream) -> RecordReader:
        return RecordReader(stream, self._separator, self._locale, self._ctx.spend_bytes)

    async def close(self, name: str) -> int | None:
        """Close what ``getline`` opened under a name; None if there is no such."""
        source = self._opened.pop(name, None)
        return None if source is None else await source.close()

    async def close_all(self) -> None:
        """Close all inputs; commands that still write get a broken pipe."""
        self.close_main()
        for name in reversed(list(self._opened)):
            await self.close(name)
