"""The grammar of awk's statements, rules and functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simcloud.userland.awk import tree
from simcloud.userland.awk.errors import ProgramError
from simcloud.userland.awk.expressions import ExpressionParser
from simcloud.userland.awk.lexer import Source, Token, number_of
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.variables import PREDEFINED

ENDS_PRINT: Final = frozenset((";", "newline", "}", ">", ">>", "|", "end"))
ENDS_STATEMENT: Final = frozenset((";", "newline", "}", "end"))


def parse(sources: Iterable[Source], locale: Locale, warnings: list[str]) -> tree.Program:
    """The program that these sources make up; warnings are added to a list. Raises ``ProgramError``."""
    rules: list[tree.Rule] = []
    functions: dict[str, tree.Function] = {}
    for source in sources:
        Parser(source, locale, warnings, rules, functions).program()
    program = tree.Program(tuple(rules), functions)
    _check_names(program, warnings)
    return program


class Parser(ExpressionParser):
    """Reads one source; rules and functions are added to those of the sources before it."""

    def __init__(
        self,
        source: Source,
        locale: Locale,
        warnings: list[str],
        rules: list[tree.Rule],
        functions: dict[str, tree.Function],
    ) -> None:
        super().__init__(source, locale, warnings)
        self._rules = rules
        self._functions = functions
        self._in_function = False
        self._rule_kind = ""
        self._loops = 0
        self._switches = 0

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
                raise self.lexer.unexpected(self.token)
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
                raise self.lexer.unexpected(self.token)
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
            raise self.lexer.unexpected(name)
        self.advance()
        self.expect("(")
        parameters = self._parameters(name)
        self.skip_newlines()
        if self.token.kind != "{":
            raise self.lexer.unexpected(self.token)
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
                raise self.lexer.unexpected(self.token)
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
            raise self.lexer.unexpected(self.token)
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
        raise self.lexer.unexpected(token)

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
        arguments = () if self.token.kind in ENDS_PRINT else self.printed_list()
        redirection, destination = "", None
        if self.token.kind in (">", ">>", "|"):
            redirection = self.advance().kind
            destination = self.printed_destination()
        return tree.Print(formatted, arguments, redirection, destination, place=keyword.place)


_Label = tree.Number | tree.Text | tree.Regex | None


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
