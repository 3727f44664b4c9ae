"""The syntax tree of a script: words made of parts, and commands made of words.

Nodes are built once by the parser and shared by every run of the same text, so running never changes them. Facts that
would cost time at run time (a word is plain text, a command has no expansions) are stored in the nodes.
"""

from __future__ import annotations

from typing import Union

from msgspec import Struct, field

# -- parts of words ----------------------------------------------------------------------------


class Literal(Struct):
    """Unquoted text: glob characters in it are active."""

    text: str


class Quoted(Struct):
    """Literal text: from quotes, ``$'..'`` or after a backslash."""

    text: str


class DoubleQuoted(Struct):
    """Double-quoted text with its expansions."""

    parts: list[Part]


class Tilde(Struct):
    """``~``, ``~user``, ``~+`` or ``~-`` where it is expanded."""

    user: str


class Parameter(Struct):
    """``$name`` and every ``${...}`` form.

    ``operator`` is empty for the plain value, an operator as written (``:-``, ``##``, ``//``, ``^^``,
    ``:`` for substrings, ``@`` for transformations), ``length``, ``names`` or ``keys``. ``first`` and
    ``second`` are its operands.
    """

    name: str
    text: str
    subscript: Word | None = None
    indirect: bool = False
    operator: str = ""
    first: Word | None = None
    second: Word | None = None


class BadSubstitution(Struct):
    """An invalid ``${...}``; an error only when it is expanded."""

    text: str


class Substitution(Struct):
    """``$(...)``: the output of a command list."""

    body: Sequence


class Backquoted(Struct):
    """The old form of a substitution; bash parses its text only when it runs."""

    source: str
    line: int


class Arithmetic(Struct):
    """``$((...))``."""

    expression: Word


class ProcessSubstitution(Struct):
    """``<(...)`` or ``>(...)``: a path that leads to a running command."""

    direction: str
    body: Sequence


Part = Union[  # noqa: UP007 - a forward-referencing alias must be spelled so
    Literal,
    Quoted,
    DoubleQuoted,
    Tilde,
    Parameter,
    BadSubstitution,
    Substitution,
    Backquoted,
    Arithmetic,
    ProcessSubstitution,
]


class Word(Struct, eq=False):
    """One word as written. ``literal`` is its value when no expansion can change it."""

    parts: list[Part]
    text: str
    literal: str | None = None
    has_braces: bool = False
    assignment: Assignment | None = None
    """Set for ``name=value`` arguments of declaration builtins."""


# -- assignments and redirections --------------------------------------------------------------


class Element(Struct):
    """One element of an array literal, with its subscript if it was given."""

    value: Word
    subscript: Word | None = None
    append: bool = False


class Assignment(Struct):
    """``name=value``, ``name+=value``, ``name[sub]=value`` or ``name=(...)``."""

    name: str
    value: Word | None
    subscript: Word | None = None
    append: bool = False
    elements: list[Element] | None = None
    text: str = ""


class Redirect(Struct):
    """One redirection. ``fd`` is None for the operator's own default, ``variable`` for ``{name}>``."""

    operator: str
    target: Word
    fd: int | None = None
    variable: str = ""
    here_text: Word | None = None
    delimiter: str = ""
    line: int = 0


# -- commands ----------------------------------------------------------------------------------


class Simple(Struct):
    """Assignments, words and redirections. ``argv`` is set when no word needs expanding."""

    line: int
    assignments: list[Assignment]
    words: list[Word]
    redirects: list[Redirect]
    argv: list[str] | None = None


class Pipeline(Struct):
    """Commands joined by pipes, or one command that is negated or timed."""

    commands: list[Command]
    negated: bool = False
    timed: bool = False
    posix_time: bool = False
    joins_stderr: list[bool] = field(default_factory=list)


class AndOr(Struct):
    """Commands joined by ``&&`` and ``||``: the first one, then (operator, command) pairs."""

    first: Command
    rest: list[tuple[str, Command]]


class Sequence(Struct):
    """Commands in order; the marked ones run in the background. ``text`` is the source."""

    items: list[tuple[Command, bool]]
    text: str = ""


class Subshell(Struct):
    """``( list )``."""

    line: int
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


class Group(Struct):
    """``{ list; }``."""

    line: int
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


class If(Struct):
    """``if``, with its conditions and bodies in order and the ``else`` body."""

    line: int
    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None
    redirects: list[Redirect] = field(default_factory=list)


class While(Struct):
    """``while`` and ``until``."""

    line: int
    condition: Sequence
    body: Sequence
    until: bool
    redirects: list[Redirect] = field(default_factory=list)


class For(Struct):
    """``for name in words`` (over the positional parameters when ``words`` is None)."""

    line: int
    name: str
    words: list[Word] | None
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


class ArithmeticFor(Struct):
    """``for ((start; test; step))``."""

    line: int
    start: Word
    test: Word
    step: Word
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


class CaseClause(Struct):
    """Patterns, body and terminator (``;;``, ``;&`` or ``;;&``) of a clause."""

    patterns: list[Word]
    body: Sequence
    terminator: str


class Case(Struct):
    """``case word in ... esac``."""

    line: int
    subject: Word
    clauses: list[CaseClause]
    redirects: list[Redirect] = field(default_factory=list)


class ArithmeticCommand(Struct):
    """``((expression))``."""

    line: int
    expression: Word
    redirects: list[Redirect] = field(default_factory=list)


class Conditional(Struct):
    """``[[ ... ]]``."""

    line: int
    test: Test
    redirects: list[Redirect] = field(default_factory=list)


class FunctionDefinition(Struct):
    """``name() body``."""

    line: int
    name: str
    body: Command
    redirects: list[Redirect] = field(default_factory=list)


Compound = (
    Subshell | Group | If | While | For | ArithmeticFor | Case | ArithmeticCommand | Conditional
    | FunctionDefinition
)  # fmt: skip
Command = Simple | Pipeline | AndOr | Sequence | Compound


# -- the inside of [[ ]] -----------------------------------------------------------------------


class TestWord(Struct):
    """A word alone (true when not empty), or a unary operator and its word."""

    operator: str
    word: Word


class TestBinary(Struct):
    """Two words and an operator between them."""

    operator: str
    left: Word
    right: Word


class TestNot(Struct):
    """``! test``."""

    test: Test


class TestJoin(Struct):
    """Tests joined by ``&&`` or by ``||``."""

    operator: str
    tests: list[Test]


class TestGroup(Struct):
    """``( test )``; kept so that a function can be printed as it was written."""

    test: Test


Test = TestWord | TestBinary | TestNot | TestJoin | TestGroup
