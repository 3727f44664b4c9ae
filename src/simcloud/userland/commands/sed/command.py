"""The command: its options, script and files.

The exit status is 1 for an error in the command line or script, 2 if a file could not be read, 4 if writing failed.
``--help`` is short. Running commands from a script (``e``) is refused, and ``--debug`` prints nothing.
"""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, read_all
from simcloud.patterns import is_utf8_locale
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.sed.executor import Executor, RunOptions
from simcloud.userland.commands.sed.inplace import InPlace
from simcloud.userland.commands.sed.output import PANIC, Outputs
from simcloud.userland.commands.sed.parser import parse_script
from simcloud.userland.commands.sed.reader import Chunk, ScriptError
from simcloud.userland.commands.sed.script import Script

_USAGE = "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n"
_HELP = f"""\
{_USAGE}
  -n              print only what the script prints
  -e -f           the script, or a file with it; may be given several times
  -E -r           extended regular expressions
  -i[SUFFIX]      edit files in place, keeping a copy if there is a SUFFIX
  -s -z -u        files apart, lines end in NUL, no buffering
  -l N            fold the lines of the `l' command at N columns
"""
_SHORT = "bsnrzuEe:f:l:i::"
_LONG = (
    "binary", "regexp-extended", "debug", "in-place=?", "expression=", "file=", "line-length=", "null-data",
    "zero-terminated", "quiet", "posix", "silent", "sandbox", "separate", "unbuffered", "version", "help",
    "follow-symlinks",
)  # fmt: skip
_LETTERS = {
    "binary": "b", "regexp-extended": "E", "r": "E", "in-place": "i", "expression": "e", "file": "f",
    "line-length": "l", "null-data": "z", "zero-terminated": "z", "quiet": "n", "silent": "n", "separate": "s",
    "unbuffered": "u",
}  # fmt: skip
_DEFAULT_WIDTH = 70
MAX_SCRIPT_BYTES = 1 << 20


@command("sed")
async def sed(ctx: Context) -> int:
    """Edit a stream line by line."""
    options = _options(ctx.args)
    if "version" in options or "help" in options:
        await ctx.out("sed (GNU sed) 4.9\n" if "version" in options else _HELP)
        return 0
    try:
        return await _run(ctx, options)
    except ScriptError as mistake:
        await ctx.err(f"{ctx.args[0]}: {mistake}\n")
        return mistake.status


def _options(args: list[str]) -> Options:
    try:
        options = parse(args, _SHORT, _LONG)
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{_HELP.rstrip()}") from None
    options.given = [(_LETTERS.get(name, name), value) for name, value in options.given]
    return options


async def _run(ctx: Context, options: Options) -> int:
    operands = list(options.operands)
    chunks = await _chunks(ctx, options, operands)
    utf8 = is_utf8_locale(ctx.env)
    script = parse_script(chunks, extended="E" in options, utf8=utf8, sandbox="sandbox" in options)
    in_place = "i" in options
    if in_place and not operands:
        raise ScriptError("no input files", PANIC)
    run_options = RunOptions(
        quiet="n" in options or script.quiet,
        separate="s" in options or in_place,
        unbuffered="u" in options,
        end=b"\0" if "z" in options else b"\n",
        width=_width(options),
        utf8=utf8,
    )
    outputs = Outputs(ctx)
    await _open_files(script, outputs)
    editor = InPlace(ctx, options.last("i"), follow_links="follow-symlinks" in options) if in_place else None
    executor = Executor(ctx, script, run_options, operands or ["-"], outputs, editor)
    try:
        return await executor.run()
    except ScriptError:
        await outputs.flush()
        raise
    finally:
        outputs.close()


async def _chunks(ctx: Context, options: Options, operands: list[str]) -> list[Chunk]:
    chunks: list[Chunk] = []
    expressions = 0
    for name, value in options.given:
        if name == "e":
            expressions += 1
            chunks.append(Chunk(_as_bytes(value), expressions))
        elif name == "f":
            chunks.append(Chunk(await _script_file(ctx, value), name=value))
    if not chunks:
        if not operands:
            raise UsageError(_HELP.rstrip())
        chunks.append(Chunk(_as_bytes(operands.pop(0)), 1))
    if sum(len(chunk.text) for chunk in chunks) > MAX_SCRIPT_BYTES:
        raise ScriptError(f"the script is longer than {MAX_SCRIPT_BYTES} bytes")
    return chunks


def _as_bytes(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


async def _script_file(ctx: Context, path: str) -> str:
    try:
        stream = ctx.stdin if path == "-" else await ctx.open(path)
        return (await read_all(stream)).decode("latin-1")
    except FileError as error:
        raise ScriptError(f"couldn't open file {path}: {error.strerror}", PANIC) from None


def _width(options: Options) -> int:
    digits = options.last("l", default=str(_DEFAULT_WIDTH))
    return int(digits[:9]) if digits.isascii() and digits.isdigit() else 0


async def _open_files(script: Script, outputs: Outputs) -> None:
    """Files to be written are emptied before anything is read."""
    for each in script.commands:
        if each.name in "wW":
            await outputs.open(each.path)
        if each.substitution is not None and each.substitution.path:
            await outputs.open(each.substitution.path)
