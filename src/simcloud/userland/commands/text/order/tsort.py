"""``tsort`` and ``shuf``: order from relations, and by chance."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import UINTMAX, number, parse_number
from simcloud.userland.commands.text.inputs import emit, read_operand
from simcloud.userland.commands.text.quoting import quote, quoted_name
from simcloud.userland.commands.text.tool import at_most, fail, misuse, tool

_BATCH = 1000


class _Item:
    """A word, how many must come before it, and which come after."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.before = 0
        self.after: list[_Item] = []
        self.printed = False


@tool("tsort", usage="[OPTION] [FILE]")
async def tsort(ctx: Context, options: Options) -> int:
    """Write words so that every pair of the input is in order."""
    at_most(ctx, options.operands, 1)
    name = (options.operands or ["-"])[0]
    if name != "-" and ctx.files.is_dir(name):
        return 0  # as the genuine one: it takes a folder for an empty file
    data = await read_operand(ctx, name, cannot_read="{name}: read error: {why}")
    words = [word for word in data.translate(bytes.maketrans(b"\t\n", b"  ")).split(b" ") if word]
    if len(words) % 2:
        fail(ctx, f"{quoted_name(name)}: input contains an odd number of tokens")
    items: dict[bytes, _Item] = {}
    for left, right in zip(words[::2], words[1::2], strict=True):
        one, other = items.setdefault(left, _Item(left)), items.setdefault(right, _Item(right))
        if left != right:
            one.after.append(other)
            other.before += 1
    return await _print_in_order(ctx, items, quoted_name(name))


async def _print_in_order(ctx: Context, items: dict[bytes, _Item], name: str) -> int:
    status = 0
    in_name_order = sorted(items.values(), key=lambda item: item.name)
    left = len(items)
    while left:
        ready = deque(item for item in in_name_order if item.before == 0 and not item.printed)
        while ready:
            ctx.spend_turn()
            item = ready.popleft()
            item.printed = True
            left -= 1
            await emit(ctx, item.name + b"\n")
            for follower in reversed(item.after):
                follower.before -= 1
                if follower.before == 0:
                    ready.append(follower)
        if left:
            status = 1
            await ctx.err(f"{ctx.args[0]}: {name}: input contains a loop:\n")
            await _cut_loop(ctx, in_name_order)
    return status


async def _cut_loop(ctx: Context, items: list[_Item]) -> None:
    """Walk back from item to predecessor until one comes up twice; name that loop and cut it."""
    came_from: dict[_Item, _Item] = {}
    loop: _Item | None = None
    while True:
        for item in items:
            ctx.spend_turn()
            if item.before == 0:
                continue
            if loop is None:
                loop = item
            elif loop in item.after:
                if item not in came_from:
                    came_from[item] = loop
                    loop = item
                    continue
                item.after.remove(loop)
                loop.before -= 1
                while True:
                    await ctx.err(f"{ctx.args[0]}: {loop.name.decode('utf-8', 'surrogateescape')}\n")
                    if loop is item:
                        return
                    loop = came_from[loop]


@tool(
    "shuf",
    options="e,echo i,input-range= n,head-count= o,output= random-source= r,repeat z,zero-terminated",
    usage="[OPTION]... [FILE]",
)
async def shuf(ctx: Context, options: Options) -> int:
    """Write lines in random order."""
    end = b"\0" if "z" in options else b"\n"
    limit = _limit(ctx, options)
    lines: Sequence[bytes] | Sequence[int] = await _candidates(ctx, options, end)
    chance = ctx.random("shuf")
    output = await _output(ctx, options)

    def shown(position: int) -> bytes:
        line = lines[position]
        return (line if isinstance(line, bytes) else b"%d" % line) + end

    if "r" in options:
        if limit and not lines:
            fail(ctx, "no lines to repeat")
        while limit:
            count = min(limit, _BATCH)
            ctx.spend_turn(_BATCH // 10)
            data = b"".join([shown(chance.randrange(len(lines))) for _ in range(count)])
            ctx.spend_bytes(len(data))
            await output.write(data)
            limit -= count
        return 0
    count = min(limit, len(lines))
    ctx.spend_bytes(count * 8)
    data = b"".join([shown(position) for position in chance.sample(range(len(lines)), count)])
    ctx.spend_bytes(len(data))
    await output.write(data)
    return 0


def _limit(ctx: Context, options: Options) -> int:
    counts = [number(ctx, text, "invalid line count", high=2**80) for text in options.all("n")]
    return min(counts, default=UINTMAX)


async def _candidates(ctx: Context, options: Options, end: bytes) -> Sequence[bytes] | Sequence[int]:
    if "e" in options and "i" in options:
        misuse(ctx, "cannot combine -e and -i options")
    if "e" in options:
        return [operand.encode("utf-8", "surrogateescape") for operand in options.operands]
    if "i" in options:
        if len(options.all("i")) > 1:
            fail(ctx, "multiple -i options specified")
        if options.operands:
            misuse(ctx, f"extra operand {quote(options.operands[0])}")
        text = options.last("i")
        low_text, dash, high_text = text.partition("-")
        low, high = parse_number(low_text), parse_number(high_text)
        if low is None or high is None or low > high + 1:
            wrong = low_text if low is None or not dash else high_text if high is None else text
            fail(ctx, f"invalid input range: {quote(wrong)}")
        return range(low, high + 1)
    at_most(ctx, options.operands, 1)
    data = await read_operand(ctx, (options.operands or ["-"])[0], cannot_read="read error: {why}")
    return data.removesuffix(end).split(end) if data else []


async def _output(ctx: Context, options: Options) -> Stream:
    if "o" not in options:
        return ctx.stdout
    path = options.last("o")
    try:
        return await ctx.open(path, read=False, write=True, create=True, truncate=True)
    except FileError as error:
        fail(ctx, f"{quoted_name(path)}: {error.strerror}")
