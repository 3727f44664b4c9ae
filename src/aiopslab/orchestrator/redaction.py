"""What must not be kept: tokens, keys and passwords, blanked wherever a text would go to a file.

An agent may print its own kubeconfig, and sees it as it is; the record of that is blanked. Two ways together: what is known to
be secret here (the values that a terminal was given, and the host's own keys), as it is and inside of base64, and what looks
like a key wherever it comes from. A password that an application's manifests carry in the open is no secret of anybody's and
stays. Who wants to hide a secret of its own in a record (backwards, compressed) is not kept from it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

BLANK: Final = "[redacted]"
LEAST: Final = 12
"""A shorter value is a word that may stand anywhere."""

_LOOKS: Final = re.compile(
    r"""
      (?P<name> (?<![A-Za-z0-9])
        (?:client-key-data|id-token|refresh-token|access_token|api[-_]?key|token|(?:secret[-_])?access[-_]key|client[-_]secret)
        ["']?\s*[:=]\s*["']?)
      [A-Za-z0-9+/=_.~-]{16,}
    | (?P<bearer> \b(?:Bearer|Authorization:\s*Basic)\s+) [A-Za-z0-9+/=_.~-]{8,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    | \bsk-[A-Za-z0-9_-]{16,}
    | \b(?:ghp|gho|ghs|github_pat|hf|gsk|xai|npm|glpat|xox[abp])[-_][A-Za-z0-9_-]{16,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[A-Za-z0-9+/=\s]*(?:-----END\ [A-Z ]*PRIVATE\ KEY-----)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"(?:^|_)(?:(?:API)?KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)"
)


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of an environment's variables that hold keys, by their names."""
    return tuple(value for name, value in environ.items() if _NAMED.search(name.upper()))


class Redactor:
    """Blanks secrets in texts, and in whatever JSON can hold."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        # The longest first: one secret may be the beginning of another.
        values = sorted({one for one in known if len(one) >= LEAST}, key=lambda one: (-len(one), one))
        written = [re.escape(one) for one in values] + [form for one in values for form in _encoded(one)]
        self._known = re.compile("|".join(written)) if written else None

    def text(self, text: str) -> str:
        """A text without what is secret in it."""
        if self._known is not None:
            text = self._known.sub(BLANK, text)
        return _LOOKS.sub(_blanked, text)

    def value(self, value: Any) -> Any:
        """The same of every text in a value, names of members included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return value


def _encoded(secret: str) -> Iterator[str]:
    """Patterns for a secret inside of base64, which looks different at each of three places, and which tools wrap."""
    data = secret.encode("utf-8", "replace")
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()
        # The characters at both ends are made of the neighbours, too.
        own = whole[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        yield r"\s?".join("[+-]" if one == "+" else "[/_]" if one == "/" else one for one in own)


def _blanked(found: re.Match[str]) -> str:
    return (found["name"] or found["bearer"] or "") + BLANK
