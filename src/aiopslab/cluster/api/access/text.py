"""Text as Kubernetes quotes it inside sentences."""

from __future__ import annotations

from collections.abc import Iterable

_SHORT = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def quoted(text: str) -> str:
    """A text between double quotes, escaped as Go's ``%q`` escapes it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(_escaped(character) for character in text)}"'


def quoted_list(texts: Iterable[str]) -> str:
    """Texts as Go's ``%q`` prints a list: ``["a" "b"]``."""
    return f"[{' '.join(quoted(text) for text in texts)}]"


def aggregate(sentences: Iterable[str]) -> str:
    """Several errors as one: the only one bare, more of them in brackets, none twice."""
    told = list(dict.fromkeys(sentences))
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
