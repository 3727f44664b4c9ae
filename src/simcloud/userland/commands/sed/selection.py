"""Selects the lines that a command applies to: addresses and the ranges between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from simcloud.userland.commands.sed.patterns import Patterns
from simcloud.userland.commands.sed.script import Address, Command, Kind, State

_OPEN_ENDED = (Kind.LAST, Kind.REGEX, Kind.STEP)


class Selection:
    """Compares the current line with addresses. ``is_last`` says whether no line follows it."""

    def __init__(self, patterns: Patterns, is_last: Callable[[], Awaitable[bool]]) -> None:
        self._patterns = patterns
        self._is_last = is_last
        self._number = 0
        self._text = bytearray()

    async def takes(self, command: Command, number: int, text: bytearray) -> bool:
        """Whether a command is for a line of that number, with this text in the pattern space."""
        if command.first is None:
            return True
        self._number, self._text = number, text
        return await self._in_range(command) != command.negated

    async def _in_range(self, command: Command) -> bool:
        first, second = command.first, command.second
        assert first is not None
        if command.state is State.ACTIVE:
            return await self._still_in_range(command)
        if second is None:
            return await self._matches(first)
        if not await self._range_begins(command, first, second):
            return False
        if second.kind in _OPEN_ENDED:
            ends = second.kind is not Kind.REGEX and await self._matches(second)
            command.state = State.CLOSED if ends else State.ACTIVE
        else:
            command.range_end = self._range_end(second)
            command.state = State.ACTIVE if command.range_end > self._number else State.CLOSED
        return True

    async def _range_begins(self, command: Command, first: Address, second: Address) -> bool:
        """A range from a line number may begin later, if no one looked when that line went by."""
        if first.kind is not Kind.LINE or self._number <= first.number or command.state is State.CLOSED:
            return await self._matches(first)
        return second.kind is not Kind.LINE or self._number <= second.number

    def _range_end(self, second: Address) -> int:
        if second.kind is Kind.PLUS:
            return self._number + second.number
        if second.kind is Kind.MULTIPLE:
            return (self._number // second.number + 1) * second.number if second.number else 0
        return second.number

    async def _still_in_range(self, command: Command) -> bool:
        second = command.second
        assert second is not None
        if second.kind in _OPEN_ENDED:
            ends = await self._matches(second)
        else:
            ends = self._number >= command.range_end
        if ends:
            command.state = State.CLOSED
        return second.kind is not Kind.LINE or self._number <= command.range_end

    async def _matches(self, address: Address) -> bool:
        match address.kind:
            case Kind.LINE:
                return self._number == address.number
            case Kind.STEP:
                return self._number >= address.number and (self._number - address.number) % address.step == 0
            case Kind.LAST:
                return await self._is_last()
            case _:
                return self._patterns.search(address.regex)(bytes(self._text), 0) is not None
