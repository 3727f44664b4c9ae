"""What a character is: in a UTF-8 locale a code point, in the C locale a byte.

Text inside the interpreter is always ``str``. In the C locale each character of it stands for one byte.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Locale(Struct, frozen=True):
    """Converts between bytes and text."""

    utf8: bool

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Locale:
        """The locale that environment variables choose."""
        name = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "C"
        return cls(name.upper().replace("-", "").endswith("UTF8"))

    @property
    def encoding(self) -> str:
        """Python's name for the encoding."""
        return "utf-8" if self.utf8 else "latin-1"

    def encode(self, text: str) -> bytes:
        """Text as the bytes it stands for."""
        return text.encode(self.encoding, "surrogateescape")

    def decode(self, data: bytes) -> str:
        """Bytes as text; every byte sequence has one."""
        return data.decode(self.encoding, "surrogateescape")

    def settle(self, text: str) -> str:
        """Text in which single bytes were put together: they may have become characters."""
        return self.decode(self.encode(text))

    def from_argument(self, text: str) -> str:
        """Text of an argument or an environment variable, which is UTF-8 wherever it can be."""
        return text if self.utf8 else text.encode("utf-8", "surrogateescape").decode("latin-1")

    def to_argument(self, text: str) -> str:
        """The opposite of ``from_argument``: for file names and command lines."""
        return text if self.utf8 else text.encode("latin-1").decode("utf-8", "surrogateescape")

    def character(self, code: int) -> str:
        """The character with a number; of what is none, its low byte."""
        if self.utf8 and 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
            return chr(code)
        return self.decode(bytes([code & 0xFF]))

    def upper(self, text: str) -> str:
        """Capital letters, each for one."""
        if text.isascii():
            return text.upper()
        if not self.utf8:
            return text.encode("latin-1").upper().decode("latin-1")
        return "".join(capital if len(capital := char.upper()) == 1 else char for char in text)

    def lower(self, text: str) -> str:
        """Small letters, each for one."""
        if text.isascii():
            return text.lower()
        if not self.utf8:
            return text.encode("latin-1").lower().decode("latin-1")
        return "".join(small if len(small := char.lower()) == 1 else char for char in text)
