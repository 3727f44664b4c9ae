"""The variables and arrays of a ``bc`` program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from simcloud.machine.process import Context
from simcloud.userland.commands.text.bc.decimals import ZERO, Number, rescaled

MAX_SCALE = 100_000
_MAX_INPUT_BASE = 36
_MAX_OUTPUT_BASE = 2**31 - 1

Array = dict[int, Number]
Warn = Callable[[str], None]


@dataclass
class Saved:
    """Values that a call hides and that come back at its end."""

    variables: dict[str, Number] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)


class Storage:
    """Values by name. ``scale``, ``ibase`` and ``obase`` are variables that take certain values only."""

    def __init__(self, ctx: Context, scale: int) -> None:
        self._ctx = ctx
        self._variables = {"scale": Number(scale), "ibase": Number(10), "obase": Number(10)}
        self._arrays: dict[str, Array] = {}

    @property
    def scale(self) -> int:
        """How many decimals divisions keep."""
        return self._variables["scale"].value

    @property
    def input_base(self) -> int:
        """The base that constants are read in."""
        return self._variables["ibase"].value

    @property
    def output_base(self) -> int:
        """The base that numbers are shown in."""
        return self._variables["obase"].value

    def variable(self, name: str) -> Number:
        """The value of a variable, zero until it is set."""
        return self._variables.get(name, ZERO)

    def set_variable(self, name: str, value: Number, warn: Warn) -> None:
        """Set a variable, within its limits if it has any."""
        if name in ("ibase", "obase", "scale"):
            value = Number(_limited(name, rescaled(value, 0).value, warn))
        self._variables[name] = value

    def element(self, name: str, index: int) -> Number:
        """The value of an array's element, zero until it is set."""
        return self._arrays.get(name, {}).get(index, ZERO)

    def set_element(self, name: str, index: int, value: Number) -> None:
        """Set an array's element."""
        self._arrays.setdefault(name, {})[index] = value

    def hide(self, saved: Saved, name: str, value: Number | str) -> None:
        """Give a parameter or local its value; for an array (``a[]``), a copy of the array of that name."""
        if name.endswith("[]"):
            saved.arrays[name[:-2]] = self._arrays.get(name[:-2], {})
            source = self._arrays.get(value, {}) if isinstance(value, str) else {}
            self._ctx.spend_bytes(len(source) * 16)
            self._arrays[name[:-2]] = dict(source)
        else:
            saved.variables[name] = self.variable(name)
            self._variables[name] = value if isinstance(value, Number) else ZERO

    def restore(self, saved: Saved) -> None:
        """Bring back what a call has hidden."""
        self._variables.update(saved.variables)
        self._arrays.update(saved.arrays)


def _limited(name: str, value: int, warn: Warn) -> int:
    if name == "scale":
        if value < 0:
            warn("negative scale, set to 0")
        if value > MAX_SCALE:
            warn(f"scale too large, set to {MAX_SCALE}")
        return max(0, min(value, MAX_SCALE))
    highest = _MAX_INPUT_BASE if name == "ibase" else _MAX_OUTPUT_BASE
    if value < 2:
        warn(f"{name} too small, set to 2")
    elif value > highest:
        warn(f"{name} too large, set to {highest}")
    return max(2, min(value, highest))
