"""The parser of nginx's configuration, with nginx's error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_DEPTH: Final = 20
TOKEN: Final = re.compile(
    r"""\s+ | \#[^\n]* | (?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') | (?P<mark>[{};]) | (?P<word>[^\s{};"'][^\s{};]*)""",
    re.VERBOSE | re.DOTALL,
)
FAMILIES: Final = (
    "access_", "add_", "aio", "charset", "client_", "connection_", "error_", "etag", "expires", "fastcgi_",
    "gzip", "http2", "if_", "ignore_", "keepalive_", "large_", "limit_", "log_", "lua_", "open_", "opentracing",
    "proxy_", "real_", "recursive_", "reset_", "resolver", "rewrite", "sendfile", "server_", "set_", "ssl_", "sub_",
    "tcp_", "types_", "underscores_", "uwsgi_", "worker_", "zone_",
)  # fmt: skip
NAMES: Final = frozenset((
    "access_log", "alias", "allow", "auth_basic", "break", "daemon", "default_type", "deny", "env", "events",
    "http", "if", "include", "internal", "listen", "load_module", "location", "map", "master_process",
    "msie_padding", "multi_accept", "output_buffers", "pcre_jit", "pid", "postpone_output", "return", "root",
    "satisfy", "send_timeout", "server", "set", "ssl", "thread_pool", "timer_resolution", "try_files", "types",
    "upstream", "use", "user",
))  # fmt: skip
LUA: Final = re.compile(r"\w+_by_lua(_block|_file)?\Z")


class ConfError(Exception):
    """An invalid configuration; the text follows ``nginx: [emerg] ``."""


class Directive(NamedTuple):
    """A directive with its arguments and its block, if any."""

    name: str
    words: tuple[str, ...]
    line: int
    block: tuple[Directive, ...] = ()

    def all(self, name: str) -> list[Directive]:
        """Return the directives of that name in its block."""
        return [each for each in self.block if each.name == name]

    def first(self, name: str) -> Directive | None:
        """Return the first of that name, if there is one."""
        return next(iter(self.all(name)), None)

    def text(self, name: str, missing: str) -> str:
        """Return the first word of the first of that name."""
        found = self.first(name)
        return found.words[0] if found is not None and found.words else missing


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def read_conf(text: str, path: str) -> Directive:
    """Return the whole configuration as a block; raises ``ConfError``."""
    reader = _Reader(text, path)
    block = reader.block(None)
    return Directive("", (), 0, block)


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._line = 1

    def block(self, opened: str | None, depth: int = 0) -> tuple[Directive, ...]:
        """Directives up to the block's end, or the file's."""
        if depth > MAX_DEPTH:
            raise self._wrong("too deep nesting")
        found: list[Directive] = []
        words: list[_Token] = []
        for token in self._tokens():
            if token.kind != "mark":
                words.append(token)
            elif token.text == "}":
                if words or opened is None:
                    raise self._wrong('unexpected "}"')
                return tuple(found)
            elif not words:
                raise self._wrong(f'unexpected "{token.text}"')
            else:
                found.append(self._directive(words, token.text, depth))
                words = []
        if words or opened is not None:
            raise self._wrong(
                'unexpected end of file, expecting "}"'
                if opened is not None
                else 'unexpected end of file, expecting ";" or "}"'
            )
        return tuple(found)

    def _directive(self, words: list[_Token], mark: str, depth: int) -> Directive:
        name, rest = words[0].text, tuple(word.text for word in words[1:])
        if not (name in NAMES or name.startswith(FAMILIES) or LUA.match(name)):
            raise self._wrong(f'unknown directive "{name}"')
        if mark == ";":
            return Directive(name, rest, words[0].line)
        if name.endswith("_by_lua_block"):
            return Directive(name, (self._raw(),), words[0].line)
        if name in ("types", "map"):
            self._raw()
            return Directive(name, rest, words[0].line)
        return Directive(name, rest, words[0].line, self.block(name, depth + 1))

    def _tokens(self) -> Iterator[_Token]:
        while self._at < len(self._text):
            match = TOKEN.match(self._text, self._at)
            if match is None:
                raise self._wrong('unexpected end of file, expecting ";" or "}"')
            line = self._line
            self._line += match.group().count("\n")
            self._at = match.end()
            if match.lastgroup == "quoted":
                yield _Token("word", match.group()[1:-1], line)
            elif match.lastgroup is not None:
                yield _Token(match.lastgroup, match.group(), line)

    def _raw(self) -> str:
        """Return the text of a block of another language, up to the brace that ends it."""
        start, depth = self._at, 1
        while self._at < len(self._text):
            letter = self._text[self._at]
            self._at += 1
            self._line += letter == "\n"
            depth += (letter == "{") - (letter == "}")
            if not depth:
                return self._text[start : self._at - 1]
        raise self._wrong('unexpected end of file, expecting "}"')

    def _wrong(self, text: str) -> ConfError:
        return ConfError(f"{text} in {self._path}:{self._line}")
