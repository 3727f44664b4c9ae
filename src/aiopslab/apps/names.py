"""Other names for the components of an application, under which it can be deployed as well.

An agent may know the components of a published application by heart. With other names, the same application has other
Deployments, Services, labels, volumes, addresses and services in its traces, so that knowing the usual ones is worth nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final


class Names:
    """Other words for those that an application's names are made of.

    The new words sort like the old ones, so that objects are created in the same order under both names.
    """

    def __init__(self, words: Mapping[str, str], pattern: str) -> None:
        """``pattern`` is a regular expression around ``{words}``, which matches a word only where it is part of a name."""
        self.words: Final = words
        longest_first = "|".join(sorted(words, key=len, reverse=True))
        self._pattern = re.compile(pattern.replace("{words}", longest_first))

    def rename(self, text: str) -> str:
        """Return a name, or a text with names, with the other words."""
        return self._pattern.sub(lambda match: self.words[match[0]], text)


ORIGINAL: Final = Names({}, "(?!)")
"""The application's own names."""
