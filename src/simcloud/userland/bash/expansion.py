"""Word expansion: from the words of a command to its arguments.

Expanding a word first gives segments: pieces of text with their origin (quoted, unquoted, or the result of an
unquoted expansion). Only the last kind is split at IFS, only the last two can be globs, and in patterns quoted text
is literal.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NoReturn

from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound, evaluate
from simcloud.userland.bash.braces import MAX_WORDS, TooManyWords, expand_braces
from simcloud.userland.bash.control import Abandoned
from simcloud.userland.bash.globbing import expand_glob
from simcloud.userland.bash.modifiers import BREAK, LITERAL, QUOTED, SPLIT, Segment
from simcloud.userland.bash.parameters import Parameters
from simcloud.userland.bash.patterns import escape, is_active
from simcloud.userland.bash.syntax import (
    Arithmetic,
    Backquoted,
    BadSubstitution,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Substitution,
    Tilde,
    Word,
)
from simcloud.userland.bash.variable import VariableError

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

DEFAULT_IFS: Final = " \t\n"
_GLOB = re.compile(r"[*?\[]|[+@!]\(")
_REGEX_SPECIAL = re.compile(r"([][.*^$\\+?(){}|])")

Field = list[tuple[bool, str]]
"""A word in the making: stretches of text and whether each was quoted."""

FIELD_BYTES: Final = 32
"""Charge for a word in addition to its length, so that many empty ones are not free."""
MOST_FIELDS: Final = 500_000
"""Words that one word may become by being split."""


class Expander:
    """Expands words for one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.parameters = Parameters(shell, self)

    # -- whole words ---------------------------------------------------------------------------

    async def words(self, words: list[Word]) -> list[str]:
        """The fields that a list of words becomes."""
        fields: list[str] = []
        state = self.shell.state
        braces = state.options.get("braceexpand", False)
        for word in words:
            if word.literal is not None:
                fields.append(word.literal)
            elif braces and word.has_braces:
                for single in self._braces(word):
                    if single.literal is not None:
                        fields.append(single.literal)
                    else:
                        await self.fields(single, fields)
            else:
                await self.fields(word, fields)
        self.shell.ctx.spend_bytes(sum(map(len, fields)) + FIELD_BYTES * len(fields))
        return fields

    def _braces(self, word: Word) -> list[Word]:
        try:
            return expand_braces(word, self.shell.ctx.spend_bytes)
        except TooManyWords:
            raise self.shell.limit(f"more than {MAX_WORDS} words from one brace expansion") from None

    async def fields(self, word: Word, fields: list[str]) -> None:
        """Expand one word (no braces), with splitting and globbing, and add what it becomes."""
        parts = word.parts
        if len(parts) == 1:
            value = self._quick(parts[0])
            if value is not None:
                fields.append(value)
                return
        segments: list[Segment] = []
        await self.segments(parts, segments, split=True)
        for field in self._split(segments):
            await self._glob(field, fields)

    def _quick(self, part: Part) -> str | None:
        """The value of ``"$name"``, when that is all the word is."""
        if type(part) is DoubleQuoted and len(part.parts) == 1:
            only = part.parts[0]
            if (
                type(only) is Parameter
                and not only.operator
                and only.subscript is None
                and not only.indirect
                and only.name not in ("@", "*")
            ):
                return self.parameters.plain(only.name)
        return None

    async def string(self, word: Word) -> str:
        """A word as one string: no splitting, no globbing."""
        if word.literal is not None:
            return word.literal
        segments: list[Segment] = []
        await self.segments(word.parts, segments, split=False)
        text = "".join([text for _, text in segments])
        self.shell.ctx.spend_bytes(len(text))
        return text

    async def pattern(self, word: Word) -> str:
        """A word as a glob pattern, quoted parts escaped."""
        segments: list[Segment] = []
        await self.segments(word.parts, segments, split=False)
        return "".join([escape(text) if kind == QUOTED else text for kind, text in segments])

    async def regex(self, word: Word) -> str:
        """A word as a regular expression, quoted parts escaped."""
        segments: list[Segment] = []
        await self.segments(word.parts, segments, split=False)
        return "".join(
            [_REGEX_SPECIAL.sub(r"\\\1", text) if kind == QUOTED else text for kind, text in segments]
        )

    async def number(self, word: Word, prefix: str = "") -> int:
        """The value of an arithmetic expression; a mistake in it is reported and gives the line up."""
        return await self.evaluate(await self.string(word), prefix)

    async def evaluate(self, expression: str, prefix: str = "") -> int:
        """The value of an expanded expression."""
        try:
            return evaluate(expression, self.shell.state)
        except (ArithmeticError_, VariableError) as error:
            await self.fail(prefix + str(error) if isinstance(error, ArithmeticError_) else str(error))
        except Unbound as error:
            await self.fail(f"{error}: unbound variable", fatal=True)

    async def fail(self, message: str, fatal: bool = False) -> NoReturn:
        """Report an error and give up the command line (or, when fatal, the shell)."""
        await self.shell.complain(message)
        raise Abandoned(1, fatal)

    # -- segments ------------------------------------------------------------------------------

    async def segments(
        self, parts: list[Part], out: list[Segment], split: bool, operand: bool = False
    ) -> None:
        """What unquoted parts give. ``split`` is false where several fields cannot be.

        In the operand of ``${x:-...}`` written text is split like expanded text.
        """
        for part in parts:
            if isinstance(part, Literal):
                out.append((SPLIT if operand else LITERAL, part.text))
            elif isinstance(part, Quoted):
                out.append((QUOTED, part.text))
            elif isinstance(part, DoubleQuoted):
                await self.expand_quoted(part.parts, out, split)
            elif isinstance(part, Parameter):
                await self.parameters.expand(part, out, False, split)
            elif isinstance(part, Tilde):
                out.append((QUOTED, await self.tilde(part.user)))
            elif isinstance(part, ProcessSubstitution):
                out.append((QUOTED, await self.shell.process_substitution(part)))
            else:
                text = await self._compute(part)
                if text:
                    out.append((SPLIT, text))

    async def expand_quoted(self, parts: list[Part], out: list[Segment], split: bool) -> None:
        """Expand double-quoted parts to at least one segment, except for a sole empty ``$@``."""
        before = len(out)
        nothing = False
        for part in parts:
            if isinstance(part, Quoted | Literal):
                out.append((QUOTED, part.text))
            elif isinstance(part, Parameter):
                added = len(out)
                await self.parameters.expand(part, out, True, split)
                nothing = nothing or len(out) == added
            elif isinstance(part, DoubleQuoted):
                await self.expand_quoted(part.parts, out, split)
            else:
                out.append((QUOTED, await self._compute(part)))
        if len(out) == before and not nothing:
            out.append((QUOTED, ""))

    async def _compute(self, part: Part) -> str:
        if isinstance(part, Arithmetic):
            return str(await self.number(part.expression))
        if isinstance(part, Substitution):
            return await self.shell.capture(part.body)
        if isinstance(part, Backquoted):
            return await self.shell.capture_text(part.source, part.line)
        assert isinstance(part, BadSubstitution)
        return await self.fail(f"{part.text}: bad substitution")

    async def tilde(self, user: str) -> str:
        """Return the folder of ``~user``; unchanged for an unknown user."""
        state = self.shell.state
        if user == "":
            home = state.get("HOME")
            return home if home is not None else self.shell.home_of("root") or "~"
        if user in ("+", "-"):
            return state.get("PWD" if user == "+" else "OLDPWD") or "~" + user
        return self.shell.home_of(user) or "~" + user

    # -- splitting and globbing ----------------------------------------------------------------

    def ifs(self) -> str:
        """The characters that split words."""
        value = self.shell.state.get("IFS")
        return DEFAULT_IFS if value is None else value

    def _split(self, segments: list[Segment]) -> list[Field]:
        fields: list[Field] = []
        current: Field = []
        delimiter = None
        for kind, text in segments:
            if kind == SPLIT:
                if delimiter is None:
                    delimiter = _delimiter(self.ifs())
                position = 0
                for match in delimiter.finditer(text):
                    if match.start() > position:
                        current.append((False, text[position : match.start()]))
                    position = match.end()
                    if current or match.lastindex:
                        fields.append(current)
                        current = []
                        if len(fields) > MOST_FIELDS:
                            raise self.shell.limit(f"more than {MOST_FIELDS} words from one expansion")
                if position < len(text):
                    current.append((False, text[position:]))
            elif kind == BREAK:
                if current:
                    fields.append(current)
                    current = []
            elif kind == QUOTED or text:
                current.append((kind == QUOTED, text))
        if current:
            fields.append(current)
        return fields

    async def _glob(self, field: Field, fields: list[str]) -> None:
        state = self.shell.state
        text = "".join([piece for _, piece in field])
        if any(not quoted and _GLOB.search(piece) for quoted, piece in field) and not state.options.get(
            "noglob"
        ):
            pattern = "".join([escape(piece) if quoted else piece for quoted, piece in field])
            if is_active(pattern, state.shopts.get("extglob", False)):
                ctx = self.shell.ctx
                found = expand_glob(pattern, ctx.files, state.shopts, ctx.spend_turn)
                if found:
                    fields.extend(found)
                    return
                if state.shopts.get("failglob"):
                    await self.fail(f"no match: {text}")
                if state.shopts.get("nullglob"):
                    return
        fields.append(text)

    def split_text(self, text: str) -> list[str]:
        """A text split at IFS, as unquoted expansions are."""
        return ["".join([piece for _, piece in field]) for field in self._split([(SPLIT, text)])]


@lru_cache(maxsize=64)
def _delimiter(ifs: str) -> re.Pattern[str]:
    """Return the pattern that splits a text: group 1 matches a delimiter that ends even an empty field."""
    if not ifs:
        return re.compile(r"(?!)")
    blank = "".join(re.escape(character) for character in ifs if character in DEFAULT_IFS)
    other = "".join(re.escape(character) for character in ifs if character not in DEFAULT_IFS)
    blanks = f"[{blank}]" if blank else ""
    if not other:
        return re.compile(f"{blanks}+")
    hard = f"({blanks}*[{other}]{blanks}*)" if blanks else f"([{other}])"
    return re.compile(f"{hard}|{blanks}+" if blanks else hard)
