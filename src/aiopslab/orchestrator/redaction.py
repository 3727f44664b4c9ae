"""Redaction of tokens, keys and passwords in every text that goes to a file.

An agent may print its own kubeconfig and sees it unchanged; the record of that is redacted. Two methods work together: known
secrets (the credentials of a terminal, and the host's own keys) are found as they are and inside base64, and anything that
looks like a key is found by its form. A password that an application's manifests hold in plain text is not a secret and
stays. Secrets that an agent disguises itself (reversed, compressed) are not found.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

BLANK: Final = "[redacted]"
MIN_CHARS: Final = 12
"""Shorter values are not treated as secrets: they may be common words."""

_FORMS: Final = (
    (
        ("key", "token", "secret"),
        r"""
          (?P<name> (?<![A-Za-z0-9])
            (?:client-key-data|id-token|refresh-token|access_token|api[-_]?key|token|(?:secret[-_])?access[-_]key|client[-_]secret)
            ["']?\s*[:=]\s*["']?)
          [A-Za-z0-9+/=_.~-]{16,}""",
    ),
    (
        ("bearer", "authorization"),
        r"(?P<bearer> \b(?:Bearer|Authorization:\s*Basic)\s+) [A-Za-z0-9+/=_.~-]{8,}",
    ),
    (("eyj",), r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    (("sk-",), r"\bsk-[A-Za-z0-9_-]{16,}"),
    (
        ("ghp", "gho", "ghs", "github_pat", "hf", "gsk", "xai", "npm", "glpat", "xox"),
        r"\b(?:ghp|gho|ghs|github_pat|hf|gsk|xai|npm|glpat|xox[abp])[-_][A-Za-z0-9_-]{16,}",
    ),
    (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (("aiza",), r"\bAIza[A-Za-z0-9_-]{30,}"),
    (
        ("private key",),
        r"-----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[A-Za-z0-9+/=\s]*(?:-----END\ [A-Z ]*PRIVATE\ KEY-----)?",
    ),
)
"""The forms of secrets, each with words of which its text contains one, in any case."""
_HINTS: Final = tuple(hint for hints, _ in _FORMS for hint in hints)
"""Looking for these first is five times as fast as searching every text for the forms."""
_SECRET_FORMS: Final = re.compile("|".join(form for _, form in _FORMS), re.VERBOSE | re.IGNORECASE)
_SECRET_NAMES: Final = re.compile(
    r"(?:^|_)(?:(?:API)?KEYS?|TOKENS?|SECRETS?|(?:PG)?PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)"
)

_STANDARD_BASE64: Final = str.maketrans("-_", "+/")


def find_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of environment variables whose names say that they hold secrets."""
    return tuple(value for name, value in environ.items() if _SECRET_NAMES.search(name.upper()))


class Redactor:
    """Redacts secrets in texts, and in any JSON value."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        # Longest first: one secret may be the beginning of another.
        self._secrets = sorted(
            {secret for secret in known if len(secret) >= MIN_CHARS},
            key=lambda secret: (-len(secret), secret),
        )
        self._encoded = [encoded for secret in self._secrets for encoded in _encode_base64(secret)]
        self._known: re.Pattern[str] | None = None

    def redact(self, text: str) -> str:
        """Return a text with its secrets redacted."""
        if len(text) < MIN_CHARS:
            return text
        if self._may_hold_secret(text):
            text = self._compile_known().sub(BLANK, text)
        folded = text.casefold()
        return _SECRET_FORMS.sub(_blank_match, text) if any(hint in folded for hint in _HINTS) else text

    def _may_hold_secret(self, text: str) -> bool:
        if not self._secrets:
            return False
        if any(secret in text for secret in self._secrets):
            return True
        squeezed = "".join(text.split()).translate(_STANDARD_BASE64)
        return any(encoded in squeezed for encoded in self._encoded)

    def _compile_known(self) -> re.Pattern[str]:
        """Return the pattern of the known secrets. It is compiled at first use: that takes long, and few texts hold any."""
        if self._known is None:
            patterns = [*map(re.escape, self._secrets), *map(_build_base64_pattern, self._encoded)]
            self._known = re.compile("|".join(patterns))
        return self._known

    def redact_value(self, value: Any) -> Any:
        """Return a JSON value with every text in it redacted, keys included."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self.redact(str(name)): self.redact_value(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(item) for item in value]
        return value


def _encode_base64(secret: str) -> Iterator[str]:
    """Yield a secret as it appears inside base64, in each of the three alignments."""
    data = secret.encode("utf-8", "replace")
    for offset in range(3):
        encoded = b64encode(bytes(offset) + data).decode()
        # The characters at both ends also depend on the neighbouring bytes.
        yield encoded[(offset * 8 + 5) // 6 : (offset + len(data)) * 8 // 6]


def _build_base64_pattern(encoded: str) -> str:
    """Return a pattern for a piece of base64 in either alphabet, with line breaks allowed."""
    return r"\s?".join("[+-]" if char == "+" else "[/_]" if char == "/" else char for char in encoded)


def _blank_match(match: re.Match[str]) -> str:
    return (match["name"] or match["bearer"] or "") + BLANK
