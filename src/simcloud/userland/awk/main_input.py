"""The main input: the files and assignments of the command line, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from simcloud.machine.files import FileError
from simcloud.userland.awk import variables
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.runtime import Runtime
from simcloud.userland.awk.values import Input, to_number

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=(.*)", re.DOTALL)


class MainInput:
    """Reads the files of ARGV. Calls ``assign`` for each ``name=value`` among them.

    ``place`` is the last executed place in the program, for messages about files.
    """

    def __init__(self, runtime: Runtime, assign: Callable[[str, str], None]) -> None:
        self._runtime = runtime
        self._assign = assign
        self.place = ""
        self._next_argument = 1
        self._any_file = False

    async def next_record(self) -> str | None:
        """The next record, with NR, FNR and RT set; None at the end of everything."""
        runtime = self._runtime
        while True:
            reader = runtime.inputs.main
            if reader is not None:
                text = reader.pop()
                if text is not None:
                    runtime.globals[variables.NR] += 1.0
                    runtime.globals[variables.FNR] += 1.0
                    runtime.globals[variables.RT] = reader.terminator
                    return text
            await runtime.outputs.ease()
            if not await self.more():
                return None

    async def more(self) -> bool:
        """Get further records ready, opening the next file if need be; False at the end."""
        inputs = self._runtime.inputs
        while True:
            if inputs.main is not None:
                try:
                    if await inputs.main.fill():
                        return True
                except FileError as error:
                    name = self._runtime.to_text(self._runtime.globals[variables.FILENAME])
                    raise Fatal(f"error reading input file `{name}': {error.strerror}") from None
                inputs.close_main()
            if not await self._open_next():
                return False

    def skip_file(self) -> None:
        """Leave the rest of the present file (``nextfile``)."""
        self._runtime.inputs.close_main()

    async def _open_next(self) -> bool:
        runtime = self._runtime
        arguments = runtime.globals[variables.ARGV]
        while self._next_argument < to_number(runtime.globals[variables.ARGC]):
            runtime.turn()
            argument = arguments.get(str(self._next_argument), "")
            self._next_argument += 1
            if isinstance(argument, dict):
                shown = f'ARGV["{self._next_argument - 1}"]'
                raise Fatal(f"attempt to use array `{shown}' in a scalar context", self.place)
            name = runtime.to_text(argument)
            assignment = _ASSIGNMENT.fullmatch(name)
            if assignment is not None:
                self._assign(assignment.group(1), assignment.group(2))
            elif name and await self._open(name):
                return True
        if self._any_file:
            return False
        return await self._open("-")

    async def _open(self, name: str) -> bool:
        runtime = self._runtime
        self._any_file = True
        runtime.globals[variables.FNR] = 0.0
        try:
            await runtime.inputs.open_main(name)
        except FileError as error:
            if error.code == "EISDIR":
                runtime.warn(f"command line argument `{name}' is a directory: skipped", self.place)
                return False
            raise Fatal(f"cannot open file `{name}' for reading: {error.strerror}", self.place) from None
        runtime.globals[variables.FILENAME] = Input(name)
        return True
