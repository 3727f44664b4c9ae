"""``test``, ``[`` and ``[[``: conditions on strings, numbers and files.

The three share their operators. ``test`` decides by the number of its arguments what each of them is, as in POSIX;
``[[`` is parsed beforehand and matches patterns and regular expressions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simcloud.machine.files import FileError, Stat
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex
from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound, evaluate
from simcloud.userland.bash.condition_parser import BINARY, UNARY
from simcloud.userland.bash.escapes import quote_single
from simcloud.userland.bash.patterns import compile_pattern
from simcloud.userland.bash.syntax import (
    Test,
    TestBinary,
    TestGroup,
    TestJoin,
    TestNot,
    TestWord,
)
from simcloud.userland.bash.variable import Variable, VariableError

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

_INTEGER = re.compile(r"[ \t\n]*[+-]?[0-9]+[ \t\n]*\Z")
_NUMERIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_TYPES = {"b": 0o060000, "c": 0o020000, "p": 0o010000, "S": 0o140000}


class ConditionMistake(Exception):
    """The arguments are no valid condition; the message is bash's, without the command's name."""


# -- operators ---------------------------------------------------------------------------------


def compare_numbers(operator: str, left: int, right: int) -> bool:
    """Numeric comparisons such as ``-eq``."""
    return {
        "-eq": left == right,
        "-ne": left != right,
        "-lt": left < right,
        "-le": left <= right,
        "-gt": left > right,
        "-ge": left >= right,
    }[operator]


def unary(shell: Shell, operator: str, text: str) -> bool:
    """A unary operator on a string, a file or a variable."""
    letter = operator[1]
    if letter == "n":
        return text != ""
    if letter == "z":
        return text == ""
    if letter == "v":
        return _is_set(shell, text)
    if letter == "R":
        variable = shell.state.find_plain(text)
        return variable is not None and variable.nameref and bool(variable.scalar)
    if letter == "o":
        return bool(shell.state.options.get(text))
    if letter == "t":
        stream = shell.ctx.process.streams.get(int(text)) if text.isdigit() else None
        return stream is not None and stream.isatty
    return _file_test(shell, letter, text)


def _is_set(shell: Shell, text: str) -> bool:
    name, bracket, rest = text.partition("[")
    if name.isdigit():
        return 0 < int(name[:9]) <= len(shell.state.arguments) or int(name[:9]) == 0
    variable: Variable | None = shell.state.find(name)
    if variable is None:
        return False
    if not bracket:
        return variable.value() is not None
    subscript = rest.removesuffix("]")
    if subscript in ("@", "*"):
        return variable.is_set
    key = shell.state.element_key(name, variable, subscript)
    return key in variable.subscripts()


def _stat(shell: Shell, path: str, follow: bool = True) -> Stat | None:
    files = shell.ctx.files
    number = _descriptor(path)
    stream = shell.ctx.process.streams.get(number) if number is not None and follow else None
    if stream is not None:
        path = stream.describe()
        if not path.startswith("/"):
            return files.stat("/dev/null")._replace(mode=_TYPES["p"] | 0o600)
    try:
        return files.stat(path, follow=follow) if path else None
    except FileError:
        return None


def _descriptor(path: str) -> int | None:
    for folder in ("/dev/fd/", "/proc/self/fd/"):
        if path.startswith(folder) and path[len(folder) :].isdigit():
            return int(path[len(folder) :])
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def _file_test(shell: Shell, letter: str, path: str) -> bool:
    stat = _stat(shell, path, follow=letter not in "hL")
    if stat is None:
        return False
    files = shell.ctx.files
    if letter in "ae":
        return True
    if letter in "rwx":
        return files.access(path, letter)
    if letter in "hL":
        return stat.is_link
    if letter in _TYPES:
        return stat.mode & 0o170000 == _TYPES[letter]
    if letter in "gku":
        return bool(stat.mode & {"g": 0o2000, "k": 0o1000, "u": 0o4000}[letter])
    answers = {
        "f": stat.is_file,
        "d": stat.is_dir,
        "s": stat.size > 0,
        "O": stat.uid == files.uid,
        "G": stat.gid == files.gid,
        "N": stat.mtime > stat.atime,
    }
    return answers[letter]


def compare_files(shell: Shell, operator: str, left: str, right: str) -> bool:
    """``-nt``, ``-ot`` and ``-ef``."""
    first, second = _stat(shell, left), _stat(shell, right)
    if operator == "-ef":
        return first is not None and second is not None and (first.dev, first.ino) == (second.dev, second.ino)
    if operator == "-ot":
        first, second = second, first
    if first is None:
        return False
    return second is None or first.mtime > second.mtime


# -- test and [ --------------------------------------------------------------------------------


def evaluate_test(shell: Shell, arguments: list[str]) -> bool:
    """The answer of ``test`` with these arguments; raises ``ConditionMistake``."""
    return _TestArguments(shell, arguments).answer()


class _TestArguments:
    def __init__(self, shell: Shell, arguments: list[str]) -> None:
        self.shell = shell
        self.words = arguments
        self.position = 0

    def answer(self) -> bool:
        count = len(self.words)
        if count == 0:
            return False
        if count <= 4:
            return self._evaluate_by_count(0, count)
        return self._whole()

    def _evaluate_by_count(self, start: int, count: int) -> bool:
        """POSIX: with up to four arguments their number decides what they mean."""
        words = self.words[start : start + count]
        self.position = start + count
        if count == 1:
            return words[0] != ""
        if count == 2:
            if words[0] == "!":
                return words[1] == ""
            if words[0] in UNARY:
                return self._unary(words[0], words[1])
            raise ConditionMistake(f"{words[0]}: unary operator expected")
        if count == 3:
            if words[1] in BINARY and words[1] != "=~":
                return self._binary(*words)
            if words[1] in ("-a", "-o"):
                left, right = words[0] != "", words[2] != ""
                return (left and right) if words[1] == "-a" else (left or right)
            if words[0] == "!":
                return not self._evaluate_by_count(start + 1, 2)
            if words[0] == "(" and words[2] == ")":
                return words[1] != ""
            raise ConditionMistake(f"{words[1]}: binary operator expected")
        if words[0] == "!":
            return not self._evaluate_by_count(start + 1, 3)
        if words[0] == "(" and words[3] == ")":
            return self._evaluate_by_count(start + 1, 2)
        self.position = start
        return self._whole()

    def _whole(self) -> bool:
        result = self._or(0)
        rest = self._peek()
        if rest is None:
            return result
        raise ConditionMistake(
            f"syntax error: `{rest}' unexpected" if rest.startswith("-") else "too many arguments"
        )

    def _peek(self) -> str | None:
        return self.words[self.position] if self.position < len(self.words) else None

    def _or(self, depth: int) -> bool:
        result = self._and(depth)
        while self._peek() == "-o":
            self.position += 1
            right = self._and(depth)
            result = result or right
        return result

    def _and(self, depth: int) -> bool:
        result = self._term(depth)
        while self._peek() == "-a":
            self.position += 1
            right = self._term(depth)
            result = result and right
        return result

    def _term(self, depth: int) -> bool:
        word = self._peek()
        if word is None or depth > 100:
            raise ConditionMistake("argument expected")
        if word == "!":
            self.position += 1
            return not self._term(depth + 1)
        rest = self.words[self.position :]
        if len(rest) >= 3 and rest[1] in BINARY and rest[1] != "=~":
            self.position += 3
            return self._binary(rest[0], rest[1], rest[2])
        if word == "(":
            self.position += 1
            result = self._or(depth + 1)
            if self._peek() != ")":
                raise ConditionMistake("`)' expected")
            self.position += 1
            return result
        if word in UNARY and len(rest) >= 2:
            self.position += 2
            return self._unary(word, rest[1])
        self.position += 1
        return word != ""

    def _unary(self, operator: str, text: str) -> bool:
        if operator == "-t" and not _INTEGER.match(text):
            raise ConditionMistake(f"{text}: integer expression expected")
        return unary(self.shell, operator, text)

    def _binary(self, left: str, operator: str, right: str) -> bool:
        if operator in _NUMERIC:
            return compare_numbers(operator, self._integer(left), self._integer(right))
        if operator in ("=", "=="):
            return left == right
        if operator == "!=":
            return left != right
        if operator == "<":
            return left < right
        if operator == ">":
            return left > right
        return compare_files(self.shell, operator, left, right)

    def _integer(self, text: str) -> int:
        if not _INTEGER.match(text):
            raise ConditionMistake(f"{text}: integer expression expected")
        return int(text)


# -- [[ ----------------------------------------------------------------------------------------


async def evaluate_conditional(shell: Shell, test: Test) -> int:
    """The status of ``[[ ... ]]``: 0 for yes, 1 for no, 2 for a bad regular expression."""
    if isinstance(test, TestGroup):
        return await evaluate_conditional(shell, test.test)
    if isinstance(test, TestNot):
        status = await evaluate_conditional(shell, test.test)
        return status if status == 2 else 1 - status
    if isinstance(test, TestJoin):
        status = 0
        for part in test.tests:
            status = await evaluate_conditional(shell, part)
            if status == 2 or (status == 0) is (test.operator == "||"):
                break
        return status
    if isinstance(test, TestWord):
        text = await shell.expander.string(test.word)
        await _trace(shell, f"{test.operator or '-n'} {_quote_word(text)}")
        return int(not (unary(shell, test.operator, text) if test.operator else text != ""))
    return await _binary(shell, test)


async def _binary(shell: Shell, test: TestBinary) -> int:
    left = await shell.expander.string(test.left)
    operator = test.operator
    if operator in ("=", "==", "!="):
        pattern = await shell.expander.pattern(test.right)
        await _trace(shell, f"{_quote_word(left)} {operator} {pattern}")
        matched = compile_pattern(pattern, True, shell.state.shopts.get("nocasematch", False)).matches(left)
        return int(matched is (operator == "!="))
    if operator == "=~":
        return await _regex(shell, left, await shell.expander.regex(test.right))
    right = await shell.expander.string(test.right)
    await _trace(shell, f"{_quote_word(left)} {operator} {_quote_word(right)}")
    if operator in _NUMERIC:
        try:
            first, second = evaluate(left, shell.state), evaluate(right, shell.state)
        except (ArithmeticError_, VariableError) as error:
            await shell.complain(f"[[: {error}")
            return 1
        except Unbound as error:
            await shell.expander.fail(f"{error}: unbound variable", fatal=True)
        return int(not compare_numbers(operator, first, second))
    if operator == "<":
        return int(not left < right)
    if operator == ">":
        return int(not left > right)
    return int(not compare_files(shell, operator, left, right))


async def _regex(shell: Shell, text: str, pattern: str) -> int:
    await _trace(shell, f"{_quote_word(text)} =~ {pattern}")
    found = Variable()
    found.items = {}
    shell.state.scopes[0]["BASH_REMATCH"] = found
    try:
        regex = compile_regex(
            pattern.encode("utf-8", "surrogateescape"),
            "extended",
            ignore_case=shell.state.shopts.get("nocasematch", False),
        )
        match = regex.search(text.encode("utf-8", "surrogateescape"))
    except RegexError:
        return 2
    except TooMuchWorkError:
        raise shell.limit("a regular expression took too many steps") from None
    if match is None:
        return 1
    groups = [match.group(number) for number in range(regex.groups + 1)]
    found.items = {
        number: (group or b"").decode("utf-8", "surrogateescape") for number, group in enumerate(groups)
    }
    return 0


def _quote_word(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_@%+=:,./-]+", text) else quote_single(text)


async def _trace(shell: Shell, text: str) -> None:
    if shell.state.options.get("xtrace"):
        await shell.interpreter.trace(f"[[ {text} ]]")
