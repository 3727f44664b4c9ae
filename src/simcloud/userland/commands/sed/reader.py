"""Reads a sed script character by character and keeps the position for error messages.

A script consists of chunks: each ``-e`` and each ``-f`` is one. Characters are bytes here.
"""

from __future__ import annotations

from msgspec import Struct


class ScriptError(Exception):
    """The script is invalid. The text is what sed prints after its name."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Chunk(Struct, frozen=True):
    """One ``-e`` (by its number) or one ``-f`` (by its name)."""

    text: str
    number: int = 0
    name: str = ""


class Reader:
    """A position in the script."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.chunks = chunks
        self._index = 0
        self._position = 0

    def get(self) -> str:
        """The next character; an empty string at the end of the chunk."""
        text = self.chunks[self._index].text
        char = text[self._position : self._position + 1]
        self._position += len(char)
        return char

    def back(self, char: str) -> None:
        """Put the character that was just read back."""
        self._position -= len(char)

    def get_nonblank(self) -> str:
        """The next character that is no space or tab."""
        char = self.get()
        while char in (" ", "\t"):
            char = self.get()
        return char

    def peek(self) -> str:
        """The next character without reading it."""
        char = self.get()
        self.back(char)
        return char

    def next_chunk(self) -> bool:
        """Go on to the next chunk, if there is one."""
        if self._index + 1 >= len(self.chunks):
            return False
        self._index += 1
        self._position = 0
        return True

    def number(self, digit: str) -> int:
        """The number that begins with this digit."""
        digits = digit
        while (char := self.get()) and char in "0123456789":
            digits += char
        self.back(char)
        return int(digits[:18])

    def place(self, *, whole: bool = False) -> str:
        """Return the position for sed's messages; ``whole`` leaves out the character."""
        chunk = self.chunks[self._index]
        if chunk.name:
            return f"file {chunk.name} line {chunk.text.count(chr(10), 0, self._position) + 1}"
        return f"-e expression #{chunk.number}, char {0 if whole else self._position}"

    def mistake(self, what: str) -> ScriptError:
        """An error at this place."""
        return ScriptError(f"{self.place()}: {what}")
