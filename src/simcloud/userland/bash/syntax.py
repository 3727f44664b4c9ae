"""The syntax tree of a script: words made of parts, and commands made of words.

Nodes are built once by the parser and shared by every run of the same text, so running never changes them. Facts that
would cost time at run time (a word is plain text, a command has no expansions) are stored in the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

# -- parts of words ----------------------------------------------------------------------------


@dataclass(slots=True)
class Literal:
    """Unquoted text: glob characters in it are active."""

    text: str


@dataclass(slots=True)
class Quoted:
    """Literal text: from quotes, ``$'..'`` or after a backslash."""

    text: str


@dataclass(slots=True)
class DoubleQuoted:
    """Double-quoted text with its expansions."""

    parts: list[Part]


@dataclass(slots=True)
class Tilde:
    """``~``, ``~user``, ``~+`` or ``~-`` where it is expanded."""

    user: str


@dataclass(slots=True)
class Parameter:
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


@dataclass(slots=True)
class BadSubstitution:
    """An invalid ``${...}``; an error only when it is expanded."""

    text: str


@dataclass(slots=True)
class Substitution:
    """``$(...)``: the output of a command list."""

    body: Sequence


@dataclass(slots=True)
class Backquoted:
    """The old form of a substitution; bash parses its text only when it runs."""

    source: str
    line: int


@dataclass(slots=True)
class Arithmetic:
    """``$((...))``."""

    expression: Word


@dataclass(slots=True)
class ProcessSubstitution:
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


@dataclass(slots=True, eq=False)
class Word:
    """One word as written. ``literal`` is its value when no expansion can change it."""

    parts: list[Part]
    text: str
    literal: str | None = None
    has_braces: bool = False
    assignment: Assignment | None = None
    """Set for ``name=value`` arguments of declaration builtins."""


# -- assignments and redirections --------------------------------------------------------------


@dataclass(slots=True)
class Element:
    """One element of an array literal, with its subscript if it was given."""

    value: Word
    subscript: Word | None = None
    append: bool = False


@dataclass(slots=True)
class Assignment:
    """``name=value``, ``name+=value``, ``name[sub]=value`` or ``name=(...)``."""

    name: str
    value: Word | None
    subscript: Word | None = None
    append: bool = False
    elements: list[Element] | None = None
    text: str = ""


@dataclass(slots=True)
class Redirect:
    """One redirection. ``fd`` is None for the operator's own default, ``variable`` for ``{name}>``."""

    operator: str
    target: Word
    fd: int | None = None
    variable: str = ""
    here_text: Word | None = None
    delimiter: str = ""
    line: int = 0


# -- commands ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Simple:
    """Assignments, words and redirections. ``argv`` is set when no word needs expanding."""

    line: int
    assignments: list[Assignment]
    words: list[Word]
    redirects: list[Redirect]
    argv: list[str] | None = None


@dataclass(slots=True)
class Pipeline:
    """Commands joined by pipes, or one command that is negated or timed."""

    commands: list[Command]
    negated: bool = False
    timed: bool = False
    posix_time: bool = False
    joins_stderr: list[bool] = field(default_factory=list)


@dataclass(slots=True)
class AndOr:
    """Commands joined by ``&&`` and ``||``: the first one, then (operator, command) pairs."""

    first: Command
    rest: list[tuple[str, Command]]


@dataclass(slots=True)
class Sequence:
    """Commands in order; the marked ones run in the background. ``text`` is the source."""

    items: list[tuple[Command, bool]]
    text: str = ""


@dataclass(slots=True)
class Subshell:
    """``( list )``."""

    line: int
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """``{ list; }``."""

    line: int
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class If:
    """``if``, with its conditions and bodies in order and the ``else`` body."""

    line: int
    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class While:
    """``while`` and ``until``."""

    line: int
    condition: Sequence
    body: Sequence
    until: bool
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class For:
    """``for name in words`` (over the positional parameters when ``words`` is None)."""

    line: int
    name: str
    words: list[Word] | None
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class ArithmeticFor:
    """``for ((start; test; step))``."""

    line: int
    start: Word
    test: Word
    step: Word
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class CaseClause:
    """Patterns, body and terminator (``;;``, ``;&`` or ``;;&``) of a clause."""

    patterns: list[Word]
    body: Sequence
    terminator: str


@dataclass(slots=True)
class Case:
    """``case word in ... esac``."""

    line: int
    subject: Word
    clauses: list[CaseClause]
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class ArithmeticCommand:
    """``((expression))``."""

    line: int
    expression: Word
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Conditional:
    """``[[ ... ]]``."""

    line: int
    test: Test
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class FunctionDefinition:
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


@dataclass(slots=True)
class TestWord:
    """A word alone (true when not empty), or a unary operator and its word."""

    operator: str
    word: Word


@dataclass(slots=True)
class TestBinary:
    """Two words and an operator between them."""

    operator: str
    left: Word
    right: Word


@dataclass(slots=True)
class TestNot:
    """``! test``."""

    test: Test


@dataclass(slots=True)
class TestJoin:
    """Tests joined by ``&&`` or by ``||``."""

    operator: str
    tests: list[Test]


@dataclass(slots=True)
class TestGroup:
    """``( test )``; kept so that a function can be printed as it was written."""

    test: Test


Test = TestWord | TestBinary | TestNot | TestJoin | TestGroup
