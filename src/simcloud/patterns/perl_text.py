"""The text of a Perl pattern as it is read: the place, the options in force there, and what stands between items."""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.patterns.errors import RegexError

MAX_REPEAT = 65535


@dataclass(frozen=True)
class Flags:
    """The inline options: ``i m s x n U``."""

    fold: bool = False
    multiline: bool = False
    dotall: bool = False
    extended: bool = False
    no_capture: bool = False
    ungreedy: bool = False


FLAG_LETTERS = {
    "i": "fold",
    "m": "multiline",
    "s": "dotall",
    "x": "extended",
    "n": "no_capture",
    "U": "ungreedy",
}


def is_number(text: str) -> bool:
    """Whether it is plain digits, at least one."""
    return bool(text) and all(digit in "0123456789" for digit in text)


class PatternText:
    """A pattern, and how far it has been read. ``quoting`` is true between ``\\Q`` and ``\\E``."""

    def __init__(self, text: str, flags: Flags) -> None:
        self.text = text
        self.flags = flags
        self.position = 0
        self.quoting = False

    def at(self, offset: int = 0) -> str:
        """The character there, or an empty string at the end."""
        return self.text[self.position + offset : self.position + offset + 1]

    def accept(self, word: str) -> bool:
        """Step over a word if it stands here."""
        found = self.text.startswith(word, self.position)
        self.position += len(word) if found else 0
        return found

    def until(self, closing: str) -> str:
        """What stands before a closing mark; that is stepped over, too."""
        name, closed, _ = self.text[self.position :].partition(closing)
        if not closed:
            raise RegexError("syntax error in subpattern name (missing terminator?)")
        self.position += len(name) + 1
        return name

    def skip_quotes_and_blanks(self) -> bool:
        """Step over one thing that is no item: ``\\Q``, ``\\E``, a comment, a blank that means nothing."""
        if self.accept("\\E"):
            self.quoting = False
            return True
        if self.quoting:
            return False
        if self.accept("\\Q"):
            self.quoting = True
            return True
        if self.text.startswith("(?#", self.position):
            end = self.text.find(")", self.position)
            if end < 0:
                raise RegexError("missing ) after (?# comment")
            self.position = end + 1
            return True
        return self.flags.extended and self.skip_blanks()

    def skip_blanks(self) -> bool:
        """Step over a blank, or a comment up to its line's end."""
        if self.at() == "#":
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end + 1
            return True
        if self.at() in (" ", "\t", "\n", "\r", "\f", "\v"):
            self.position += 1
            return True
        return False

    def bounds(self) -> tuple[int, int | None] | None:
        """The numbers in ``{n,m}`` at this place; None if the brace is a plain character."""
        content, closed, _ = self.text[self.position + 1 : self.position + 64].partition("}")
        low, comma, high = content.partition(",")
        if not closed or not is_number(low) or (high and not is_number(high)):
            return None
        if int(low) > MAX_REPEAT or int(high or 0) > MAX_REPEAT:
            raise RegexError("number too big in {} quantifier")
        if high and int(low) > int(high):
            raise RegexError("numbers out of order in {} quantifier")
        if not comma:
            return int(low), int(low)
        return int(low), int(high) if high else None
