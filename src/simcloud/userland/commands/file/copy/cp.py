"""cp: copy files and folders."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.copy.copier import Copier
from simcloud.userland.commands.file.copy.rules import OPTIONS, Rules, read_rules
from simcloud.userland.commands.file.copy.targets import Targets, read_targets
from simcloud.userland.commands.file.names import complain, folder_name, join
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name_always
from simcloud.userland.commands.text.tool import misuse, tool


@tool("cp", options=OPTIONS, usage="[OPTION]... SOURCE... DEST")
async def cp(ctx: Context, options: Options) -> int:
    """Copy files, and folders with -r."""
    rules = read_rules(ctx, options)
    if rules.hard_links and rules.symbolic_links:
        misuse(ctx, "cannot make both hard and symbolic links")
    targets = read_targets(ctx, options)
    if rules.parents and not targets.into:
        misuse(ctx, "with --parents, the destination must be a directory")
    copier, status = Copier(ctx, rules), 0
    seen: set[tuple[str, int, int]] = set()
    for word in targets.sources:
        source = word.rstrip("/") or word if rules.strip_slashes else word
        if targets.into and await _is_repeated(ctx, rules, source, seen):
            continue
        try:
            place = _place(ctx, rules, targets, source)
        except FileError as error:
            status = await complain(ctx, f"cannot make directory {quote_name_always(error.path)}", error)
            continue
        status = await copier.copy(source, place) or status
    return status


async def _is_repeated(ctx: Context, rules: Rules, source: str, seen: set[tuple[str, int, int]]) -> bool:
    """Whether a source was named before, which is a warning, not an error."""
    try:
        found = ctx.files.stat(source, follow=rules.follow == "always")
    except FileError:
        return False
    if (source, found.dev, found.ino) in seen:
        kind = "directory" if found.is_dir else "file"
        await complain(ctx, f"warning: source {kind} {quote_name_always(source)} specified more than once")
        return True
    seen.add((source, found.dev, found.ino))
    return False


def _place(ctx: Context, rules: Rules, targets: Targets, source: str) -> str:
    if not rules.parents:
        return targets.target if source.rstrip("/").endswith("..") else _entry_place(targets, source)
    place = join(targets.target, source.strip("/"))
    ctx.files.mkdir(folder_name(place), parents=True)
    return place


def _entry_place(targets: Targets, source: str) -> str:
    """``cp -r folder/. target`` means what is in the folder."""
    is_dot = targets.into and source.rstrip("/").rpartition("/")[2] == "."
    return targets.target if is_dot else targets.place(source)
