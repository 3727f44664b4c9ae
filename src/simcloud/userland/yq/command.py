"""The command ``yq``: the common expressions on YAML and JSON files, optionally in place."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct, field

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.jq.errors import CompileErrors, Halt, JqError
from simcloud.userland.jq.machine import Status
from simcloud.userland.jq.output import Style, dump
from simcloud.userland.jq.program import Program
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.utf8 import encode
from simcloud.userland.yq.yaml_text import BadYaml, documents, to_yaml

VERSION: Final = "yq (https://github.com/mikefarah/yq/) version v4.44.3\n"
WORDS: Final = ("eval", "e", "eval-all", "ea")
VALUED: Final = {"o": "output", "p": "input", "I": "indent"}
LONG: Final = {
    "output-format": "output", "input-format": "input", "indent": "indent", "inplace": "i", "prettyPrint": "P",
    "null-input": "n", "exit-status": "e", "no-doc": "N", "unwrapScalar": "r", "colors": "C", "no-colors": "M",
    "tojson": "j", "version": "V",
}  # fmt: skip
_TOKEN = re.compile(
    r"""("(?:\\.|[^"\\])*")|\.([A-Za-z_]\w*(?:-\w+)+)|\b(strenv|env)\((\w+)\)|\b(upcase|downcase)\b"""
)


class Mistake(Exception):
    """A call is invalid; holds the message."""


class Line(Struct):
    """The parsed command line."""

    expression: str = "."
    files: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.said

    @property
    def indent(self) -> int:
        """The indentation of one level."""
        text = self.said.get("indent", "2")
        if not text.isdecimal() or int(text) > 9:
            raise Mistake(f'invalid argument "{text}" for "-I, --indent" flag')
        return int(text)

    @property
    def output(self) -> str:
        """``yaml`` or ``json``."""
        chosen = "json" if "j" in self else self.said.get("output", "yaml")
        known = {
            "y": "yaml",
            "yaml": "yaml",
            "yml": "yaml",
            "j": "json",
            "json": "json",
            "auto": "yaml",
            "a": "yaml",
        }
        if chosen not in known:
            raise Mistake(f"unknown format '{chosen}' please use [yaml|json]")
        return known[chosen]


async def run_yq(ctx: Context) -> int:
    """Filter and change YAML."""
    try:
        line = _read(ctx)
        if "V" in line:
            await ctx.out(VERSION)
            return 0
        return await _Yq(ctx, line).run()
    except (Mistake, BadYaml) as error:
        await ctx.err(f"Error: {error}\n")
        return 1


def _read(ctx: Context) -> Line:
    line, words = Line(), list(ctx.args[1:])
    plain: list[str] = []
    while words:
        word = words.pop(0)
        if word == "-" or not word.startswith("-"):
            plain.append(word)
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            known = LONG.get(name)
            if known is None:
                raise Mistake(f"unknown flag: --{name}")
            line.said[known] = _value(value if equals else None, words, known, word)
        else:
            _short(word[1:], words, line)
    if plain and plain[0] in WORDS:
        plain.pop(0)
    if plain and not (len(plain) == 1 and ctx.files.is_file(plain[0])):
        line.expression = plain.pop(0)
    line.files = plain
    return line


def _short(letters: str, words: list[str], line: Line) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        name = VALUED.get(letter)
        if name is not None:
            line.said[name] = _value(letters.removeprefix("=") or None, words, name, f"-{letter}")
            return
        if letter not in LONG.values():
            raise Mistake(f"unknown shorthand flag: '{letter}' in -{letter}{letters}")
        line.said[letter] = "true"


def _value(value: str | None, words: list[str], name: str, word: str) -> str:
    if value is not None:
        return value
    if name not in VALUED.values():
        return "true"
    if not words:
        raise Mistake(f"flag needs an argument: {word}")
    return words.pop(0)


def to_jq(expression: str) -> str:
    """Translate a yq expression to jq: keys with dashes, ``strenv``, ``upcase``."""

    def change(match: re.Match[str]) -> str:
        text, key, environment, variable, case = match.groups()
        if text is not None:
            return text
        if key is not None:
            return f'."{key}"'
        if environment is not None:
            value = f"$ENV.{variable}"
            return value if environment == "strenv" else f"({value}|(fromjson? // .))"
        return f"ascii_{case}"

    return _TOKEN.sub(change, expression)


class _Yq:
    def __init__(self, ctx: Context, line: Line) -> None:
        self._ctx = ctx
        self._line = line
        run = Run(ctx.spend_turn, ctx.spend_bytes, lambda: ctx.now, dict(ctx.env))
        self._run = run
        try:
            source = encode(to_jq(line.expression))
            self._program = Program(
                source, run, {"ENV": dict(ctx.env), "ARGS": {"positional": [], "named": {}}}
            )
        except CompileErrors as errors:
            raise Mistake(errors.report().strip()) from None

    async def run(self) -> int:
        """Work on every file, or on standard input."""
        line = self._line
        if "i" in line and not line.files:
            raise Mistake(
                "write in place flag only applicable when giving an expression and at least one file"
            )
        if "n" in line:
            return await self._show([self._results(None)])
        shown: list[list[Any]] = []
        for name in line.files or ["-"]:
            found = [self._results(document) for document in documents(await self._text(name))]
            if "i" in line:
                text = self._join_documents(found)
                self._ctx.files.write(name, text.encode())
            else:
                shown += found
        return 0 if "i" in line else await self._show(shown)

    async def _text(self, name: str) -> bytes:
        if name != "-":
            try:
                data = await self._ctx.read_file(name)
            except FileError as error:
                raise Mistake(f"open {name}: {error.strerror.lower()}") from None
        else:
            parts = []
            while part := await self._ctx.stdin.read():
                parts.append(part)
            data = b"".join(parts)
        self._ctx.spend_bytes(len(data))
        return data

    def _results(self, value: Any) -> list[Any]:
        machine = self._program.machine
        self._program.start(value)
        found: list[Any] = []
        while True:
            try:
                state = machine.proceed()
            except JqError as error:
                why = error.value if isinstance(error.value, str) else dump(error.value, self._run.spend)
                raise Mistake(why) from None
            except Halt as halt:
                raise Mistake(halt.message.decode("utf-8", "replace")) from None
            found += [value for kind, value in machine.outbox if kind == "result"]
            machine.outbox.clear()
            if state is Status.DONE:
                return found
            if state is Status.INPUT:
                raise Mistake("'input' is not an operator of yq's")

    def _join_documents(self, found: list[list[Any]]) -> str:
        separator = "" if "N" in self._line or self._line.output == "json" else "---\n"
        return separator.join("".join(self._format(value) for value in results) for results in found)

    def _format(self, value: Any) -> str:
        if self._line.output == "json":
            text = dump(value, self._run.spend, Style(" " * self._line.indent)) + "\n"
        else:
            text = to_yaml(value, max(2, self._line.indent))
        self._ctx.spend_bytes(len(text))
        return text

    async def _show(self, found: list[list[Any]]) -> int:
        await self._ctx.out(self._join_documents(found))
        results = [value for results in found for value in results]
        if "e" in self._line and (not results or results[-1] in (None, False)):
            await self._ctx.err("Error: no matches found\n")
            return 1
        return 0
