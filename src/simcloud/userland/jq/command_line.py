"""The command line of jq, parsed as jq 1.6 does."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from msgspec import Struct, field

USAGE_STATUS: Final = 2

FLAGS: Final = {
    "s": "slurp",
    "r": "raw-output",
    "j": "join-output",
    "a": "ascii-output",
    "n": "null-input",
    "f": "from-file",
    "S": "sort-keys",
    "C": "color-output",
    "M": "monochrome-output",
    "c": "compact-output",
    "R": "raw-input",
    "e": "exit-status",
    "h": "help",
    "V": "version",
}
LONG_ONLY: Final = ("unbuffered", "tab", "args", "jsonargs")
EXAMPLES: Final = {"arg": "value", "argjson": "text", "slurpfile": "filename", "rawfile": "filename"}

INTRODUCTION: Final = """\
jq - commandline JSON processor [version 1.6]

Usage:\tjq [options] <jq filter> [file...]
\tjq [options] --args <jq filter> [strings...]
\tjq [options] --jsonargs <jq filter> [JSON_TEXTS...]

jq is a tool for processing JSON inputs, applying the given filter to
its JSON text inputs and producing the filter's results as JSON on
standard output.

The simplest filter is ., which copies jq's input to its output
unmodified (except for formatting, but note that IEEE754 is used
for number representation internally, with all that that implies).

For more advanced filters see the jq(1) manpage ("man jq")
and/or https://stedolan.github.io/jq

Example:

\t$ echo '{"foo": 0}' | jq .
\t{
\t\t"foo": 0
\t}

"""
SHORT_USAGE: Final = INTRODUCTION + "For a listing of options, use jq --help.\n"
HELP: Final = (
    INTRODUCTION
    + """\
Some of the options include:
  -c               compact instead of pretty-printed output;
  -n               use `null` as the single input value;
  -e               set the exit status code based on the output;
  -s               read (slurp) all inputs into an array; apply filter to it;
  -r               output raw strings, not JSON texts;
  -R               read raw strings, not JSON texts;
  -C               colorize JSON;
  -M               monochrome (don't colorize JSON);
  -S               sort keys of objects on output;
  --tab            use tabs for indentation;
  --arg a v        set variable $a to value <v>;
  --argjson a v    set variable $a to JSON value <v>;
  --slurpfile a f  set variable $a to an array of JSON texts read from <f>;
  --rawfile a f    set variable $a to a string consisting of the contents of <f>;
  --args           remaining arguments are string arguments, not files;
  --jsonargs       remaining arguments are JSON arguments, not files;
  --               terminates argument processing;

Named arguments are also available as $ARGS.named[], while
positional arguments are available as $ARGS.positional[].

See the manpage for more options.
"""
)


_OPTION = re.compile(r"-[-A-Za-z]")
"""``-1`` and ``-.a`` are programs."""


class Mistake(Exception):
    """The command line is invalid; the message is jq's."""


class CommandLine(Struct):
    """The parsed command line."""

    program: str | None = None
    files: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    indent: str = "  "
    named: list[tuple[str, str, str]] = field(default_factory=list)
    """Option, name and value of ``--arg`` and similar options."""
    positional: list[tuple[str, str]] = field(default_factory=list)
    """Option (``args`` or ``jsonargs``) and text."""
    ended_early: bool = False
    """``--`` came before any program."""

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags


class _Reader:
    def __init__(self, args: list[str]) -> None:
        self._name = args[0]
        self._words = args[1:]
        self._place = 0
        self._line = CommandLine()
        self._rest = "files"

    def read(self) -> CommandLine:
        while self._place < len(self._words):
            word = self._words[self._place]
            self._place += 1
            if word == "--":
                if self._line.program is None:
                    self._line.ended_early = True
                    return self._line
                for operand in self._words[self._place :]:
                    self._operand(operand)
                return self._line
            if _OPTION.match(word):
                self._option(word)
                if self._line.flags & {"help", "version"}:
                    return self._line
            else:
                self._operand(word)
        return self._line

    def _operand(self, word: str) -> None:
        if self._line.program is None:
            self._line.program = word
        elif self._rest == "files":
            self._line.files.append(word)
        else:
            self._line.positional.append((self._rest, word))

    def _option(self, word: str) -> None:
        if word.startswith("-L"):
            if word == "-L":
                self._take(1, "-L takes a parameter: (e.g. -L /search/path or -L/search/path)")
        elif not word.startswith("--"):
            letters = word[1:]
            if len(set(letters)) < len(letters) or not set(letters) <= FLAGS.keys():
                self._fail(f"{self._name}: Unknown option {word}")
            for letter in letters:
                self._flag(FLAGS[letter])
        elif word[2:] in EXAMPLES:
            name = word[2:]
            example = f"(e.g. --{name} varname {EXAMPLES[name]})"
            variable, value = self._take(2, f"{self._name}: --{name} takes two parameters {example}")
            if all(variable != known for _, known, _ in self._line.named):
                self._line.named.append((name, variable, value))
        elif word == "--indent":
            self._indent(self._take(1, f"{self._name}: --indent takes one parameter")[0])
        elif word[2:] in FLAGS.values() or word[2:] in LONG_ONLY:
            self._flag(word[2:])
        else:
            self._fail(f"{self._name}: Unknown option {word}")

    def _flag(self, flag: str) -> None:
        if flag in ("args", "jsonargs"):
            self._rest = flag
        elif flag == "compact-output":
            self._line.indent = ""
        elif flag == "tab":
            self._line.indent = "\t"
        elif flag == "color-output":
            self._line.flags.discard("monochrome-output")
        elif flag == "monochrome-output":
            self._line.flags.discard("color-output")
        self._line.flags.add(flag)

    def _indent(self, text: str) -> None:
        match = re.match(r"\s*([+-]?\d+)", text)
        size = int(match[1]) if match else 0
        if not -1 <= size <= 7:
            self._fail(f"{self._name}: --indent takes a number between -1 and 7")
        self._line.indent = "\t" if size < 0 else " " * size

    def _take(self, count: int, complaint: str) -> list[str]:
        taken = self._words[self._place : self._place + count]
        if len(taken) < count:
            self._fail(complaint)
        self._place += count
        return taken

    def _fail(self, message: str) -> NoReturn:
        raise Mistake(f"{message}\n{hint(self._name)}")


def hint(name: str) -> str:
    """Return the hint to ``--help``."""
    return (
        f"Use {name} --help for help with command-line options,\n"
        "or see the jq manpage, or online docs  at https://stedolan.github.io/jq\n"
    )


def read_command_line(args: list[str]) -> CommandLine:
    """Understand the arguments, or raise ``Mistake``."""
    return _Reader(args).read()
