"""Formats commands in bash's own layout, for ``declare -f``, ``type`` and ``jobs``."""

from __future__ import annotations

from simcloud.userland.bash.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    Command,
    Conditional,
    For,
    FunctionDefinition,
    Group,
    If,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Subshell,
    Test,
    TestBinary,
    TestGroup,
    TestJoin,
    TestNot,
    TestWord,
    While,
)

INDENT = "    "


def command_text(command: Command) -> str:
    """A command as ``jobs`` shows it."""
    return _Printer(False).command(command, "")


def function_text(name: str, body: Command) -> str:
    """A function as ``declare -f`` shows it."""
    printer = _Printer(True)
    redirects = ""
    if isinstance(body, Group):
        inside = printer.command(body.body, INDENT)
        redirects = printer.redirects(body.redirects)
    else:
        inside = printer.command(body, INDENT)
    return f"{name} () \n{{ \n{INDENT}{inside}\n}}{redirects}"


def _end_command(text: str) -> str:
    """With the semicolon that ends a command, where one is needed."""
    return text if text.endswith(("&", "\n")) else text + ";"


class _Printer:
    def __init__(self, in_function: bool) -> None:
        self.in_function = in_function

    def command(self, command: Command, indent: str) -> str:
        """The text of a command; lines after the first begin with ``indent``."""
        if isinstance(command, Simple):
            return self._simple(command)
        if isinstance(command, Sequence):
            return self._sequence(command, indent)
        if isinstance(command, AndOr):
            text = self.command(command.first, indent)
            for operator, part in command.rest:
                text += f" {operator} {self.command(part, indent)}"
            return text
        if isinstance(command, Pipeline):
            return self._pipeline(command, indent)
        return self._compound(command, indent) + self.redirects(command.redirects)

    def _sequence(self, sequence: Sequence, indent: str) -> str:
        text = ""
        last = len(sequence.items) - 1
        for index, (command, background) in enumerate(sequence.items):
            text += self.command(command, indent)
            if background:
                text += " &" if index == last else " & "
            elif index != last:
                text += ("" if text.endswith("\n") else ";") + ("\n" + indent if self.in_function else " ")
        return text

    def _pipeline(self, pipeline: Pipeline, indent: str) -> str:
        text = ""
        for index, command in enumerate(pipeline.commands):
            if index:
                text += " 2>&1 | " if pipeline.joins_stderr[index - 1] else " | "
            text += self.command(command, indent)
        if pipeline.negated:
            text = f"! {text}"
        return f"time {text}" if pipeline.timed else text

    def _block(self, body: Sequence, indent: str) -> str:
        inner = indent + INDENT
        return f"{inner}{_end_command(self.command(body, inner))}\n{indent}"

    def _compound(self, command: Command, indent: str) -> str:
        if isinstance(command, Subshell):
            return f"( {self.command(command.body, indent)} )"
        if isinstance(command, Group):
            if not self.in_function:
                return f"{{ {_end_command(self.command(command.body, indent))} }}"
            inner = indent + INDENT
            return f"{{ \n{inner}{self.command(command.body, inner)}\n{indent}}}"
        if isinstance(command, If):
            return self._if(command, indent)
        if isinstance(command, While):
            word = "until" if command.until else "while"
            condition = _end_command(self.command(command.condition, indent))
            return f"{word} {condition} do\n{self._block(command.body, indent)}done"
        if isinstance(command, For):
            words = '"$@"' if command.words is None else " ".join(word.text for word in command.words)
            head = f"for {command.name} in {words};"
            return f"{head}\n{indent}do\n{self._block(command.body, indent)}done"
        if isinstance(command, ArithmeticFor):
            pieces = "; ".join(word.text.strip() for word in (command.start, command.test, command.step))
            return f"for (({pieces}))\n{indent}do\n{self._block(command.body, indent)}done"
        if isinstance(command, Case):
            return self._case(command, indent)
        if isinstance(command, ArithmeticCommand):
            return f"(({command.expression.text}))"
        if isinstance(command, Conditional):
            return f"[[ {test_text(command.test)} ]]"
        assert isinstance(command, FunctionDefinition)
        return f"function {self._indent_function(command, indent)}"

    def _indent_function(self, function: FunctionDefinition, indent: str) -> str:
        text = function_text(function.name, function.body)
        return text.replace("\n", "\n" + indent)

    def _if(self, command: If, indent: str) -> str:
        text, closing = "", "fi"
        for number, (condition, body) in enumerate(command.branches):
            here = indent + INDENT * number
            if number:
                text += f"else\n{here}"
                closing = f"fi;\n{indent + INDENT * (number - 1)}{closing}"
            text += f"if {_end_command(self.command(condition, here))} then\n{self._block(body, here)}"
        if command.otherwise is not None:
            text += f"else\n{self._block(command.otherwise, indent + INDENT * (len(command.branches) - 1))}"
        return text + closing

    def _case(self, command: Case, indent: str) -> str:
        text = f"case {command.subject.text} in \n"
        outer, inner = indent + INDENT, indent + INDENT * 2
        for clause in command.clauses:
            patterns = " | ".join(word.text for word in clause.patterns)
            body = f"{inner}{self.command(clause.body, inner)}" if clause.body.items else ""
            text += f"{outer}{patterns})\n{body}\n{outer}{clause.terminator}\n"
        return text + indent + "esac"

    def _simple(self, command: Simple) -> str:
        pieces = [_assignment(assignment) for assignment in command.assignments]
        pieces += [word.text for word in command.words]
        text = " ".join(pieces)
        redirects = self.redirects(command.redirects)
        return (text + redirects) if text else redirects.lstrip(" ")

    def redirects(self, redirects: list[Redirect]) -> str:
        """Redirections with the blank before each, and the here-documents after them."""
        text, documents = "", ""
        for redirect in redirects:
            text += " " + _redirect(redirect)
            if redirect.here_text is not None:
                documents += f"\n{redirect.here_text.text}{redirect.delimiter}\n"
        return text + documents


def _assignment(assignment: Assignment) -> str:
    return assignment.text


def _redirect(redirect: Redirect) -> str:
    operator, target = redirect.operator, redirect.target.text
    prefix = f"{{{redirect.variable}}}" if redirect.variable else ""
    number = "" if redirect.fd is None else str(redirect.fd)
    if operator in (">&", "<&"):
        default = "0" if operator == "<&" else "1"
        shown = ">&" if target == "-" else operator
        return f"{prefix or number or default}{shown}{target}"
    if operator in ("<<", "<<-"):
        return f"{prefix}{number}{operator}{target}"
    if number == ("0" if operator[0] == "<" else "1"):
        number = ""
    return f"{prefix}{number}{operator} {target}"


def test_text(test: Test) -> str:
    """The inside of ``[[ ]]``."""
    if isinstance(test, TestWord):
        return f"{test.operator} {test.word.text}" if test.operator else test.word.text
    if isinstance(test, TestBinary):
        return f"{test.left.text} {test.operator} {test.right.text}"
    if isinstance(test, TestNot):
        return f"! {test_text(test.test)}"
    if isinstance(test, TestGroup):
        return f"( {test_text(test.test)} )"
    assert isinstance(test, TestJoin)
    return f" {test.operator} ".join(test_text(part) for part in test.tests)
