"""Formats the output lines of grep: names, numbers, offsets, colours."""

from __future__ import annotations

from simcloud.userland.commands.grep.settings import Settings

FLUSH_BYTES = 65_536

_MATCH, _NAME, _NUMBER, _SEPARATOR = b"01;31", b"35", b"32", b"36"


class Printer:
    """Collects the output for one file; ``name`` is None if lines have no file name."""

    def __init__(self, settings: Settings, name: str | None, width: int) -> None:
        self._settings = settings
        self._name = None if name is None else name.encode("utf-8", "surrogateescape")
        self._width = width if settings.tabs else 0
        self._data = bytearray()

    @property
    def full(self) -> bool:
        """Whether it is time to write what has been collected."""
        return len(self._data) >= FLUSH_BYTES

    def take(self) -> bytes:
        """Return the collected output and clear it."""
        data = bytes(self._data)
        self._data.clear()
        return data

    def line(
        self, number: int, offset: int, text: bytes, parts: list[tuple[int, int]], selected: bool
    ) -> None:
        """A selected line or one of context; ``parts`` are the places to highlight."""
        settings = self._settings
        separator = self._color(b":" if selected else b"-", _SEPARATOR)
        if self._name is not None:
            self._data += self._color(self._name, _NAME)
            self._data += b"\0" if settings.null_names else separator
        for wanted, value in ((settings.numbers, number), (settings.offsets, offset)):
            if wanted:
                self._data += self._color(b"%*d" % (self._width, value), _NUMBER) + separator
        if settings.tabs and text and (settings.numbers or settings.offsets or self._name is not None):
            self._data += b"\t"
        self._data += self._highlight(text, parts) if settings.color else text
        self._data += settings.end

    def separator(self) -> None:
        """Add the separator between groups of lines."""
        if self._settings.separator is not None:
            self._data += self._color(self._settings.separator, _SEPARATOR) + b"\n"

    def count(self, selected: int) -> None:
        """Add the number of selected lines."""
        if self._name is not None:
            self._data += self._color(self._name, _NAME)
            self._data += b"\0" if self._settings.null_names else self._color(b":", _SEPARATOR)
        self._data += b"%d\n" % selected

    def add_name(self, name: str) -> None:
        """A file's name on its own."""
        shown = name.encode("utf-8", "surrogateescape")
        self._data += self._color(shown, _NAME) + (b"\0" if self._settings.null_names else b"\n")

    def _highlight(self, text: bytes, parts: list[tuple[int, int]]) -> bytes:
        pieces: list[bytes] = []
        position = 0
        for begin, end in parts:
            pieces += (text[position:begin], self._color(text[begin:end], _MATCH))
            position = end
        return b"".join((*pieces, text[position:]))

    def _color(self, text: bytes, color: bytes) -> bytes:
        return b"\33[%b\33[K%b\33[m\33[K" % (color + b"m", text) if self._settings.color else text
