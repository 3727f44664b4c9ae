"""Reads scripts in units and caches the parsed units.

The same text runs again and again (loops in a terminal, probes, traps), so parsed scripts are kept in a bounded cache
that all shells share.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.state import State
from simcloud.userland.bash.syntax import Sequence
from simcloud.userland.bash.word_parts import ShellSyntaxError

MAX_SCRIPTS: Final = 512
MAX_CACHED_CHARS: Final = 65_536


class Unit:
    """One complete command line, its end, and bash's warnings about it."""

    __slots__ = ("end", "sequence", "warnings")

    def __init__(self, sequence: Sequence | None, end: int, warnings: list[tuple[int, str]]) -> None:
        self.sequence = sequence
        self.end = end
        self.warnings = warnings


class _Parsed:
    """The units of one text, parsed as far as they were needed."""

    def __init__(self, source: str, first_line: int, extglob: bool) -> None:
        self.parser = Parser(source, first_line, extglob)
        self.units: list[Unit] = []
        self.error: ShellSyntaxError | None = None

    def unit(self, index: int) -> Unit:
        """The unit of that number; raises what bash has to say about the text."""
        if index < len(self.units):
            return self.units[index]
        if self.error is not None:
            raise self.error.again()
        try:
            unit = read_unit(self.parser)
        except ShellSyntaxError as error:
            self.error = error
            raise error.again() from None
        self.units.append(unit)
        return unit


_CACHE: OrderedDict[tuple[str, int, bool], _Parsed] = OrderedDict()


def read_unit(parser: Parser) -> Unit:
    """Parse one unit; running out of stack is reported as what it is, too deep a nesting."""
    try:
        sequence = parser.next_unit()
    except RecursionError:
        raise ShellSyntaxError("limit exceeded: nested too deeply", parser.line_at(parser.position)) from None
    warnings, parser.warnings = parser.warnings, []
    return Unit(sequence, parser.position, warnings)


def _parse(source: str, first_line: int, extglob: bool) -> _Parsed:
    if len(source) > MAX_CACHED_CHARS:
        return _Parsed(source, first_line, extglob)
    key = (source, first_line, extglob)
    parsed = _CACHE.get(key)
    if parsed is None:
        parsed = _CACHE[key] = _Parsed(source, first_line, extglob)
        if len(_CACHE) > MAX_SCRIPTS:
            _CACHE.popitem(last=False)
    else:
        _CACHE.move_to_end(key)
    return parsed


class Reader:
    """Returns the units of a text one by one, parsed with the shell's current options."""

    def __init__(self, source: str, state: State, first_line: int = 1, label: str = "") -> None:
        self.source = source
        self.label = label
        """The label before the line number of a syntax error: ``-c``, ``eval`` or empty."""
        self._state = state
        self._first_line = first_line
        self._extglob = state.shopts.get("extglob", False)
        self._index = 0
        self._position = 0
        self._length = len(source.rstrip())
        self._parse: _Parsed | None = None
        self._own: Parser | None = None

    @property
    def at_end(self) -> bool:
        """Whether nothing follows the unit handed out last."""
        return self._position >= self._length

    def next(self) -> Unit:
        """The next unit; its ``sequence`` is None at the end. Raises ``ShellSyntaxError``."""
        extglob = self._state.shopts.get("extglob", False)
        aliased = bool(self._state.aliases) and self._state.shopts.get("expand_aliases", False)
        if aliased or extglob != self._extglob or self._own is not None:
            unit = self._read_alone(extglob, aliased)
        else:
            if self._parse is None:
                self._parse = _parse(self.source, self._first_line, extglob)
            unit = self._parse.unit(self._index)
            self._index += 1
        self._position = unit.end
        return unit

    def _read_alone(self, extglob: bool, aliased: bool) -> Unit:
        """Read on with a parser of our own, from where the shared one was left."""
        parser = self._own
        if parser is None:
            parser = self._own = Parser(self.source, self._first_line)
            parser.position = self._position
        parser.extglob = extglob
        parser.aliases = self._state.aliases if aliased else None
        return read_unit(parser)
