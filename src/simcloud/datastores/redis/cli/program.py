"""The program ``redis-cli``: a single command, the lines of a pipe, an interactive prompt, or a special mode."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.cli.link import Link, Unreachable
from simcloud.datastores.redis.cli.options import BadOption, Options, parse
from simcloud.datastores.redis.cli.output import for_people, raw
from simcloud.datastores.redis.resp import ErrorReply, Reply, Words, split_words
from simcloud.machine.process import Context

WARNING: Final = (
    "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
)
LISTENING: Final = (b"subscribe", b"psubscribe", b"monitor")
VERBATIM: Final = {
    (b"debug", b"htstats"): 0,
    (b"debug", b"htstats-key"): 0,
    (b"memory", b"malloc-stats"): 0,
    (b"memory", b"doctor"): 0,
    (b"cluster", b"nodes"): 2,
    (b"cluster", b"info"): 2,
    (b"client", b"list"): 0,
    (b"client", b"info"): 0,
    (b"latency", b"graph"): 3,
    (b"latency", b"doctor"): 2,
}
"""Commands whose replies are printed as they are, in every mode, and their numbers of words, 0 if any."""


async def redis_cli(ctx: Context) -> int:
    """Run the program."""
    try:
        options = parse(ctx.args[1:], ctx.env.get("REDISCLI_AUTH"))
    except BadOption as bad:
        await ctx.err(f"{bad}\n")
        return 1
    if options.shown is not None:
        await ctx.out(options.shown)
        return 0
    if options.password is not None and options.warn:
        await ctx.err(WARNING)
    options.output = options.output or ("no-raw" if ctx.stdout.isatty else "raw")
    cli = Cli(ctx, options)
    try:
        if options.mode:
            from simcloud.datastores.redis.cli.modes import run_mode  # rarely used

            return await run_mode(ctx, cli.link, options)
        if options.words or options.stdin_last:
            return await cli.once([word.encode("utf-8", "surrogateescape") for word in options.words])
    except Unreachable as error:
        await ctx.err(f"{error}\n")
        return 1
    return await cli.converse()


class Cli:
    """One run of the program."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options
        self.link = Link(ctx, options)

    async def once(self, words: Words) -> int:
        """Run the command of the command line, with its repetitions."""
        if self._options.stdin_last:
            words.append(await _all(self._ctx))
        await self.link.open()
        for turn in range(self._options.repeat):
            if turn:
                self._ctx.spend_turn()
                await self._ctx.pay_time()
            await self.do(words)
            if self._options.interval_s:
                await self._ctx.sleep(self._options.interval_s)
        return 0

    async def do(self, words: Words) -> None:
        """One command; who listens or monitors does so until the connection ends."""
        reply = await self.link.ask(words)
        name = words[0].lower()
        if name in LISTENING and self._options.output != "raw" and name != b"monitor":
            await self._ctx.out("Reading messages... (press Ctrl-C to quit)\n")
        await self._show(words, reply)
        while name in LISTENING and not isinstance(reply, ErrorReply):
            await self._show(words, await self.link.next())

    async def converse(self) -> int:
        """Line by line from stdin, with a prompt for a person."""
        ctx = self._ctx
        talks = ctx.stdin.isatty
        try:
            await self.link.open()
        except Unreachable as error:
            await ctx.err(f"{error}\n")
        if talks:
            await ctx.out(self._prompt())
        async for line in ctx.lines(ctx.stdin):
            if not await self._line(line.rstrip(b"\r\n")):
                return 0
            if talks:
                await ctx.out(self._prompt())
        return 0

    async def _line(self, line: bytes) -> bool:
        """One line typed; False when it was the last."""
        words = split_words(line)
        if words is None:
            await self._ctx.out("Invalid argument(s)\n")
            return True
        if not words:
            return True
        name = words[0].lower()
        if name in (b"quit", b"exit"):
            return False
        if name == b"clear":
            await self._ctx.out("\x1b[H\x1b[2J")
            return True
        if name == b"connect" and len(words) == 3:
            self._options.host, port = words[1].decode("utf-8", "replace"), words[2]
            self._options.port = int(port) if port.isdigit() and len(port) < 6 else 0
            self.link.close()
            return await self._try([])
        times = int(name) if name.isdigit() and len(name) < 7 and len(words) > 1 else 1
        for _ in range(times):
            self._ctx.spend_turn()
            await self._ctx.pay_time()
            await self._try(words[1:] if times > 1 else words)
        return True

    async def _try(self, words: Words) -> bool:
        try:
            if words:
                await self.do(words)
            else:
                await self.link.open()
        except Unreachable as error:
            if str(error).startswith("Error:") and words and words[0].lower() != b"shutdown":
                await self._again(words)
            elif not str(error).startswith("Error:"):
                await self._ctx.err(f"{error}\n")
        return True

    async def _again(self, words: Words) -> None:
        """The connection had been lost meanwhile: once more over a new one."""
        try:
            await self.do(words)
        except Unreachable as error:
            await self._ctx.err(f"{error}\n")

    def _prompt(self) -> str:
        if not self.link.connected:
            return "not connected> "
        place = f"{self._options.host}:{self._options.port}"
        db = f"[{self.link.db}]" if self.link.db else ""
        return f"{place}{db}{'(TX)' if self.link.in_transaction else ''}> "

    async def _show(self, words: Words, reply: Reply) -> None:
        if is_verbatim(words):
            await self._ctx.stdout.write(raw(reply))
        elif self._options.output == "raw":
            await self._ctx.stdout.write(raw(reply) + b"\n")
        else:
            await self._ctx.out(for_people(reply))


def is_verbatim(words: Words) -> bool:
    """Return whether the reply to a command is a text that ends its last line itself."""
    name, verb = words[0].lower(), words[1].lower() if len(words) > 1 else b""
    return name in (b"info", b"lolwut") or VERBATIM.get((name, verb)) in (0, len(words))


async def _all(ctx: Context) -> bytes:
    parts = []
    while data := await ctx.stdin.read():
        ctx.spend_bytes(len(data))
        parts.append(data)
    return b"".join(parts)
