"""The parser for awk programs, by recursive descent.

The precedence of operators, loosest first: assignment, ``?:``, ``||``, ``&&``, ``in``, ``~``, comparison
(which does not chain), concatenation and ``command | getline``, ``+ -``, ``* / %``, signs and ``!``,
``^`` (right-associative), ``++ --``, ``$``. An assignment may stand wherever a whole operand of a
comparison or a looser operator may, as in ``x && y = 2``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from simcloud.patterns import RegexError
from simcloud.userland.awk import tree
from simcloud.userland.awk.errors import ProgramError
from simcloud.userland.awk.lexer import BUILTINS, Lexer, Source, Token, number_of
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.patterns import compile_pattern, unknown_escapes
from simcloud.userland.awk.variables import PREDEFINED

ASSIGNMENTS: Final = {"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "^=": "^", "**=": "^"}
COMPARISONS: Final = frozenset(("<", "<=", "==", "!=", ">", ">="))
MULTIPLYING: Final = frozenset("*/%")
STARTS_OPERAND: Final = frozenset(
    ("number", "string", "name", "call", "builtin", "$", "!", "(", "++", "--", "getline")
)
MAX_NESTING: Final = 1000
"""Maximum nesting of expressions and blocks, and maximum length of a chain of operators."""
ENDS_PRINT: Final = frozenset((";", "newline", "}", ">", ">>", "|", "end"))
ENDS_STATEMENT: Final = frozenset((";", "newline", "}", "end"))

_Label = tree.Number | tree.Text | tree.Regex | None


def parse(sources: Iterable[Source], locale: Locale, warnings: list[str]) -> tree.Program:
    """Parse the sources into one program and add warnings to the list. Raises ``ProgramError``."""
    rules: list[tree.Rule] = []
    functions: dict[str, tree.Function] = {}
    for source in sources:
        Parser(source, locale, warnings, rules, functions).program()
    program = tree.Program(tuple(rules), functions)
    _check_names(program, warnings)
    return program


class Parser:
    """Parses one source; adds its rules and functions to those of earlier sources."""

    def __init__(
        self,
        source: Source,
        locale: Locale,
        warnings: list[str],
        rules: list[tree.Rule],
        functions: dict[str, tree.Function],
    ) -> None:
        self.lexer = Lexer(source, locale, warnings)
        self.token: Token = self.lexer.next()
        self._warnings = warnings
        self._rules = rules
        self._functions = functions
        self._printing = False
        self._list_start = -1
        self._nesting = 0
        self._in_function = False
        self._rule_kind = ""
        self._loops = 0
        self._switches = 0

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
            raise self.lexer.syntax_error(self.token)
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

    # -- rules and functions -------------------------------------------------------------------

    def program(self) -> None:
        """All rules and functions of the source."""
        self.skip_newlines()
        while self.token.kind != "end":
            if self.token.kind == ";":
                raise self._plain("each rule must have a pattern or an action part", self.token.line)
            if self.token.kind == "function":
                self._function()
                ended = True
            else:
                ended = self._rule()
            if self.token.kind == ";":
                self.advance()
            elif not ended and self.token.kind not in ("newline", "end"):
                raise self.lexer.syntax_error(self.token)
            self.skip_newlines()

    def _plain(self, message: str, line: int) -> ProgramError:
        return ProgramError(f"{self.lexer.source.name}:{line}: {message}")

    def _rule(self) -> bool:
        """One rule; whether it ended with an action, so that the next may follow at once."""
        place = self.token.place
        pattern = until = None
        self._rule_kind = kind = self.token.kind if self.token.kind in ("BEGIN", "END") else "record"
        if kind != "record":
            self.advance()
            if self.token.kind not in ("{", ";", "newline", "end"):
                raise self.lexer.syntax_error(self.token)
            if self.token.kind != "{":
                beyond = self.token.kind == "newline" and self.token.value != ""
                raise self._plain(f"{kind} blocks must have an action part", self.token.line + beyond)
        elif self.token.kind != "{":
            pattern = self.top_expression()
            if self.accept(","):
                self.skip_newlines()
                until = self.top_expression()
        body = self._action() if self.token.kind == "{" else None
        self._rules.append(tree.Rule(kind, pattern, until, body, place))
        return body is not None

    def _function(self) -> None:
        self.advance()
        name = self.token
        if name.kind == "builtin":
            complaint = f"`{name.value}' is a built-in function, it cannot be redefined"
            raise self.lexer.error(complaint, name.start, name.line)
        if name.kind not in ("name", "call"):
            raise self.lexer.syntax_error(name)
        self.advance()
        self.expect("(")
        parameters = self._parameters(name)
        self.skip_newlines()
        if self.token.kind != "{":
            raise self.lexer.syntax_error(self.token)
        if name.value in self._functions:
            raise self.mistake(f"function name `{name.value}' previously defined", name)
        self._in_function = True
        self._rule_kind = "function"
        body = self._action()
        self._in_function = False
        self._functions[name.value] = tree.Function(name.value, parameters, body, name.place)

    def _parameters(self, function: Token) -> tuple[str, ...]:
        names: list[str] = []
        while self.token.kind != ")":
            if names:
                self.expect(",")
                self.skip_newlines()
            name = self.expect("name")
            where = f"function `{function.value}': "
            if name.value == function.value:
                raise self.mistake(f"{where}cannot use function name as parameter name", name)
            if name.value in PREDEFINED:
                complaint = f"cannot use special variable `{name.value}' as a function parameter"
                raise self.mistake(where + complaint, name)
            if name.value in names:
                earlier = names.index(name.value) + 1
                complaint = f"parameter #{len(names) + 1}, `{name.value}', duplicates parameter #{earlier}"
                raise self.mistake(where + complaint, name)
            names.append(name.value)
        self.advance()
        return tuple(names)

    # -- statements ----------------------------------------------------------------------------

    def _action(self) -> tree.Block:
        """Statements in braces, without what may follow the closing one."""
        self.enter()
        self.expect("{")
        self.skip_newlines()
        statements: list[tree.Statement] = []
        while self.token.kind != "}":
            if self.token.kind == "end":
                raise self.lexer.syntax_error(self.token)
            statements.append(self.statement())
        self.advance()
        self.leave()
        return tree.Block(tuple(statements))

    def _block(self) -> tree.Block:
        block = self._action()
        self.skip_newlines()
        return block

    def statement(self) -> tree.Statement:
        """One statement with whatever ends it."""
        self.enter()
        found = self._statement()
        self.leave()
        return found

    def _statement(self) -> tree.Statement:
        place = self.token.place
        match self.token.kind:
            case "{":
                return self._block()
            case ";":
                self.advance()
                self.skip_newlines()
                return tree.Block(())
            case "if":
                return self._if(place)
            case "while":
                self.advance()
                condition = self._condition()
                if self.accept(";"):
                    self.skip_newlines()
                    return tree.Loop(condition, tree.Block(()), None, post_test=False, place=place)
                return tree.Loop(condition, self._loop_body(), None, post_test=False, place=place)
            case "do":
                self.advance()
                body = self._loop_body()
                self.expect("while")
                loop = tree.Loop(self._condition(), body, None, post_test=True, place=place)
                self.skip_newlines()
                return loop
            case "for":
                return self._for(place)
            case "switch":
                return self._switch(place)
        simple = self.simple_statement()
        if self.accept(";") or self.token.kind == "newline":
            self.skip_newlines()
        elif self.token.kind != "}":
            raise self.lexer.syntax_error(self.token)
        return simple

    def _condition(self) -> tree.Expr:
        self.expect("(")
        condition = self.top_expression()
        self.expect(")")
        return condition

    def _loop_body(self) -> tree.Statement:
        self.skip_newlines()
        self._loops += 1
        body = self.statement()
        self._loops -= 1
        return body

    def _if(self, place: str) -> tree.If:
        self.advance()
        condition = self._condition()
        self.skip_newlines()
        then = self.statement()
        otherwise = None
        if self.accept("else"):
            self.skip_newlines()
            otherwise = self.statement()
        return tree.If(condition, then, otherwise, place=place)

    def _for(self, place: str) -> tree.Statement:
        self.advance()
        self.expect("(")
        first = None if self.token.kind == ";" else self.simple_statement()
        if self.token.kind == ")" and isinstance(first, tree.Evaluate):
            each = first.expression
            if isinstance(each, tree.Member) and isinstance(each.subscripts[0], tree.Target):
                self.advance()
                return tree.ForIn(each.subscripts[0], each.array, self._loop_body(), place=place)
        self.expect(";")
        self.skip_newlines()
        condition = None if self.token.kind == ";" else self.top_expression()
        self.expect(";")
        self.skip_newlines()
        step = None if self.token.kind == ")" else self.simple_statement()
        self.expect(")")
        if self.accept(";"):
            self.skip_newlines()
            body: tree.Statement = tree.Block(())
        else:
            body = self._loop_body()
        loop = tree.Loop(condition, body, step, post_test=False, place=place)
        return loop if first is None else tree.Block((first, loop))

    def _switch(self, place: str) -> tree.Switch:
        self.advance()
        subject = self._condition()
        self.skip_newlines()
        self.expect("{")
        self.skip_newlines()
        self._switches += 1
        cases: list[tree.Case] = []
        while not self.accept("}"):
            value = self._case_label([case.value for case in cases])
            body: list[tree.Statement] = []
            while self.token.kind not in ("case", "default", "}"):
                body.append(self.statement())
            cases.append(tree.Case(value, tree.Block(tuple(body))))
        self._switches -= 1
        self.skip_newlines()
        return tree.Switch(subject, tuple(cases), place=place)

    def _case_label(self, earlier: list[tree.Number | tree.Text | tree.Regex | None]) -> _Label:
        label = self.token
        if self.accept("default"):
            value: _Label = None
            if None in earlier:
                raise self.mistake("duplicate `default' detected in switch body", label)
        else:
            self.expect("case")
            value = self._case_value()
            if value in earlier:
                shown = f"{value.value:g}" if isinstance(value, tree.Number) else _label_text(value)
                raise self.mistake(f"duplicate case values in switch body: {shown}", label)
        self.expect(":")
        self.skip_newlines()
        return value

    def _case_value(self) -> tree.Number | tree.Text | tree.Regex:
        token = self.token
        if token.kind in ("-", "+"):
            self.advance()
            value = number_of(self.expect("number").value)
            return tree.Number(-value if token.kind == "-" else value)
        if token.kind in ("number", "string", "/", "/="):
            found = self.primary()
            if isinstance(found, tree.Number | tree.Text | tree.Regex):
                return found
        raise self.lexer.syntax_error(token)

    # -- statements that need an end -----------------------------------------------------------

    def simple_statement(self) -> tree.Statement:
        """A statement without a body of its own."""
        token = self.token
        match token.kind:
            case "print" | "printf":
                return self._print()
            case "next" | "nextfile":
                self.advance()
                if self._rule_kind in ("BEGIN", "END"):
                    raise self.mistake(f"`{token.kind}' used in {self._rule_kind} action", token)
                return tree.Jump(token.kind, place=token.place)
            case "break" | "continue":
                self.advance()
                self._check_jump(token)
                return tree.Jump(token.kind, place=token.place)
            case "exit":
                self.advance()
                return tree.Exit(self._optional_expression(), place=token.place)
            case "return":
                if not self._in_function:
                    complaint = "`return' used outside function context"
                    raise self.lexer.error(complaint, token.start, token.line)
                self.advance()
                return tree.Return(self._optional_expression(), place=token.place)
            case "delete":
                return self._delete()
        return tree.Evaluate(self.top_expression(), place=token.place)

    def _check_jump(self, token: Token) -> None:
        if self._loops or (token.kind == "break" and self._switches):
            return
        where = "a loop or switch" if token.kind == "break" else "a loop"
        complaint = f"error: `{token.kind}' is not allowed outside {where}"
        line = f"{token.place}: {complaint}"
        raise ProgramError(line, line)  # the genuine one says it twice

    def _optional_expression(self) -> tree.Expr | None:
        return None if self.token.kind in ENDS_STATEMENT else self.top_expression()

    def _delete(self) -> tree.Delete:
        place = self.advance().place
        parenthesised = self.accept("(")
        array = self.array_name()
        if parenthesised:
            self.expect(")")
        if isinstance(array, tree.Index):
            return tree.Delete(array.array, array.subscripts, place=place)
        return tree.Delete(array, None, place=place)

    def _print(self) -> tree.Print:
        keyword = self.advance()
        formatted = keyword.kind == "printf"
        arguments = () if self.token.kind in ENDS_PRINT else self.print_arguments()
        redirection, destination = "", None
        if self.token.kind in (">", ">>", "|"):
            redirection = self.advance().kind
            destination = self.print_destination()
        return tree.Print(formatted, arguments, redirection, destination, place=keyword.place)

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

    def print_arguments(self) -> tuple[tree.Expr, ...]:
        """Parse the arguments of ``print``, where an unparenthesised ``>`` redirects and ``|`` pipes."""
        self._printing = True
        self._list_start = self.token.start
        found = self.list_of_expressions()
        self._printing = False
        if len(found) == 1 and isinstance(found[0], tree.GroupedList):
            return found[0].items
        return found

    def print_destination(self) -> tree.Expr:
        """Parse the destination of ``print … >``: at most a concatenation; a further ``>`` is an error."""
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
            raise self.lexer.syntax_error(self.token)

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
        raise self.lexer.syntax_error(self.token)

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
        return self._read_subscripts(name) if self.token.kind == "[" else name

    def array_name(self) -> tree.Name | tree.Index:
        """An array: a name, or an element that is an array itself."""
        name = self.expect("name")
        array = tree.Name(name.value, place=name.place)
        return self._read_subscripts(array) if self.token.kind == "[" else array

    def _read_subscripts(self, array: tree.Name | tree.Index) -> tree.Index:
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
            raise self.lexer.syntax_error(self.token)
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
                raise self.lexer.syntax_error(self.token)
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


def _label_text(value: tree.Text | tree.Regex) -> str:
    return value.value if isinstance(value, tree.Text) else f"/{value.source}/"


def _check_names(program: tree.Program, warnings: list[str]) -> None:
    """Names that are a function's and something else's as well."""
    functions = program.functions
    for name, function in functions.items():
        for parameter in function.parameters:
            if parameter in functions:
                complaint = f"function `{name}': cannot use function `{parameter}' as a parameter name"
                raise ProgramError(f"{function.place}: error: {complaint}")
    for node in tree.walk(program):
        if isinstance(node, tree.Name) and node.name in functions:
            where = f"{functions[node.name].place}: error: "
            called = f"function `{node.name}' called with space between name and `(',"
            raise ProgramError(f"{where}{called}\nor used as a variable or an array")
        if not isinstance(node, tree.Call):
            continue
        if node.name in PREDEFINED:
            complaint = f"error: attempt to use non-function `{node.name}' in function call"
            raise ProgramError(f"{node.place}: {complaint}")
        if node.name in functions and len(node.arguments) > len(functions[node.name].parameters):
            complaint = f"warning: function `{node.name}' called with more arguments than declared"
            warnings.append(f"{node.place}: {complaint}")
