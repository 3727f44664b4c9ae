"""The command: ``awk [-F fs] [-v var=value] [-f file | program] [file …]``."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct, field

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, LimitExceeded, read_all
from simcloud.userland.awk import variables
from simcloud.userland.awk.compiler import Variables, compile_program
from simcloud.userland.awk.errors import Fatal, ProgramError
from simcloud.userland.awk.flat import run_flat
from simcloud.userland.awk.interpreter import run_program
from simcloud.userland.awk.lexer import BUILTINS, KEYWORDS, Source, unescape
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.main_input import MainInput
from simcloud.userland.awk.parser import parse
from simcloud.userland.awk.runtime import Runtime
from simcloud.userland.awk.values import Input
from simcloud.userland.commands.options import Options, UsageError, parse as parse_options

SHORT: Final = "F:f:v:e:hVbcNnOPrsSt"
LONG: Final = (
    "field-separator=", "file=", "assign=", "source=", "help", "version", "characters-as-bytes", "traditional",
    "use-lc-numeric", "non-decimal-data", "optimize", "posix", "re-interval", "no-optimize", "sandbox", "lint-old",
)  # fmt: skip
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")

VERSION: Final = "GNU Awk 5.2.1, API 3.2, PMA Avon 8-g1, (GNU MPFR 4.2.0, GNU MP 6.2.1)\n"
USAGE: Final = """\
Usage: {name} [POSIX or GNU style options] -f progfile [--] file ...
Usage: {name} [POSIX or GNU style options] [--] 'program' file ...
POSIX options:\t\tGNU long options: (standard)
\t-f progfile\t\t--file=progfile
\t-F fs\t\t\t--field-separator=fs
\t-v var=val\t\t--assign=var=val
Short options:\t\tGNU long options: (extensions)
\t-b\t\t\t--characters-as-bytes
\t-e 'program-text'\t--source='program-text'
\t-h\t\t\t--help
\t-V\t\t\t--version
"""


class Invocation(Struct):
    """The parsed command line."""

    name: str
    sources: list[Source] = field(default_factory=list)
    assignments: list[tuple[str, str]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)


async def run_awk(ctx: Context) -> int:
    """Run an awk program over files."""
    name = ctx.args[0].rpartition("/")[2]
    locale = Locale.of(ctx.env)
    try:
        options = parse_options(ctx.args, SHORT, LONG, stop_early=True)
        if options.any("h", "help"):
            await ctx.out(USAGE.format(name=name))
            return 0
        if options.any("V", "version"):
            await ctx.out(VERSION)
            return 0
        if options.any("b", "characters-as-bytes"):
            locale = Locale(utf8=False)
        invocation = await _read_command_line(ctx, name, options, locale)
    except UsageError as mistake:
        await ctx.err(_complaint(mistake) + USAGE.format(name=name))
        return 1
    except Fatal as error:
        await ctx.err(f"{name}: fatal: {error}\n")
        return 2
    if invocation is None:
        await ctx.err(USAGE.format(name=name))
        return 1
    try:
        status: int = await run_flat(_Run(ctx, invocation, locale).run())
        return status
    except RecursionError:
        raise LimitExceeded("limit exceeded: the program is nested too deeply") from None


async def _read_command_line(ctx: Context, name: str, options: Options, locale: Locale) -> Invocation | None:
    invocation = Invocation(name)
    operands = [locale.from_argument(word) for word in options.operands]
    for option, value in options.given:
        text = locale.from_argument(value)
        if option in ("f", "file"):
            invocation.sources.append(Source(text, await _read_source(ctx, value, locale), is_file=True))
        elif option in ("e", "source"):
            invocation.sources.append(Source("cmd. line", text))
        elif option in ("F", "field-separator"):
            invocation.assignments.append(("FS", "\\t" if text == "t" else text))
        elif option in ("v", "assign"):
            invocation.assignments.append(_assignment(name, text))
    if not invocation.sources:
        if not operands:
            return None
        invocation.sources.append(Source("cmd. line", operands.pop(0)))
    invocation.operands = operands
    return invocation


def _complaint(mistake: UsageError) -> str:
    """Return the message for an invalid command line: specific for a missing argument, else the usage."""
    first_line = str(mistake).partition("\n")[0]
    if "requires an argument" in first_line:
        return first_line.replace("'", "") + "\n"
    return f"{mistake}\n" if "argument to `-v'" in first_line else ""


async def _read_source(ctx: Context, path: str, locale: Locale) -> str:
    try:
        stream = await ctx.open("/dev/stdin" if path == "-" else path)
        text = locale.decode(await read_all(stream))
    except FileError as error:
        raise Fatal(f"cannot open source file `{path}' for reading: {error.strerror}") from None
    stream.close()
    return text


def _assignment(command_name: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{command_name}: `{text}' argument to `-v' not in `var=value' form\n")
    if _NAME.fullmatch(name) is None:
        raise Fatal(f"`{name}' is not a legal variable name")
    if name in BUILTINS or name in KEYWORDS:
        raise Fatal(f"cannot use gawk builtin `{name}' as variable name")
    return name, value


class _Run:
    """One run of a program, from its text to its exit status."""

    def __init__(self, ctx: Context, invocation: Invocation, locale: Locale) -> None:
        self._ctx = ctx
        self._invocation = invocation
        self._locale = locale
        self._runtime = Runtime(ctx, invocation.name, locale)
        self._names: Variables | None = None

    async def run(self) -> int:
        runtime = self._runtime
        try:
            await self._run_program()
            await self._close()
        except ProgramError as error:
            await runtime.outputs.flush()
            for line in error.lines:
                await self._ctx.err(self._locale.to_argument(f"{runtime.name}: {line}\n"))
            return error.status
        except Fatal as error:
            await self._complain(error)
            return 2
        return runtime.exit_status

    async def _run_program(self) -> None:
        runtime, invocation = self._runtime, self._invocation
        warnings: list[str] = []
        try:
            program = parse(invocation.sources, self._locale, warnings)
        finally:
            for warning in warnings:
                runtime.outputs.complain(f"{runtime.name}: {warning}\n")
        self._names = Variables(runtime, program)
        main_input = MainInput(runtime, self._assign)
        code = compile_program(program, runtime, self._names, main_input)
        self._set_arguments()
        for name, text in invocation.assignments:
            self._assign(name, text)
        await run_program(code, runtime)

    def _set_arguments(self) -> None:
        words = [self._invocation.name, *self._invocation.operands]
        arguments = self._runtime.globals[variables.ARGV]
        arguments.update((str(number), Input(word)) for number, word in enumerate(words))
        self._runtime.globals[variables.ARGC] = float(len(words))

    def _assign(self, name: str, text: str) -> None:
        assert self._names is not None
        warnings: list[str] = []
        value = unescape(text, self._locale, warnings, "")
        for warning in warnings:
            self._runtime.outputs.complain(f"{self._runtime.name}: {warning}\n")
        self._names.assign(name, value)

    async def _close(self) -> None:
        runtime = self._runtime
        try:
            await runtime.outputs.close_all()
        except FileError as error:
            await self._ctx.err(f"{runtime.name}: warning: error writing standard output: {error.strerror}\n")
            runtime.exit_status = runtime.exit_status or 1
        await runtime.inputs.close_all()

    async def _complain(self, error: Fatal) -> None:
        """Say what ended the program, after all it had printed."""
        runtime = self._runtime
        message = runtime.message("fatal", str(error), error.place)
        try:
            runtime.outputs.complain(message)
            await runtime.outputs.close_all()
        except (Fatal, FileError):
            await self._ctx.err(self._locale.to_argument(message))
        await runtime.inputs.close_all()
