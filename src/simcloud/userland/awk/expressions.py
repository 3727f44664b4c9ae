"""The grammar of awk's expressions, by recursive descent.

The order of binding, loosest first: assignment, ``?:``, ``||``, ``&&``, ``in``, ``~``, comparison
(which does not chain), concatenation and ``command | getline``, ``+ -``, ``* / %``, signs and ``!``,
``^`` (to the right), ``++ --``, ``$``. An assignment may stand wherever a whole operand of a
comparison or a looser operator may, as in ``x && y = 2``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.patterns import RegexError
from simcloud.userland.awk import tree
from simcloud.userland.awk.errors import ProgramError
from simcloud.userland.awk.lexer import BUILTINS, Lexer, Source, Token, number_of
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.patterns import compile_pattern, unknown_escapes

ASSIGNMENTS: Final = {"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "^=": "^", "**=": "^"}
COMPARISONS: Final = frozenset(("<", "<=", "==", "!=", ">", ">="))
MULTIPLYING: Final = frozenset("*/%")
STARTS_OPERAND: Final = frozenset(
    ("number", "string", "name", "call", "builtin", "$", "!", "(", "++", "--", "getline")
)
MAX_NESTING: Final = 1000
"""How deep expressions and blocks may be nested, and how long a chain of operators may be."""


class ExpressionParser:
    """Reads expressions from one source."""

    def __init__(self, source: Source, locale: Locale, warnings: list[str]) -> None:
        self.lexer = Lexer(source, locale, warnings)
        self.token: Token = self.lexer.next()
        self._warnings = warnings
        self._printing = False
        self._list_start = -1
        self._nesting = 0

    # -- tokens --------------------------------------------------------------------------------

    def advance(self) -> Token:
        """Step over the present token and return it."""
        token = self.token
        self.token = self.lexer.next()
        return token

    def accept(self, kind: str) -> bool:
        """Step over the present token if it is of that kind."""
        if self.token.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> Token:
        """Step over a token that must be of that kind."""
        if self.token.kind != kind:
            raise self.lexer.unexpected(self.token)
        return self.advance()

    def skip_newlines(self) -> None:
        """Step over newlines where they mean nothing."""
        while self.token.kind == "newline":
            self.advance()

    def mistake(self, message: str, token: Token) -> ProgramError:
        """An error that names its line but shows no text."""
        return ProgramError(f"{token.place}: error: {message}")

    def warn(self, message: str, token: Token) -> None:
        """Complain of something that is not wrong, once."""
        if not any(warning.endswith(message) for warning in self._warnings):
            self._warnings.append(f"{token.place}: warning: {message}")

    def enter(self) -> None:
        """Go one level deeper; programs nested beyond reason are refused."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise self.lexer.error("nested too deeply", self.token.start, self.token.line)

    def leave(self) -> None:
        """Come back from a level."""
        self._nesting -= 1

    # -- from the loosest operator to the tightest ---------------------------------------------

    def expression(self) -> tree.Expr:
        """A whole expression."""
        depth = self._nesting
        self.enter()
        condition = self._disjunction()
        if self.token.kind == "?":
            self.advance()
            self.skip_newlines()
            yes = self.expression()
            self.skip_newlines()
            self.expect(":")
            self.skip_newlines()
            condition = tree.Conditional(condition, yes, self.expression())
        self._nesting = depth
        return condition

    def top_expression(self) -> tree.Expr:
        """An expression where ``>`` compares, whatever stands around it."""
        printing, self._printing = self._printing, False
        found = self.expression()
        self._printing = printing
        return found

    def printed_list(self) -> tuple[tree.Expr, ...]:
        """What follows ``print``: there, an unparenthesised ``>`` redirects and ``|`` pipes."""
        self._printing = True
        self._list_start = self.token.start
        found = self.list_of_expressions()
        self._printing = False
        if len(found) == 1 and isinstance(found[0], tree.GroupedList):
            return found[0].items
        return found

    def printed_destination(self) -> tree.Expr:
        """What follows ``print … >``: a concatenation at most, where a further ``>`` is an error."""
        self._printing = True
        found = self._concatenation()
        self._printing = False
        return found

    def list_of_expressions(self) -> tuple[tree.Expr, ...]:
        """One or more expressions separated by commas."""
        items = [self.expression()]
        while self.token.kind == ",":
            self._refuse_list(items[0])
            self.advance()
            self.skip_newlines()
            items.append(self.expression())
        return tuple(items)

    def _disjunction(self) -> tree.Expr:
        left = self._conjunction()
        while self.token.kind == "||":
            self._operator_follows(left)
            self.advance()
            self.skip_newlines()
            left = tree.Logical("||", left, self._conjunction())
        return left

    def _conjunction(self) -> tree.Expr:
        left = self._membership()
        while self.token.kind == "&&":
            self._operator_follows(left)
            self.advance()
            self.skip_newlines()
            left = tree.Logical("&&", left, self._membership())
        return left

    def _membership(self) -> tree.Expr:
        left = self._matching()
        while self.token.kind == "in":
            self._operator_follows(left)
            place = self.advance().place
            left = tree.Member((left,), self.array_name(), place=place)
        return left

    def _matching(self) -> tree.Expr:
        left = self._comparison()
        while self.token.kind in ("~", "!~"):
            self._operator_follows(left)
            operator = self.advance()
            left = tree.Match(left, self._comparison(), operator.kind == "!~", place=operator.place)
        return left

    def _comparison(self) -> tree.Expr:
        left = self._assignment()
        operator = self.token.kind
        if operator in COMPARISONS and not (operator == ">" and self._printing):
            self._operator_follows(left)
            self.advance()
            left = tree.Compare(operator, left, self._assignment())
        return left

    def _assignment(self) -> tree.Expr:
        left = self._concatenation()
        if self.token.kind not in ASSIGNMENTS or not isinstance(left, tree.Target):
            return left
        operator = self.advance()
        return tree.Assign(left, ASSIGNMENTS[operator.kind], self.expression(), place=operator.place)

    def _concatenation(self) -> tree.Expr:
        """Concatenations and ``command | getline``."""
        left = self._additive()
        while True:
            if self.token.kind in STARTS_OPERAND:
                self._operator_follows(left)
                left = tree.Concat(left, self._additive())
            elif self.token.kind == "|" and not self._printing and self.lexer.comes_getline():
                self._operator_follows(left)
                self.advance()
                place = self.advance().place
                left = tree.Getline("|", left, self._getline_target(), place=place)
            else:
                return left

    def _operator_follows(self, left: tree.Expr) -> None:
        """One more operator in a chain: a list in parentheses cannot be its operand."""
        self._refuse_list(left)
        self.enter()

    def _refuse_list(self, left: tree.Expr) -> None:
        if isinstance(left, tree.GroupedList):
            raise self.lexer.unexpected(self.token)

    def _additive(self) -> tree.Expr:
        left = self._multiplicative()
        while self.token.kind in ("+", "-"):
            self._operator_follows(left)
            operator = self.advance()
            left = tree.Binary(operator.kind, left, self._multiplicative(), place=operator.place)
        return left

    def _multiplicative(self) -> tree.Expr:
        left = self._unary()
        while self.token.kind in MULTIPLYING:
            self._operator_follows(left)
            operator = self.advance()
            right = self._unary()
            if operator.kind != "*" and right == tree.Number(0.0) and isinstance(left, tree.Number):
                where = "" if operator.kind == "/" else " in `%'"
                raise self.mistake(f"division by zero attempted{where}", operator)
            left = tree.Binary(operator.kind, left, right, place=operator.place)
        return left

    def _unary(self) -> tree.Expr:
        kind = self.token.kind
        if kind not in ("!", "-", "+"):
            return self._power()
        self.enter()
        self.advance()
        operand = self._unary()
        self.leave()
        return tree.Not(operand) if kind == "!" else tree.Sign(kind, operand)

    def _power(self) -> tree.Expr:
        base = self._postfix()
        if self.token.kind not in ("^", "**"):
            return base
        self._operator_follows(base)
        operator = self.advance()
        return tree.Binary("^", base, self._unary(), place=operator.place)

    def _postfix(self) -> tree.Expr:
        operand = self.primary()
        if self.token.kind in ("++", "--") and isinstance(operand, tree.Target):
            operator = self.advance()
            step = 1.0 if operator.kind == "++" else -1.0
            return tree.Increment(operand, step, prefix=False, place=operator.place)
        return operand

    # -- operands ------------------------------------------------------------------------------

    def primary(self) -> tree.Expr:
        """An operand without what may follow it."""
        token = self.token
        match token.kind:
            case "number":
                self.advance()
                return tree.Number(number_of(token.value))
            case "string":
                self.advance()
                return tree.Text(token.value)
            case "/" | "/=":
                return self._regex(token)
            case "$" | "name":
                return self.target()
            case "++" | "--":
                self.advance()
                step = 1.0 if token.kind == "++" else -1.0
                return tree.Increment(self.target(), step, prefix=True, place=token.place)
            case "(":
                return self._group()
            case "builtin":
                return self._builtin()
            case "call":
                self.advance()
                self.advance()
                return self._call(token)
            case "getline":
                return self._simple_getline()
            case "@":
                self.advance()
        raise self.lexer.unexpected(self.token)

    def target(self) -> tree.Target:
        """Something that can be assigned to."""
        token = self.token
        if token.kind == "$":
            self.enter()
            self.advance()
            index = self._unary() if self.token.kind in ("!", "-", "+") else self.primary()
            self.leave()
            return tree.Field(index, place=token.place)
        name = tree.Name(self.expect("name").value, place=token.place)
        return self._subscripted(name) if self.token.kind == "[" else name

    def array_name(self) -> tree.Name | tree.Index:
        """An array: a name, or an element that is an array itself."""
        name = self.expect("name")
        array = tree.Name(name.value, place=name.place)
        return self._subscripted(array) if self.token.kind == "[" else array

    def _subscripted(self, array: tree.Name | tree.Index) -> tree.Index:
        while True:
            place = self.expect("[").place
            subscripts = self._inside(self.list_of_expressions)
            self.expect("]")
            array = tree.Index(array, subscripts, place=place)
            if self.token.kind != "[":
                return array
            self.enter()

    def _inside(self, read: Callable[[], tuple[tree.Expr, ...]]) -> tuple[tree.Expr, ...]:
        printing, self._printing = self._printing, False
        found = read()
        self._printing = printing
        return found

    def _group(self) -> tree.Expr:
        opening = self.advance()
        place = opening.place
        items = self._inside(self.list_of_expressions)
        self.expect(")")
        if len(items) == 1:
            return tree.Group(items[0], place=place)
        if self.accept("in"):
            return tree.Member(items, self.array_name(), place=place)
        if opening.start != self._list_start:
            raise self.lexer.unexpected(self.token)
        return tree.GroupedList(items)

    def _regex(self, slash: Token) -> tree.Regex:
        self.token = self.lexer.regex(slash)
        source = self.token.value
        for warning in unknown_escapes(source):
            self.warn(warning, slash)
        try:
            compile_pattern(source, self.lexer.locale)
        except RegexError as error:
            raise self.mistake(f"{error}: /{source}/", slash) from None
        self.advance()
        return tree.Regex(source, place=slash.place)

    def _call(self, name: Token) -> tree.Call:
        items = () if self.token.kind == ")" else self._inside(self.list_of_expressions)
        self.expect(")")
        for number, item in enumerate(items, 1):
            if isinstance(item, tree.Regex):
                self.warn(f"regexp constant for parameter #{number} yields boolean value", name)
        return tree.Call(name.value, items, place=name.place)

    def _builtin(self) -> tree.Expr:
        name = self.advance()
        if self.token.kind != "(":
            if name.value != "length":
                raise self.lexer.unexpected(self.token)
            return tree.Builtin("length", (), place=name.place)
        self.advance()
        items = () if self.token.kind == ")" else self._inside(self.list_of_expressions)
        closing = self.token
        self.expect(")")
        least, most = BUILTINS[name.value]
        if not least <= len(items) <= most:
            complaint = f"{len(items)} is invalid as number of arguments for {name.value}"
            raise self.lexer.error(complaint, closing.start, closing.line)
        if name.value in ("sub", "gsub") and len(items) == 3 and not _is_changeable(items[2]):
            complaint = f"{name.value} third parameter is not a changeable object"
            raise self.lexer.error(complaint, closing.start, closing.line)
        return tree.Builtin(name.value, items, place=name.place)

    def _getline_target(self) -> tree.Target | None:
        return self.target() if self.token.kind in ("$", "name") else None

    def _simple_getline(self) -> tree.Expr:
        place = self.advance().place
        target = self._getline_target()
        if not self.accept("<"):
            return tree.Getline("", None, target, place=place)
        return tree.Getline("<", self.primary(), target, place=place)


def _is_changeable(node: tree.Expr) -> bool:
    """Whether ``sub`` takes it as what to change: a place, or (pointless, but allowed) a constant."""
    constant = (tree.Number, tree.Text, tree.Concat, tree.Binary, tree.Sign)
    return isinstance(node, tree.Target) or all(isinstance(part, constant) for part in tree.walk(node))
