"""The patterns of a script at work: the empty one stands for the last that was used."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.patterns import Regex, Search, meter_search
from simcloud.userland.commands.sed.reader import ScriptError
from simcloud.userland.commands.sed.script import Substitution


class Patterns:
    """Searches by pattern, each made once and paid for in turns; ``place`` is told with a mistake."""

    def __init__(self, place: str, spend_turn: Callable[[int], None]) -> None:
        self._place = place
        self._spend_turn = spend_turn
        self._last: Regex | None = None
        self._searches: dict[Regex, Search] = {}

    def search(self, regex: Regex | None) -> Search:
        """Searching with a pattern, or with the last one used if it is the empty one."""
        return self._searches[self._used(regex)]

    def check_groups(self, substitution: Substitution) -> None:
        """The empty pattern is known only now, and so are its groups."""
        if substitution.regex is None and substitution.groups > self._used(None).groups:
            raise ScriptError(
                f"{self._place}: invalid reference \\{substitution.groups} on `s' command's RHS"
            )

    def _used(self, regex: Regex | None) -> Regex:
        if regex is None:
            if self._last is None:
                raise ScriptError(f"{self._place}: no previous regular expression")
            return self._last
        if regex not in self._searches:
            self._searches[regex] = meter_search(regex, self._spend_turn)
        self._last = regex
        return regex
