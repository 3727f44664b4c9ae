"""A stream of tokens, the base of the parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

from simcloud.datastores.mongodb.shell.javascript.error_messages import ErrorMessages
from simcloud.datastores.mongodb.shell.javascript.syntax import Source
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure, Token

MAX_NESTING: Final = 120
"""Maximum nesting of a script: each level takes a few frames of Python's stack."""

MAX_CHAIN: Final = 200
"""Maximum length of a chain of properties and calls, for the same reason."""

_Result = TypeVar("_Result")


class TokenStream:
    """Steps over tokens and raises errors for unexpected ones."""

    def __init__(self, source: Source, tokens: list[Token], messages: ErrorMessages) -> None:
        self.source = source
        self.messages = messages
        self.tokens = tokens
        self.position = 0
        self.nesting = 0
        self.declared: list[str] = []

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.position]

    def peek(self, offset: int = 1) -> Token:
        """Return a later token."""
        return self.tokens[min(self.position + offset, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Step over one token."""
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def at_sign(self, text: str) -> bool:
        """Return whether this sign comes next."""
        token = self.tokens[self.position]
        return token.kind == "sign" and token.text == text

    def at_word(self, text: str) -> bool:
        """Return whether this name or keyword comes next."""
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
        """Step over a sign or word that must come next; ``what`` describes its place in the error message."""
        token = self.tokens[self.position]
        if token.text == text and token.kind in ("sign", "name", "keyword"):
            return self.advance()
        raise SyntaxFailure(
            self.messages.missing(text, what, token.text, token.kind),
            token.at,
            incomplete=token.kind == "end",
        )

    def name(self) -> str:
        """Step over a name that must come next."""
        if self.token.kind != "name":
            self.reject_token()
        return self.advance().text

    def reject_token(self) -> NoReturn:
        """Raise the error for the next token."""
        token = self.token
        raise SyntaxFailure(
            self.messages.bad_token(token.text, token.kind), token.at, incomplete=token.kind == "end"
        )

    def end_statement(self) -> None:
        """Step over a semicolon, unless it may be omitted here."""
        if self.accept(";") or self.at_sign("}"):
            return
        token = self.token
        if token.kind != "end" and not token.newline_before:
            at = self.tokens[self.position - 1].end if self.messages.is_v8 else token.at
            raise SyntaxFailure(self.messages.missing(";", "", token.text, token.kind), at)

    def descend(self, read: Callable[[], _Result]) -> _Result:
        """Call ``read`` one nesting level deeper."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise SyntaxFailure(self.messages.too_deep(), self.token.at)
        try:
            return read()
        finally:
            self.nesting -= 1
