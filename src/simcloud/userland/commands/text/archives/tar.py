"""``tar``: archives of files, plain or compressed by gzip.

The entries of a folder are archived in byte order, because that is the order of our folders.
"""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.bash.patterns import compile_pattern
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.archives.tar_create import create
from simcloud.userland.commands.text.archives.tar_extract import extract
from simcloud.userland.commands.text.archives.tar_request import TROUBLE, Request
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.tool import tool

_TRY_HELP = "Try '{name} --help' or '{name} --usage' for more information."
_FOREIGN = {"j": "bzip2", "J": "xz", "Z": "compress"}
_WITH_VALUE = "fCbXT"
_OPTIONS = (
    "c,create x,extract,get t,list r,append u,update A d,diff f,file= z,gzip,gunzip j,bzip2 J,xz Z,compress "
    "a,auto-compress C,directory= v,verbose O,to-stdout k,keep-old-files p,preserve-permissions m,touch "
    "P,absolute-names h,dereference b,blocking-factor= exclude= strip-components= numeric-owner no-same-owner "
    "same-owner overwrite no-recursion no-same-permissions owner= group= format= wildcards sort= mtime="
)


def _add_dashes(args: list[str]) -> list[str]:
    """``tar xzf FILE`` is an older spelling of ``tar -x -z -f FILE``."""
    if len(args) < 2 or args[1].startswith("-") or not args[1]:
        return args
    words, rest = [args[0]], args[2:]
    for letter in args[1]:
        words.append(f"-{letter}")
        if letter in _WITH_VALUE:
            if not rest:
                raise UsageError(
                    f"{args[0]}: Old option '{letter}' requires an argument.\n{_TRY_HELP.format(name=args[0])}",
                    TROUBLE,
                )
            words.append(rest.pop(0))
    return words + rest


@tool("tar", options=_OPTIONS, version="(GNU tar) 1.34", trouble=64, try_help=_TRY_HELP, rewrite=_add_dashes)
async def tar(ctx: Context, options: Options) -> int:
    """Create archives, list them, or extract files from them."""
    mode = _mode(ctx, options)
    archive = options.last("f", default="-")
    strip = parse_number(options.last("strip-components", default="0"))
    if strip is None or strip < 0:
        raise UsageError(
            f"{ctx.args[0]}: {options.last('strip-components')}: Invalid number of elements", TROUBLE
        )
    ending = archive.rpartition(".")[2] if "a" in options else ""
    request = Request(
        ctx,
        options,
        archive,
        options.last("C"),
        gzip="z" in options or ending in ("gz", "tgz", "taz"),
        excluded=[compile_pattern(pattern) for pattern in options.all("exclude")],
        strip=strip,
    )
    foreign = next((_FOREIGN[name] for name, _ in options.given if name in _FOREIGN), None)
    if foreign is not None:
        request.give_up(
            f"tar (child): {foreign}: Cannot exec: No such file or directory",
            "tar (child): Error is not recoverable: exiting now",
            "Child returned status 2",
        )
    if request.folder and not ctx.files.is_dir(request.folder):
        why = "Not a directory" if ctx.files.exists(request.folder) else "No such file or directory"
        request.give_up(f"{request.folder}: Cannot open: {why}")
    await (create(request, append=mode == "r") if mode in "cr" else extract(request, listing=mode == "t"))
    if request.failed:
        await ctx.err(f"{ctx.args[0]}: Exiting with failure status due to previous errors\n")
        return TROUBLE
    return 0


def _mode(ctx: Context, options: Options) -> str:
    modes = {name for name, _ in options.given if name in "Acdtrux"}
    if len(modes) > 1:
        what = "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option"
    elif not modes:
        what = "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"
    elif modes & {"c", "r"} and not options.operands:
        what = "Cowardly refusing to create an empty archive"
        if "r" in modes:
            return "r"
    elif "r" in modes and "z" in options:
        what = "Cannot update compressed archives"
    elif modes <= {"A", "d", "u"}:
        what = f"The option '-{modes.pop()}' is not supported"
    else:
        return modes.pop()
    raise UsageError(f"{ctx.args[0]}: {what}\n{_TRY_HELP.format(name=ctx.args[0])}", TROUBLE)
