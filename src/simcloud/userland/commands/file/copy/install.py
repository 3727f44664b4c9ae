"""install: copy files and set what they are to be, or make folders."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.copy import backups
from simcloud.userland.commands.file.copy.copier import Copier
from simcloud.userland.commands.file.copy.rules import Rules
from simcloud.userland.commands.file.copy.targets import Targets, read_targets, why_no_folder
from simcloud.userland.commands.file.creation import make_parents
from simcloud.userland.commands.file.modes import Change, changed, parse_mode
from simcloud.userland.commands.file.names import complain, folder_name
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.text.quoting import always_quoted_name, quote
from simcloud.userland.commands.text.tool import fail, misuse, tool

DEFAULT_MODE = "755"


@tool(
    "install",
    options="c C,compare d,directory D g,group= m,mode= o,owner= p,preserve-timestamps s,strip t,target-directory= "
    "T,no-target-directory v,verbose " + backups.OPTIONS,
    usage="[OPTION]... SOURCE... DEST",
)
async def install(ctx: Context, options: Options) -> int:
    """Copy files with a given mode and owner, or with -d make folders."""
    changes = parse_mode(options.last("m") or DEFAULT_MODE)
    if changes is None:
        fail(ctx, f"invalid mode {quote(options.last('m'))}")
    uid, gid = _owner(ctx, options)
    if options.any("d"):
        if not options.operands:
            misuse(ctx, "missing file operand")
        return max([await _folder(ctx, options, path, changes, uid, gid) for path in options.operands])
    targets = _targets(ctx, options)
    rules = Rules(follow="always", remove_first=True, verbose=options.any("v"), moving=False,
                  backup=backups.backup_kind(ctx, options), suffix=options.last("S"),
                  keep={"timestamps"} if options.any("p") else set())  # fmt: skip
    status = 0
    for source in targets.sources:
        place = targets.place(source)
        if ctx.files.is_dir(source):
            status = await complain(ctx, f"omitting directory {always_quoted_name(source)}")
            continue
        failed = await Copier(ctx, rules).copy(source, place)
        status = failed or status
        if not failed:
            _settle(ctx, place, changed(0, changes, False, 0), uid, gid)
    return status


def _owner(ctx: Context, options: Options) -> tuple[int, int]:
    accounts = Accounts(ctx.files)
    numbers = []
    for option, kind, known in (("o", "user", accounts.uid), ("g", "group", accounts.gid)):
        text = options.last(option)
        number = known(text) if text else -1
        if number is None and text.isdecimal() and text.isascii():
            number = int(text)
        if number is None:
            fail(ctx, f"invalid {kind} {quote(text)}")
        numbers.append(number)
    return numbers[0], numbers[1]


def _targets(ctx: Context, options: Options) -> Targets:
    if options.any("D") and len(options.operands) >= 2 - options.any("t"):
        above = options.last("t") or folder_name(options.operands[-1])
        if why_no_folder(ctx, above) is not None:
            try:
                ctx.files.mkdir(above, 0o755, parents=True)
            except FileError as error:
                fail(ctx, f"cannot create directory {always_quoted_name(above)}: {error}")
    return read_targets(ctx, options)


async def _folder(
    ctx: Context, options: Options, path: str, changes: list[Change], uid: int, gid: int
) -> int:
    try:
        made = make_parents(ctx, path)
        if not ctx.files.is_dir(path):
            ctx.files.mkdir(path, 0o755)
            made.append(path)
        _settle(ctx, path, changed(0, changes, True, 0), uid, gid)
    except FileError as error:
        return await complain(ctx, f"cannot create directory {always_quoted_name(path)}", error)
    if options.any("v"):
        await ctx.out("".join(f"{ctx.args[0]}: creating directory {always_quoted_name(p)}\n" for p in made))
    return 0


def _settle(ctx: Context, path: str, mode: int, uid: int, gid: int) -> None:
    if (uid, gid) != (-1, -1):
        ctx.files.chown(path, uid, gid)
    ctx.files.chmod(path, mode)
