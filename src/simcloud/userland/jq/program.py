"""A compiled jq program and the machine it runs on."""

from __future__ import annotations

from simcloud.userland.jq import forms_control, forms_paths, forms_values  # noqa: F401 - they register
from simcloud.userland.jq.compiler import Compiler
from simcloud.userland.jq.machine import Machine
from simcloud.userland.jq.parser import parse_program
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value


class Program:
    """A compiled program and the machine it runs on."""

    def __init__(self, source: bytes, run: Run, constants: dict[str, Value]) -> None:
        """Raises ``CompileErrors`` if the program is invalid."""
        self.machine = Machine(run)
        compiler = Compiler(self.machine, source, constants)
        self._entry, self._frame = compiler.program(parse_program(source))

    def start(self, value: Value) -> None:
        """Start with an input; ``machine.proceed`` then runs the program."""
        self.machine.start(self._entry, self._frame.copy(), value)
