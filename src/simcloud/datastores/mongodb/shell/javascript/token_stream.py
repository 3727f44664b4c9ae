"""The stream of tokens that the two halves of the parser share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

from simcloud.datastores.mongodb.shell.javascript.syntax import Source
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure, Token
from simcloud.datastores.mongodb.shell.javascript.words import Words

MAX_NESTING: Final = 120
"""How deep a script may nest: running it takes a few frames of Python's own stack for each level."""

MAX_CHAIN: Final = 200
"""How long a chain of properties and calls may be, for the same reason."""

_Result = TypeVar("_Result")


class Reader:
    """Steps over tokens, and complains about what it finds."""

    def __init__(self, source: Source, tokens: list[Token], words: Words) -> None:
        self.source = source
        self.words = words
        self.tokens = tokens
        self.position = 0
        self.nesting = 0
        self.declared: list[str] = []

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.position]

    def peek(self, offset: int = 1) -> Token:
        """A token further on."""
        return self.tokens[min(self.position + offset, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Step over one token."""
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def at_sign(self, text: str) -> bool:
        """Whether this sign comes next."""
        token = self.tokens[self.position]
        return token.kind == "sign" and token.text == text

    def at_word(self, text: str) -> bool:
        """Whether this name or keyword comes next."""
        token = self.tokens[self.position]
        return token.text == text and token.kind in ("name", "keyword")

    def accept(self, text: str) -> bool:
        """Step over a sign or word if it comes next."""
        token = self.tokens[self.position]
        if token.text == text and token.kind in ("sign", "name", "keyword"):
            self.position += 1
            return True
        return False

    def expect(self, text: str, what: str = "") -> Token:
        """Step over a sign or word that must come next; ``what`` is the phrase for where it belongs."""
        token = self.tokens[self.position]
        if token.text == text and token.kind in ("sign", "name", "keyword"):
            return self.advance()
        raise SyntaxFailure(
            self.words.missing(text, what, token.text, token.kind),
            token.at,
            incomplete=token.kind == "end",
        )

    def name(self) -> str:
        """Step over a name that must come next."""
        if self.token.kind != "name":
            self.unexpected()
        return self.advance().text

    def unexpected(self) -> NoReturn:
        """Complain about the token that comes next."""
        token = self.token
        raise SyntaxFailure(
            self.words.unexpected(token.text, token.kind), token.at, incomplete=token.kind == "end"
        )

    def end_statement(self) -> None:
        """A semicolon, or where one may be left out."""
        if self.accept(";") or self.at_sign("}"):
            return
        token = self.token
        if token.kind != "end" and not token.newline_before:
            at = self.tokens[self.position - 1].end if self.words.is_v8 else token.at
            raise SyntaxFailure(self.words.missing(";", "", token.text, token.kind), at)

    def nested(self, read: Callable[[], _Result]) -> _Result:
        """Read something one level deeper."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise SyntaxFailure(self.words.too_deep(), self.token.at)
        try:
            return read()
        finally:
            self.nesting -= 1
