"""The command: compiles the patterns, searches each file and returns the exit status.

The exit status is 0 if a line was selected, 1 if none was, 2 after an error. ``--help`` is short, and ``GREP_COLORS``
is ignored. Folders are searched in the order of their names.
"""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream, Stream
from simcloud.patterns import Regex, RegexError, compile_patterns
from simcloud.userland.commands.grep.search import Searcher
from simcloud.userland.commands.grep.settings import TROUBLE, Settings, read_options, read_settings
from simcloud.userland.commands.grep.walk import Target, Walk
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command

_HELP = """\
Usage: grep [OPTION]... PATTERNS [FILE]...
Print the lines of each FILE (or standard input) that match one of PATTERNS.

  -E -F -G -P     PATTERNS are extended, fixed, basic or Perl expressions
  -e -f           PATTERNS from here, or from a file
  -i -v -w -x     either case, lines that do not match, whole words, whole lines
  -c -l -L -q -o  counts, names with or without matches, nothing, only what matches
  -n -H -h -b -T  line numbers, file names or none, byte offsets, aligned
  -A -B -C NUM    lines of context after, before, around
  -m NUM          stop after so many lines
  -r -R           search folders; --include, --exclude and --exclude-dir take a GLOB
  -a -I -s -z -Z  binary as text or not at all, no messages, lines end in NUL, names do
"""
_ALIASES = {"egrep": "-E", "fgrep": "-F", "rgrep": "-r"}


@command("grep", "egrep", "fgrep", "rgrep")
async def grep(ctx: Context) -> int:
    """Print the lines that match."""
    alias = _ALIASES.get(ctx.args[0].rpartition("/")[2])
    args = ["grep", alias, *ctx.args[1:]] if alias else ctx.args
    options = read_options(args)
    if "V" in options or "help" in options:
        await ctx.out("grep (GNU grep) 3.8\n" if "V" in options else _HELP)
        return 0
    settings = await read_settings(ctx, args[0], options)
    return await _Grep(ctx, args[0], settings).run()


class _Grep:
    def __init__(self, ctx: Context, program: str, settings: Settings) -> None:
        self.ctx = ctx
        self.program = program
        self.settings = settings
        self.selected = False
        self.failed = False

    async def run(self) -> int:
        settings = self.settings
        for warning in settings.warnings:
            await self.ctx.err(f"{self.program}: warning: {warning}\n")
        if settings.selects_nothing:
            return 1
        regex = self.compile()
        for warning in regex.warnings if regex else ():
            await self.ctx.err(f"{self.program}: warning: {warning}\n")
        searcher = Searcher(self.ctx, self.program, settings, regex)
        walk = Walk(self.ctx, settings, self.complain)
        async for target in walk.targets():
            await self.search(searcher, target)
            if settings.quiet and self.selected:
                return 0
        return TROUBLE if self.failed else 0 if self.selected else 1

    def compile(self) -> Regex | None:
        """The patterns as one; None if there are none, which matches nothing."""
        settings = self.settings
        if not settings.patterns:
            return None
        try:
            return compile_patterns(
                tuple(settings.patterns),
                settings.flavour,
                ignore_case=settings.ignore_case,
                whole_word=settings.words,
                whole_line=settings.whole_lines,
                utf8=settings.utf8,
            )
        except RegexError as mistake:
            raise UsageError(f"{self.program}: {mistake}", TROUBLE) from None

    async def complain(self, name: str, why: str, *, warning: bool = False) -> None:
        """Report a problem with a file, except with ``-s``."""
        self.failed = self.failed or not warning
        if not self.settings.silent:
            await self.ctx.err(f"{self.program}: {'warning: ' if warning else ''}{name}: {why}\n")

    async def search(self, searcher: Searcher, target: Target) -> None:
        path, shown, named = target
        try:
            stream = self.ctx.stdin if path == "-" else await self.ctx.open(path)
        except FileError as error:
            await self.complain(shown, error.strerror)
            if error.code == "EISDIR":
                await searcher.unreadable(shown, named)
            return
        if self.is_output(stream):
            self.failed = True
            await self.ctx.err(f"{self.program}: {shown}: input file is also the output\n")
        else:
            outcome = await searcher.search(stream, shown, named)
            self.selected = self.selected or outcome.selected > 0
            if outcome.error is not None:
                await self.complain(shown, str(outcome.error))
        if path != "-":
            stream.close()

    def is_output(self, stream: Stream) -> bool:
        """Whether searching would feed on its own output."""
        settings, output = self.settings, self.ctx.stdout
        if not settings.shows_lines or settings.max_count == 1:
            return False
        if not isinstance(stream, FileStream) or not isinstance(output, FileStream):
            return False
        one, other = stream.file.stat(), output.file.stat()
        return one.is_file and (one.dev, one.ino) == (other.dev, other.ino)
