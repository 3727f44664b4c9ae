"""``diff`` of folders: entries that only one has, and the files that both have."""

from __future__ import annotations

from fnmatch import fnmatchcase

from simcloud.machine.files import FileError
from simcloud.userland.commands.text.diffs.comparison import TROUBLE, Comparison
from simcloud.userland.commands.text.quoting import quote_name

_MAX_DEPTH = 100


async def compare_folders(comparison: Comparison, one: str, two: str, depth: int = 0) -> int:
    """Compare the entries of two folders, recursively with -r."""
    ctx, options = comparison.ctx, comparison.options
    ctx.spend_turn()
    try:
        names = [set(_names(comparison, folder)) for folder in (one, two)]
    except FileError as error:
        await ctx.err(f"{ctx.args[0]}: {quote_name(error.path)}: {error.strerror}\n")
        return TROUBLE
    worst = 0
    for name in sorted(names[0] | names[1], key=lambda name: name.encode("utf-8", "surrogateescape")):
        left, right = f"{one.rstrip('/')}/{name}", f"{two.rstrip('/')}/{name}"
        if name not in names[0] or name not in names[1]:
            missing_first = name not in names[0]
            present = right if missing_first else left
            new_file = "N" in options or ("unidirectional-new-file" in options and missing_first)
            if not new_file or (ctx.files.is_dir(present) and "r" not in options):
                await ctx.out(f"Only in {two if missing_first else one}: {name}\n")
                worst = max(worst, 1)
                continue
        worst = max(worst, await _compare_entries(comparison, left, right, depth))
    return worst


def _names(comparison: Comparison, folder: str) -> list[str]:
    files = comparison.ctx.files
    if not files.exists(folder) and "N" in comparison.options:
        return []
    excluded = comparison.options.all("x")
    return [
        name for name in files.listdir(folder) if not any(fnmatchcase(name, pattern) for pattern in excluded)
    ]


async def _compare_entries(comparison: Comparison, left: str, right: str, depth: int) -> int:
    ctx, options = comparison.ctx, comparison.options
    folders = [ctx.files.is_dir(path) or not ctx.files.exists(path) for path in (left, right)]
    if all(folders):
        if "r" not in options:
            await ctx.out(f"Common subdirectories: {left} and {right}\n")
            return 0
        if depth > _MAX_DEPTH:
            await ctx.err(f"{ctx.args[0]}: {left}: recursive directory loop\n")
            return TROUBLE
        return await compare_folders(comparison, left, right, depth + 1)
    kinds = [_kind(comparison, path) for path in (left, right)]
    if kinds[0] != kinds[1] and "" not in kinds:
        await ctx.out(f"File {left} is a {kinds[0]} while file {right} is a {kinds[1]}\n")
        return 1
    words = " ".join(quote_name(word) for word in _option_words(comparison))
    title = f"{' '.join(filter(None, ['diff', words]))} {quote_name(left)} {quote_name(right)}\n"
    return await comparison.files(left, right, title if comparison.style else "")


def _kind(comparison: Comparison, path: str) -> str:
    files = comparison.ctx.files
    if not files.exists(path):
        return ""
    if files.is_dir(path):
        return "directory"
    stat = files.stat(path)
    return "regular empty file" if stat.size == 0 else "regular file"


def _option_words(comparison: Comparison) -> list[str]:
    """The options as they were typed."""
    words = list(comparison.ctx.args[1:])
    for operand in reversed(comparison.options.operands):
        words.reverse()
        words.remove(operand)
        words.reverse()
    return [word for word in words if word != "--"]
