"""Runs a parsed script over the input.

The charge for reading a line covers the work on it; a jump that reads no line costs a turn, so that an endless loop
ends with a plain message while a long file does not.
"""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.process import Context
from simcloud.patterns import TooMuchWorkError
from simcloud.userland.commands.sed.inplace import InPlace
from simcloud.userland.commands.sed.input import Input, LineFile
from simcloud.userland.commands.sed.output import PANIC, Output, Outputs, unmistakable
from simcloud.userland.commands.sed.patterns import Patterns
from simcloud.userland.commands.sed.reader import ScriptError
from simcloud.userland.commands.sed.script import Command, Script, State
from simcloud.userland.commands.sed.selection import Selection
from simcloud.userland.commands.sed.substitution import substitute

# Lines are paid for by their bytes; short ones and long scripts still take their time.
COMMANDS_A_TURN = 16
# Work on a long pattern space costs more than on a short one.
BYTES_A_TURN = 65_536


class RunOptions(Struct, frozen=True):
    """The options of a run that are not part of the script."""

    quiet: bool
    separate: bool
    unbuffered: bool
    end: bytes
    width: int
    utf8: bool


class _Space(Struct):
    """A pattern or hold space, and whether its line ended in a newline."""

    text: bytearray
    ended: bool = True


class _Appendix(Struct, frozen=True):
    """The output of ``a``, ``r`` and ``R``, written at the end of the cycle."""

    text: bytes = b""
    path: str = ""
    one_line: bool = False


class _Quit(Exception):
    """The script ends sed with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Executor:
    """One run of sed."""

    def __init__(
        self,
        ctx: Context,
        script: Script,
        run_options: RunOptions,
        files: list[str],
        outputs: Outputs,
        in_place: InPlace | None,
    ) -> None:
        self._ctx = ctx
        self._commands = script.commands
        self._run_options = run_options
        self._outputs = outputs
        self._in_place = in_place
        self._out: Output = outputs.stdout
        self._input = Input(ctx, files, run_options.end, outputs.flush)
        self._patterns = Patterns(script.place, ctx.spend_turn)
        self._selection = Selection(self._patterns, self._is_last)
        self._pattern = _Space(bytearray())
        self._hold = _Space(bytearray())
        self._number = 0
        self._substituted = False
        self._keep_pattern = False
        self._appendices: list[_Appendix] = []
        self._line_files: dict[str, LineFile] = {}
        self._executed = 0
        self._most_held_bytes = 0
        self._has_read = True

    async def run(self) -> int:
        """Edit everything; the exit status."""
        await self._open_line_files()
        status = 0
        try:
            await self._cycles()
        except TooMuchWorkError:
            raise ScriptError("memory exhausted", PANIC) from None
        except _Quit as quitting:
            self._input.leave()
            status = quitting.status
        self._finish_file()
        await self._outputs.flush()
        for file in self._line_files.values():
            file.close()
        return status or self._input.status

    async def _open_line_files(self) -> None:
        for command in self._commands:
            path = command.path
            if command.name == "R" and path not in self._line_files:
                self._line_files[path] = await LineFile.open(self._ctx, path, self._run_options.end)

    async def _cycles(self) -> None:
        while self._keep_pattern or await self._next_line():
            self._keep_pattern = False
            if await self._cycle() and not self._run_options.quiet:
                self._out.line(self._pattern.text, self._line_end())
            await self._end_cycle()

    # -- lines ----------------------------------------------------------------------------------

    async def _next_line(self, *, append: bool = False) -> bool:
        """Read a line into the pattern space, or behind what is there."""
        while not await self._input.has_line():
            if not await self._next_file():
                return False
        line = self._input.take()
        self._number += 1
        self._pay_for_command()
        self._has_read = True
        self._substituted = False
        if append:
            self._pattern.text += self._run_options.end + line.text
            self._pay_for_copy(len(line.text))
        else:
            self._pattern.text = bytearray(line.text)
        self._pattern.ended = line.ended
        return True

    async def _next_file(self) -> bool:
        self._finish_file()
        name = await self._input.open_next()
        if name is None:
            return False
        if self._run_options.separate:
            self._start_afresh()
        if self._in_place is not None:
            self._out = Output(self._ctx, None, name)
            self._in_place.begin(name)
        return True

    def _start_afresh(self) -> None:
        """With separate files nothing is left from one to the next."""
        self._number = 0
        self._hold.text.clear()
        for file in self._line_files.values():
            file.rewind()
        for command in self._commands:
            command.reset()

    def _finish_file(self) -> None:
        if self._in_place is not None and self._out is not self._outputs.stdout:
            self._in_place.commit(bytes(self._out.data))
            self._out = self._outputs.stdout

    async def _is_last(self) -> bool:
        return await self._input.is_last(of_all=not self._run_options.separate)

    def _line_end(self) -> bytes:
        return self._run_options.end if self._pattern.ended else b""

    async def _end_cycle(self) -> None:
        for appendix in self._appendices:
            await self._append(appendix)
        self._appendices.clear()
        if self._out.full or self._run_options.unbuffered:
            await self._outputs.flush()

    async def _append(self, appendix: _Appendix) -> None:
        if not appendix.path:
            self._out.write(appendix.text)
            return
        if not appendix.one_line:
            self._out.write(await self._file_content(appendix.path))
            return
        line = await self._line_files[appendix.path].next_line(self._ctx)
        if line:
            self._out.write(line)

    async def _file_content(self, path: str) -> bytes:
        """A file's content; nothing if it cannot be read."""
        file = await LineFile.open(self._ctx, path, self._run_options.end)
        content = await file.content(self._ctx)
        file.close()
        return content

    # -- commands -------------------------------------------------------------------------------

    async def _cycle(self) -> bool:
        """Run the script once; whether the pattern space is to be printed."""
        commands = self._commands
        counter = 0
        while counter < len(commands):
            command = commands[counter]
            counter += 1
            self._pay_for_command()
            selected = command.first is None or await self._selection.takes(
                command, self._number, self._pattern.text
            )
            if command.name == "{":
                counter = counter if selected else command.target
            elif not selected:
                continue
            elif command.name in "btT":
                if self._jumps(command):
                    counter = command.target
                    await self._pay_for_jump()
            elif command.name in "dDc":
                if self._delete(command):
                    return False
            elif command.name in "nN":
                if not await self._read(command.name):
                    return True
            else:
                await self._execute(command)
        return True

    def _jumps(self, command: Command) -> bool:
        substituted, self._substituted = self._substituted, self._substituted and command.name == "b"
        return command.name == "b" or substituted == (command.name == "t")

    def _pay_for_command(self) -> None:
        self._executed += 1
        if self._executed % COMMANDS_A_TURN == 0:
            self._ctx.spend_turn()

    async def _pay_for_jump(self) -> None:
        if not self._has_read:
            self._ctx.spend_turn(1 + len(self._pattern.text) // BYTES_A_TURN)
        self._has_read = False
        if self._out.full:
            await self._outputs.flush()

    def _delete(self, command: Command) -> bool:
        """``d``, ``D`` and ``c``: end the cycle without printing."""
        if command.name == "c" and (command.second is None or command.state is not State.ACTIVE):
            self._insert(command.text)
        _, newline, tail = self._pattern.text.partition(self._run_options.end)
        if command.name == "D" and newline:
            self._pattern.text = tail
            self._keep_pattern = True
            self._ctx.spend_turn(0 if self._has_read else 1)
            self._has_read = False
        return True

    def _insert(self, text: bytes) -> None:
        if text:
            self._out.write(text[:-1] + self._run_options.end)

    async def _read(self, name: str) -> bool:
        """``n`` and ``N``: go on with the next line; False if there is none."""
        if await self._is_last():
            return False
        if name == "n" and not self._run_options.quiet:
            self._out.line(self._pattern.text, self._line_end())
        await self._end_cycle()
        return await self._next_line(append=name == "N")

    async def _execute(self, command: Command) -> None:
        pattern, hold = self._pattern, self._hold
        match command.name:
            case "s":
                await self._substitute(command)
            case "p":
                self._out.line(pattern.text, self._line_end())
            case "P":
                self._out.line(*self._first_line())
            case "g":
                self._pattern = self._copy(hold)
            case "h":
                self._hold = self._copy(pattern)
            case "G":
                self._join(pattern, hold)
            case "H":
                self._join(hold, pattern)
            case "x":
                self._pattern, self._hold = hold, pattern
            case "z":
                pattern.text.clear()
            case "y":
                self._translate(command)
            case "i":
                self._insert(command.text)
            case "a":
                self._appendices.append(_Appendix(command.text))
            case "r" | "R":
                self._appendices.append(_Appendix(path=command.path, one_line=command.name == "R"))
            case "w":
                await self._outputs.line(command.path, pattern.text, self._line_end())
            case "W":
                await self._outputs.line(command.path, *self._first_line())
            case "=":
                self._out.write(b"%d" % self._number + self._run_options.end)
            case "F":
                self._out.write(self._input.name.encode("utf-8", "surrogateescape") + self._run_options.end)
            case "l":
                width = self._run_options.width if command.number is None else command.number
                self._out.write(unmistakable(bytes(pattern.text), width, self._run_options.end))
            case "q" | "Q":
                await self._quit(command)

    def _first_line(self) -> tuple[bytearray, bytes]:
        """Return the first line of the pattern space, and its terminator."""
        first, newline, _ = self._pattern.text.partition(self._run_options.end)
        return first, bytes(newline) or self._line_end()

    def _copy(self, space: _Space) -> _Space:
        self._pay_for_copy(len(space.text))
        return _Space(bytearray(space.text), space.ended)

    def _join(self, space: _Space, other: _Space) -> None:
        space.text += self._run_options.end + other.text
        space.ended = other.ended
        self._pay_for_copy(len(other.text))

    def _pay_for_copy(self, size_bytes: int) -> None:
        """Copying takes turns if there is much of it; memory is paid for when more is held than ever."""
        if size_bytes >= BYTES_A_TURN:
            self._ctx.spend_turn(size_bytes // BYTES_A_TURN)
        held_bytes = len(self._pattern.text) + len(self._hold.text)
        if held_bytes > self._most_held_bytes:
            self._ctx.spend_bytes(held_bytes - self._most_held_bytes)
            self._most_held_bytes = held_bytes

    async def _substitute(self, command: Command) -> None:
        substitution = command.substitution
        assert substitution is not None
        self._patterns.check_groups(substitution)
        text, search = bytes(self._pattern.text), self._patterns.search(substitution.regex)
        changed = substitute(text, substitution, search, utf8=self._run_options.utf8)
        if changed is None:
            return
        self._pattern.text = bytearray(changed)
        self._pay_for_copy(len(changed))
        self._substituted = True
        if substitution.show:
            self._out.line(self._pattern.text, self._line_end())
        if substitution.path:
            await self._outputs.line(substitution.path, self._pattern.text, self._line_end())

    def _translate(self, command: Command) -> None:
        encoding = "utf-8" if self._run_options.utf8 else "latin-1"
        text = self._pattern.text.decode(encoding, "surrogateescape")
        self._pattern.text = bytearray(
            text.translate(command.translation).encode(encoding, "surrogateescape")
        )

    async def _quit(self, command: Command) -> None:
        if command.name == "q":
            if not self._run_options.quiet:
                self._out.line(self._pattern.text, self._line_end())
            self._out.end_line()
            await self._end_cycle()
        raise _Quit(command.number or 0)
