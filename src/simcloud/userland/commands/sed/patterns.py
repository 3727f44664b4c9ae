"""The patterns of a running script. The empty pattern means the last one used."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.patterns import Regex, Search, meter_search
from simcloud.userland.commands.sed.reader import ScriptError
from simcloud.userland.commands.sed.script import Substitution


class Patterns:
    """Caches one metered search per pattern; ``place`` is the prefix of error messages."""

    def __init__(self, place: str, spend_turn: Callable[[int], None]) -> None:
        self._place = place
        self._spend_turn = spend_turn
        self._last: Regex | None = None
        self._searches: dict[Regex, Search] = {}

    def search(self, regex: Regex | None) -> Search:
        """Return the search for a pattern; None means the last one used."""
        return self._searches[self._resolve(regex)]

    def check_groups(self, substitution: Substitution) -> None:
        """Check references to groups of the empty pattern, which is known only at run time."""
        if substitution.regex is None and substitution.groups > self._resolve(None).groups:
            raise ScriptError(
                f"{self._place}: invalid reference \\{substitution.groups} on `s' command's RHS"
            )

    def _resolve(self, regex: Regex | None) -> Regex:
        if regex is None:
            if self._last is None:
                raise ScriptError(f"{self._place}: no previous regular expression")
            return self._last
        if regex not in self._searches:
            self._searches[regex] = meter_search(regex, self._spend_turn)
        self._last = regex
        return regex
