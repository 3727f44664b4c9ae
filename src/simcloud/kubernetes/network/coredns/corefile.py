"""The Corefile: server blocks with their zones and lines.

Errors have the messages of the genuine parser, which name the file and the line. ``settings`` interprets the lines of
each plugin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

PATH: Final = "/etc/coredns/Corefile"
PORT: Final = 53

DIRECTIVES: Final = (
    "root", "metadata", "geoip", "cancel", "tls", "quic", "timeouts", "multisocket", "reload", "nsid",
    "bufsize", "bind", "debug", "trace", "ready", "health", "pprof", "prometheus", "errors", "log",
    "dnstap", "local", "dns64", "acl", "any", "chaos", "loadbalance", "tsig", "cache", "rewrite",
    "header", "dnssec", "autopath", "minimal", "template", "transfer", "hosts", "route53", "azure",
    "clouddns", "k8s_external", "kubernetes", "file", "auto", "secondary", "etcd", "loop", "forward",
    "grpc", "erratic", "whoami", "on", "sign", "view", "nomad",
)  # fmt: skip
"""The plugins that are built into the genuine program."""

_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_ENVIRONMENT = re.compile(r"\{\$([A-Za-z_]\w*)\}|\{%([A-Za-z_]\w*)%\}")


class CorefileError(Exception):
    """The configuration cannot be used; the text is what CoreDNS prints before it ends."""


class ParsingError(CorefileError):
    """A mistake at a line."""

    def __init__(self, line: int, words: str, path: str = PATH) -> None:
        super().__init__(f"{path}:{line} - Error during parsing: {words}")


class UnexpectedToken(CorefileError):
    """Something else should have stood here."""

    def __init__(self, line: int, token: str, expected: str, path: str = PATH) -> None:
        super().__init__(f"{path}:{line} - Syntax error: Unexpected token '{token}', expecting '{expected}'")


class WrongArguments(ParsingError):
    """A line has too few words, or too many."""

    def __init__(self, line: int, after: str) -> None:
        super().__init__(line, f"Wrong argument count or unexpected line ending after '{after}'")


class Directive(Struct, frozen=True):
    """One line of a block, with the lines of its own block if it has one."""

    name: str
    args: tuple[str, ...]
    line: int
    body: tuple[Directive, ...] = ()


class ServerBlock(Struct):
    """Zones on a port, and what is done for them."""

    zones: list[str]
    port: int
    directives: list[Directive] = field(default_factory=list)

    def find(self, name: str) -> Directive | None:
        """The line of a plugin, if the block has it."""
        return next((each for each in self.directives if each.name == name), None)


class _Token(Struct, frozen=True):
    text: str
    line: int


def parse(text: str, environment: Mapping[str, str] | None = None) -> list[ServerBlock]:
    """The server blocks of a Corefile. Raises ``CorefileError``."""
    known = environment or {}
    plain = _ENVIRONMENT.sub(lambda match: known.get(match[1] or match[2], ""), text)
    return _Parser(list(_tokens(plain))).blocks()


def _tokens(text: str) -> Iterator[_Token]:
    for number, line in enumerate(text.splitlines(), 1):
        for match in _WORD.finditer(line):
            word = match[2]
            if word is not None and word.startswith("#"):
                break
            yield _Token(match[1] if word is None else word, number)


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def blocks(self) -> list[ServerBlock]:
        found: list[ServerBlock] = []
        while self._at < len(self._tokens):
            keys, braced = self._keys()
            block = _server_block(keys)
            block.directives = self._directives(braced)
            found.append(block)
        return found

    def _keys(self) -> tuple[list[str], bool]:
        keys: list[str] = []
        first = self._tokens[self._at]
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.text == "{":
                self._at += 1
                return keys, True
            if token.line != first.line and not keys[-1].endswith(","):
                break
            keys.append(token.text)
            self._at += 1
        return [key.rstrip(",") for key in keys if key != ","], False

    def _directives(self, braced: bool) -> list[Directive]:
        found: list[Directive] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.text == "}" and braced:
                self._at += 1
                return found
            if token.text not in DIRECTIVES:
                raise ParsingError(token.line, f"Unknown directive '{token.text}'")
            found.append(self._directive())
        last = self._tokens[-1]
        if braced and last.text != "}":
            raise UnexpectedToken(last.line, last.text, "}")
        return found

    def _directive(self) -> Directive:
        head = self._tokens[self._at]
        self._at += 1
        args: list[str] = []
        while self._at < len(self._tokens) and self._tokens[self._at].line == head.line:
            token = self._tokens[self._at]
            if token.text == "}" and not args:
                break
            self._at += 1
            if token.text == "{":
                return Directive(head.text, tuple(args), head.line, self._body())
            args.append(token.text)
        return Directive(head.text, tuple(args), head.line)

    def _body(self) -> tuple[Directive, ...]:
        found: list[Directive] = []
        while self._at < len(self._tokens):
            if self._tokens[self._at].text == "}":
                self._at += 1
                return tuple(found)
            found.append(self._directive())
        raise ParsingError(self._tokens[-1].line, "Unexpected EOF")


def _server_block(keys: list[str]) -> ServerBlock:
    """Zones without their last dot, so that the root is empty; all zones of a block share one port here."""
    zones, port = [], PORT
    for key in keys:
        name = key.removeprefix("dns://")
        zone, colon, number = name.rpartition(":")
        if colon and number.isdecimal():
            port = int(number)
        else:
            zone = name
        zones.append(zone.lower().rstrip("."))
    return ServerBlock(zones, port)
