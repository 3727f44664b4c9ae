"""The command ``jq``."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, Context
from simcloud.userland.jq.command_line import (
    HELP,
    SHORT_USAGE,
    USAGE_STATUS,
    CommandLine,
    Mistake,
    hint,
    read_command_line,
)
from simcloud.userland.jq.errors import CompileErrors, Halt, JqError
from simcloud.userland.jq.inputs import (
    Inputs,
    JsonSource,
    LineSource,
    SlurpedSource,
    Source,
    TextSource,
)
from simcloud.userland.jq.json_reader import ENDED, JsonError, JsonReader, parse_text
from simcloud.userland.jq.machine import Status
from simcloud.userland.jq.output import COLOURS, COMPACT, Style, dump, parse_colours
from simcloud.userland.jq.program import Program
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.utf8 import decode, encode

COMPILE_STATUS: Final = 3
NO_OUTPUT_STATUS: Final = 4
PARSE_STATUS: Final = 4
ERROR_STATUS: Final = 5


async def run_jq(ctx: Context) -> int:
    """Filter and change JSON."""
    try:
        line = read_command_line(ctx.args)
        if "help" in line:
            await ctx.out(HELP)
            return 0
        if "version" in line:
            await ctx.out("jq-1.6\n")
            return 0
        if line.ended_early or (line.program is None and ctx.stdin.isatty and ctx.stdout.isatty):
            await ctx.err(SHORT_USAGE)
            return USAGE_STATUS
        constants = await _constants(ctx, line)
        source = await _program_text(ctx, line)
    except Mistake as mistake:
        await ctx.err(str(mistake))
        return USAGE_STATUS
    return await Session(ctx, line).execute(source, constants)


async def _program_text(ctx: Context, line: CommandLine) -> bytes:
    text = "." if line.program is None else line.program
    if "from-file" not in line:
        return encode(text)
    try:
        return await ctx.read_file(text)
    except FileError as error:
        reason = "It's a directory" if error.code == "EISDIR" else str(error)
        raise Mistake(f"{ctx.args[0]}: Could not open {text}: {reason}\n") from None


async def _constants(ctx: Context, line: CommandLine) -> dict[str, Value]:
    named = {name: await _read_value(ctx, option, name, text) for option, name, text in line.named}
    positional = [
        decode(encode(text)) if option == "args" else _json_value(ctx, option, text)
        for option, text in line.positional
    ]
    return {"ENV": _environment(ctx), "ARGS": {"positional": positional, "named": named}, **named}


def _environment(ctx: Context) -> dict[str, str]:
    return {name: decode(encode(value)) for name, value in ctx.env.items()}


def _json_value(ctx: Context, option: str, text: str) -> Value:
    try:
        return parse_text(encode(text))
    except JsonError:
        name = ctx.args[0]
        raise Mistake(f"{name}: invalid JSON text passed to --{option}\n{hint(name)}") from None


async def _read_value(ctx: Context, option: str, name: str, text: str) -> Value:
    if option == "arg":
        return decode(encode(text))
    if option == "argjson":
        return _json_value(ctx, option, text)
    try:
        data = await ctx.read_file(text)
        ctx.spend_bytes(len(data))
        return decode(data) if option == "rawfile" else _all_values(data)
    except (FileError, JsonError) as error:
        reason = f"Could not open {text}: {error}" if isinstance(error, FileError) else str(error)
        raise Mistake(f"{ctx.args[0]}: Bad JSON in --{option} {name} {text}: {reason}\n") from None


def _all_values(data: bytes) -> list[Value]:
    reader = JsonReader()
    reader.feed(data)
    reader.finish()
    values: list[Value] = []
    while (value := reader.next()) is not ENDED:
        values.append(value)
    return values


class _OutputFailed(Exception):
    """The results cannot be written; the text is the reason."""


class Session:
    """One run of the command: reads inputs, writes results, returns the status.

    No object that it passes on refers back to it, so its inputs are freed when it ends.
    """

    def __init__(self, ctx: Context, line: CommandLine) -> None:
        self._ctx = ctx
        self._line = line
        self._out: list[bytes] = []
        self._err: list[bytes] = []
        self._inputs = inputs = Inputs(ctx, line.files, self._err)
        self._source = source = self._make_source()
        self._run = Run(
            ctx.spend_turn,
            ctx.spend_bytes,
            lambda: ctx.now,
            _environment(ctx),
            lambda: inputs.name,
            lambda: source.lines,
        )
        self._style = Style(line.indent, "sort-keys" in line, "ascii-output" in line, self._colours())
        self._last: Value = ENDED

    def _make_source(self) -> Source:
        line, inputs = self._line, self._inputs
        slurp = "slurp" in line
        if "raw-input" in line:
            return TextSource(inputs) if slurp else LineSource(inputs)
        source = JsonSource(inputs)
        return SlurpedSource(inputs, source) if slurp else source

    def _colours(self) -> tuple[str, ...]:
        plain = "monochrome-output" in self._line or not self._ctx.stdout.isatty
        if "color-output" not in self._line and plain:
            return ()
        chosen = parse_colours(self._ctx.env.get("JQ_COLORS", ""))
        if "JQ_COLORS" in self._ctx.env and chosen is None:
            self._complain("Failed to set $JQ_COLORS\n")
        return COLOURS if "JQ_COLORS" not in self._ctx.env or chosen is None else chosen

    def _complain(self, message: str) -> None:
        self._err.append(encode(message))

    async def execute(self, source: bytes, constants: dict[str, Value]) -> int:
        """Compile and run the program; the exit status."""
        try:
            program = Program(source, self._run, constants)
        except CompileErrors as errors:
            self._complain(errors.report())
            await self._flush()
            return COMPILE_STATUS
        try:
            return await self._run_program(program)
        except _OutputFailed as failure:
            await self._ctx.err(f"Error: writing output failed: {failure}\n")
            return USAGE_STATUS
        finally:
            self._inputs.close()
            program.machine.stop()

    async def _run_program(self, program: Program) -> int:
        status = 0
        try:
            if "null-input" in self._line:
                status = await self._process(program, None)
            else:
                while (value := await self._source.next()) is not ENDED:
                    status = await self._process(program, value)
                    await self._flush()
        except JsonError as error:
            self._complain(f"parse error: {error}\n")
            status = PARSE_STATUS
        await self._flush()
        return USAGE_STATUS if self._inputs.failures else status

    async def _process(self, program: Program, value: Value) -> int:
        """All results for one input."""
        machine = program.machine
        program.start(value)
        self._last = ENDED
        while True:
            try:
                state = machine.proceed()
            except JqError as error:
                self._write(machine.outbox)
                self._complain(self._uncaught(error.value))
                return ERROR_STATUS
            except Halt as halt:
                self._write(machine.outbox)
                self._err.append(halt.message)
                return halt.status
            self._write(machine.outbox)
            await self._flush()
            if state is Status.DONE:
                return self._status_of_results()
            if state is Status.INPUT:
                try:
                    following = await self._source.next()
                except JsonError as error:
                    machine.broken_input = str(error)
                else:
                    machine.inbox = following

    def _status_of_results(self) -> int:
        if "exit-status" not in self._line:
            return 0
        if self._last is ENDED:
            return NO_OUTPUT_STATUS
        return 1 if self._last is None or self._last is False else 0

    def _uncaught(self, error: Value) -> str:
        place = self._source.position()
        if type(error) is str:
            return f"jq: error (at {place}): {error.partition(chr(0))[0]}\n"
        return f"jq: error (at {place}) (not a string): {dump(error, self._run.spend)}\n"

    def _write(self, outbox: list[tuple[str, Value]]) -> None:
        for kind, value in outbox:
            if kind == "result":
                self._last = value
                self._out.append(self._text(value).encode())
            elif kind == "debug":
                style = Style("", self._style.sort_keys, self._style.ascii_only, self._style.colours)
                self._err.append(f"{dump(['DEBUG:', value], self._run.spend, style)}\n".encode())
            else:
                self._err.append(dump(value, self._run.spend, COMPACT).encode())
        outbox.clear()

    def _text(self, value: Value) -> str:
        line = self._line
        joined = "join-output" in line
        raw = type(value) is str and (joined or "raw-output" in line) and not self._style.ascii_only
        text = value if raw else dump(value, self._run.spend, self._style)
        self._run.spend_bytes(len(text))
        return text + ("" if joined else "\n")

    async def _flush(self) -> None:
        if self._out:
            data = b"".join(self._out)
            self._out.clear()
            try:
                await self._ctx.stdout.write(data)
            except (FileError, BadDescriptor) as error:
                raise _OutputFailed(str(error)) from None
        if self._err:
            data = b"".join(self._err)
            self._err.clear()
            await self._ctx.stderr.write(data)
