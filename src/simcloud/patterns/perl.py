"""Parser for Perl-compatible regular expressions, as ``grep -P`` takes them.

Groups of all kinds, look-around, lazy and possessive repetition, back-references by number and name,
``\\K``, inline options, conditions. Mistakes are reported in PCRE2's words. Recursion, callouts and
backtracking verbs are refused with a plain message.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from simcloud.patterns.charset import CharSet, case_variants
from simcloud.patterns.errors import RegexError
from simcloud.patterns.perl_class import is_posix_name, parse_class
from simcloud.patterns.perl_escape import read_escape, read_octal
from simcloud.patterns.tree import (
    MAX_DEPTH,
    Anchor,
    AnchorKind,
    Any,
    Atomic,
    BackReference,
    Char,
    Choice,
    Condition,
    Group,
    Keep,
    Look,
    Node,
    Parsed,
    Repeat,
    Sequence,
    Set,
)

MAX_REPEAT = 65535


class _Flags(Struct, frozen=True):
    """The inline options: ``i m s x n U``."""

    fold: bool = False
    multiline: bool = False
    dotall: bool = False
    extended: bool = False
    no_capture: bool = False
    ungreedy: bool = False


_FLAG_LETTERS = {
    "i": "fold",
    "m": "multiline",
    "s": "dotall",
    "x": "extended",
    "n": "no_capture",
    "U": "ungreedy",
}


_UNREPEATABLE = "quantifier does not follow a repeatable item"
_NO_CLOSING = "missing closing parenthesis"
_NO_GROUP = "reference to non-existent subpattern"
_ANCHORS: dict[str, AnchorKind] = {
    "b": "boundary",
    "B": "no_boundary",
    "A": "text_start",
    "G": "text_start",
    "z": "text_end",
}
_NEWLINES = Set(CharSet(((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029))))


def parse_perl(text: str, *, fold: bool = False, utf8: bool = True) -> Parsed:
    """Parse one expression. ``text`` holds code points, or bytes as characters if not ``utf8``."""
    parser = _Parser(text, _Flags(fold=fold), utf8)
    tree = parser.alternatives(0)
    if parser.position < len(text):
        raise RegexError("unmatched closing parenthesis")
    if any(index > parser.groups for index in parser.references):
        raise RegexError(_NO_GROUP)
    return Parsed(tree, parser.groups)


class _Parser:
    """A pattern and the position in it. ``quoting`` is true between ``\\Q`` and ``\\E``."""

    def __init__(self, text: str, flags: _Flags, utf8: bool) -> None:
        self.text = text
        self.flags = flags
        self.position = 0
        self.quoting = False
        self.utf8 = utf8
        self.groups = 0
        self.names: dict[str, int] = {}
        self.references: list[int] = []

    # -- characters ---------------------------------------------------------------------------

    def at(self, offset: int = 0) -> str:
        """The character there, or an empty string at the end."""
        return self.text[self.position + offset : self.position + offset + 1]

    def accept(self, word: str) -> bool:
        """Step over a word if it stands here."""
        found = self.text.startswith(word, self.position)
        self.position += len(word) if found else 0
        return found

    def until(self, closing: str) -> str:
        """Return the text before a closing mark and step over both."""
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
        if not closed or not _is_number(low) or (high and not _is_number(high)):
            return None
        if int(low) > MAX_REPEAT or int(high or 0) > MAX_REPEAT:
            raise RegexError("number too big in {} quantifier")
        if high and int(low) > int(high):
            raise RegexError("numbers out of order in {} quantifier")
        if not comma:
            return int(low), int(low)
        return int(low), int(high) if high else None

    # -- structure ------------------------------------------------------------------------------

    def alternatives(self, depth: int, *, reset: bool = False) -> Node:
        if depth > MAX_DEPTH:
            raise RegexError("parentheses are too deeply nested")
        flags = self.flags
        first = most = self.groups
        options = [self.sequence(depth)]
        while self.accept("|"):
            most = max(most, self.groups)
            self.groups = first if reset else self.groups
            options.append(self.sequence(depth))
        self.groups = max(most, self.groups)
        self.flags = flags
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.position < len(self.text):
            if self.skip_quotes_and_blanks():
                continue
            if not self.quoting and self.at() in ("|", ")"):
                break
            node, repeatable = self.atom(depth)
            parts.append(self.quantify(node, repeatable))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def atom(self, depth: int) -> tuple[Node, bool]:
        """One item, and whether it may be repeated."""
        char = self.at()
        if self.quoting:
            self.position += 1
            return self.literal(ord(char)), True
        if char in "*+?" or (char == "{" and self.bounds() is not None):
            raise RegexError(_UNREPEATABLE)
        if char == "[" and is_posix_name(self.text, self.position):
            raise RegexError("POSIX named classes are supported only within a class")
        if char == "(":
            return self.group(depth)
        self.position += 1
        match char:
            case "\\":
                return self.escape()
            case "[":
                chars, self.position = parse_class(self.text, self.position, utf8=self.utf8)
                return Set(chars, self.flags.fold), True
            case ".":
                return Any(newline=self.flags.dotall), True
            case "^":
                return Anchor("line_start", self.flags.multiline), False
            case "$":
                return Anchor("line_end", self.flags.multiline), False
        return self.literal(ord(char)), True

    def literal(self, code: int) -> Char:
        foldable = self.flags.fold and (self.utf8 or code < 0x80) and bool(case_variants(code))
        return Char(code, foldable)

    # -- repetition -----------------------------------------------------------------------------

    def quantify(self, node: Node, repeatable: bool) -> Node:
        while self.position < len(self.text) and self.skip_quotes_and_blanks():
            pass
        if self.quoting:
            return node
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self.at())
        bounds = simple or (self.bounds() if self.at() == "{" else None)
        if bounds is None:
            return node
        if not repeatable:
            raise RegexError(_UNREPEATABLE)
        self.position = self.position + 1 if simple else self.text.index("}", self.position) + 1
        if self.accept("+"):
            return Repeat(node, *bounds, "possessive")
        lazy = self.accept("?") != self.flags.ungreedy
        return Repeat(node, *bounds, "lazy" if lazy else "greedy")

    # -- escapes --------------------------------------------------------------------------------

    def escape(self) -> tuple[Node, bool]:
        char = self.at()
        if not char:
            raise RegexError("\\ at end of pattern")
        if char.isascii() and char.isdigit():
            return self.digits(), True
        if char in _ANCHORS:
            self.position += 1
            return Anchor(_ANCHORS[char]), False
        special = self.special_escape(char)
        if special is not None:
            return special, char not in "KZ"
        found = read_escape(self.text, self.position, utf8=self.utf8)
        if found is None:
            raise RegexError("unrecognized character follows \\")
        self.position = found.end
        if found.chars is not None:
            # Debian 12's PCRE2 compiles these three, outside of brackets, to match ASCII only.
            ascii_only = self.utf8 and char in "DWS"
            return Set(_ascii_part(found.chars) if ascii_only else found.chars, self.flags.fold), True
        return self.literal(found.code or 0), True

    def special_escape(self, char: str) -> Node | None:
        match char:
            case "g" | "k":
                self.position += 1
                return self.reference(char)
            case "N" if self.at(1) == "{":
                return None
        nodes: dict[str, Node] = {
            "K": Keep(),
            "N": Any(newline=False),
            "R": Atomic(Choice((Sequence((Char(13), Char(10))), _NEWLINES))),
            "X": Atomic(Sequence((Any(), Repeat(Set(CharSet(categories=("M",))), 0, None)))),
            "Z": Choice((Anchor("text_end"), Look(Sequence((Char(10), Anchor("text_end"))), True, False))),
        }
        if char in nodes:
            self.position += 1
        return nodes.get(char)

    def digits(self) -> Node:
        end = self.position
        while end < len(self.text) and self.text[end] in "0123456789":
            end += 1
        digits = self.text[self.position : end]
        if digits[0] != "0" and (len(digits) == 1 or digits[0] in "89" or int(digits) <= self.groups):
            self.position = end
            return self.refer_to(int(digits))
        found = read_octal(self.text, self.position, 3)
        self.position = found.end
        return self.literal(found.code or 0)

    def reference(self, letter: str) -> Node:
        closing = {"{": "}", "<": ">", "'": "'"}.get(self.at())
        if closing and not (letter == "g" and closing != "}"):
            name, closed, _ = self.text[self.position + 1 :].partition(closing)
            if name and closed:
                self.position += len(name) + 2
                return self.refer_to_name(name, numbers=letter == "g")
        elif letter == "g" and closing:
            raise RegexError("subroutine calls are not supported")
        elif letter == "g":
            start = self.position
            self.accept("-")
            while self.at() and self.at() in "0123456789":
                self.position += 1
            if _is_number(self.text[start : self.position].removeprefix("-")):
                return self.refer_to_name(self.text[start : self.position], numbers=True)
        quoted = "name/number or by a plain number" if letter == "g" else "name"
        raise RegexError(f"\\{letter} is not followed by a braced, angle-bracketed, or quoted {quoted}")

    def refer_to_name(self, name: str, *, numbers: bool) -> Node:
        if numbers and _is_number(name.removeprefix("-")):
            number = int(name)
            if number < 0:
                number += self.groups + 1
            if number <= 0:
                raise RegexError(_NO_GROUP)
            return self.refer_to(number)
        if name not in self.names:
            raise RegexError(_NO_GROUP)
        return self.refer_to(self.names[name])

    def refer_to(self, index: int) -> Node:
        self.references.append(index)
        return BackReference(index, self.flags.fold)

    # -- groups ---------------------------------------------------------------------------------

    def group(self, depth: int) -> tuple[Node, bool]:
        if self.text.startswith("(*", self.position):
            raise RegexError("backtracking verbs are not supported")
        self.position += 1
        if not self.accept("?"):
            return self.group_body(depth) if self.flags.no_capture else self.capture(depth), True
        for opening, ahead, negative in (
            ("=", True, False),
            ("!", True, True),
            ("<=", False, False),
            ("<!", False, True),
        ):
            if self.accept(opening):
                return Look(self.group_body(depth), ahead, negative), True
        if self.accept(">"):
            return Atomic(self.group_body(depth)), True
        if self.accept("|"):
            return self.group_body(depth, reset=True), True
        if self.accept("("):
            return self.condition(depth), True
        if self.accept("P="):
            return self.refer_to_name(self.until(")"), numbers=False), True
        if self.accept("P<") or self.accept("<"):
            return self.capture_named(depth, ">"), True
        if self.accept("'"):
            return self.capture_named(depth, "'"), True
        if self.at() in ("R", "&", "+", "C", *"0123456789") or self.text.startswith("P>", self.position):
            raise RegexError("recursion and callouts are not supported")
        return self.options(depth)

    def group_body(self, depth: int, *, reset: bool = False) -> Node:
        """The inside of a group and its closing parenthesis."""
        body = self.alternatives(depth + 1, reset=reset)
        if not self.accept(")"):
            raise RegexError(_NO_CLOSING)
        return body

    def capture(self, depth: int) -> Node:
        self.groups += 1
        index = self.groups
        return Group(index, self.group_body(depth))

    def capture_named(self, depth: int, closing: str) -> Node:
        name = self.until(closing)
        if not name:
            raise RegexError("subpattern name expected")
        if name[0].isdigit():
            raise RegexError("subpattern name must start with a non-digit")
        if not name.replace("_", "a").isalnum():
            raise RegexError("syntax error in subpattern name (missing terminator?)")
        if name in self.names:
            raise RegexError("two named subpatterns have the same name (PCRE2_DUPNAMES not set)")
        self.names[name] = self.groups + 1
        return self.capture(depth)

    def condition(self, depth: int) -> Node:
        if self.at() == "?":
            self.position -= 1
            look, _ = self.group(depth)
            if not isinstance(look, Look):
                raise RegexError("assertion expected after (?( or (?(?C)")
            yes, no = self.two_branches(depth)
            other = Look(look.body, look.ahead, not look.negative)
            return Choice((Sequence((look, yes)), Sequence((other, no))))
        name, closed, _ = self.text[self.position :].partition(")")
        if not closed:
            raise RegexError("missing closing parenthesis for condition" if name else _NO_CLOSING)
        self.position += len(name) + 1
        reference = self.refer_to_name(name.strip("<>'"), numbers=True)
        assert isinstance(reference, BackReference)
        yes, no = self.two_branches(depth)
        return Condition(reference.index, yes, no)

    def two_branches(self, depth: int) -> tuple[Node, Node]:
        body = self.group_body(depth)
        if not isinstance(body, Choice):
            return body, Sequence()
        if len(body.options) > 2:
            raise RegexError("conditional subpattern contains more than two branches")
        return body.options[0], body.options[1]

    def options(self, depth: int) -> tuple[Node, bool]:
        r"""``(?i)`` for the rest of the group, ``(?i:...)`` for its own, ``(?:...)``."""
        outer = self.flags
        value = True
        if self.accept("^"):
            self.flags = _Flags()
        while self.at() not in (":", ")"):
            letter = self.at()
            if not letter:
                raise RegexError(_NO_CLOSING)
            self.position += 1
            if letter == "-" and value:
                value = False
            elif letter in _FLAG_LETTERS:
                self.flags = replace(self.flags, **{_FLAG_LETTERS[letter]: value})
            elif letter != "J":
                raise RegexError("unrecognized character after (? or (?-")
        if self.accept(")"):
            return Sequence(), False
        self.position += 1
        body = self.group_body(depth)
        self.flags = outer
        return body, True


def _ascii_part(chars: CharSet) -> CharSet:
    return CharSet(tuple((low, min(high, 0x7F)) for low, high in chars.ranges if low < 0x80))


def _is_number(text: str) -> bool:
    """Whether it is plain digits, at least one."""
    return bool(text) and all(digit in "0123456789" for digit in text)
