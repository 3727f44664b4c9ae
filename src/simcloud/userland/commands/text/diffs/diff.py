"""``diff``: compare two files or folders."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.diffs.cmp import DIFFUTILS, TRY_HELP, refuse
from simcloud.userland.commands.text.diffs.comparison import TROUBLE, Comparison
from simcloud.userland.commands.text.diffs.folders import compare_folders
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, tool


@tool(
    "diff",
    options="normal q,brief s,report-identical-files c C= context=? u U= unified=? "
    "p,show-c-function L,label= t,expand-tabs T,initial-tab r,recursive N,new-file "
    "unidirectional-new-file x,exclude= i,ignore-case E,ignore-tab-expansion Z,ignore-trailing-space "
    "b,ignore-space-change w,ignore-all-space B,ignore-blank-lines I,ignore-matching-lines= a,text "
    "strip-trailing-cr d,minimal speed-large-files color=? no-dereference horizon-lines= "
    "0 1 2 3 4 5 6 7 8 9",
    usage="[OPTION]... FILES",
    version=DIFFUTILS,
    trouble=TROUBLE,
    try_help=TRY_HELP,
)
async def diff(ctx: Context, options: Options) -> int:
    """Compare files line by line."""
    operands = options.operands
    if len(operands) < 2:
        refuse(ctx, f"missing operand after {quote((['diff', *ctx.args[1:]])[-1])}")
    if len(operands) > 2:
        refuse(ctx, f"extra operand {quote(operands[2])}")
    comparison = Comparison(ctx, options)
    one, two = operands
    folders = [name != "-" and ctx.files.is_dir(name) for name in operands]
    if all(folders):
        return await compare_folders(comparison, one, two)
    if any(folders):
        if "-" in operands:
            fail(ctx, "cannot compare '-' to a directory", TROUBLE)
        folder, file = (one, two) if folders[0] else (two, one)
        inside = f"{folder.rstrip('/') or '/'}/{file.rpartition('/')[2]}"
        one, two = (inside, two) if folders[0] else (one, inside)
    return await comparison.files(one, two)
