"""What a ``bc`` program prints: texts, and numbers broken over lines where they are too long."""

from __future__ import annotations

from simcloud.machine.process import Context

_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "q": '"', "t": "\t", "\\": "\\"}


class Output:
    """Collects output and knows the column it has reached. A line length of 0 breaks no numbers."""

    def __init__(self, ctx: Context, line_length: int) -> None:
        self._ctx = ctx
        self._line_length = line_length
        self._column = 0
        self._parts: list[str] = []

    def take(self) -> str:
        """All that was printed since the last time."""
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def write(self, text: str) -> None:
        """Print a text as it is."""
        self._ctx.spend_bytes(len(text))
        self._parts.append(text)
        self._column = len(text) - text.rfind("\n") - 1 if "\n" in text else self._column + len(text)

    def write_escaped(self, text: str) -> None:
        """Print a text in which a backslash and a letter stand for something else."""
        self.write(_unescaped(text))

    def write_number(self, digits: str) -> None:
        """Print digits, broken with a backslash where lines would get too long."""
        self._ctx.spend_bytes(len(digits))
        width = self._line_length - 2
        while self._line_length and self._column + len(digits) > width:
            room = max(0, width - self._column)
            self._parts.append(digits[:room] + "\\\n")
            digits, self._column = digits[room:], 0
        self._parts.append(digits)
        self._column += len(digits)


def _unescaped(text: str) -> str:
    shown, at = "", 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
            shown += _ESCAPES.get(text[at], "")
        else:
            shown += text[at]
        at += 1
    return shown
