"""The targets of cp, mv and ln: one name, or a folder for several sources."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import base_name, join
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse


class Targets(NamedTuple):
    """Sources and their target; with ``into`` the target is a folder."""

    sources: list[str]
    target: str
    into: bool

    def place(self, source: str) -> str:
        """Return the target path of a source."""
        return join(self.target, base_name(source)) if self.into else self.target


def read_targets(ctx: Context, options: Options) -> Targets:
    """Parse the operands, -t and -T; ends the command when they are invalid."""
    operands = list(options.operands)
    if options.any("t"):
        if options.any("T"):
            fail(ctx, "cannot combine --target-directory (-t) and --no-target-directory (-T)")
        folder = options.last("t")
        if not operands:
            misuse(ctx, "missing file operand")
        reason = why_no_folder(ctx, folder)
        if reason is not None:
            fail(ctx, f"target directory {quote_name_always(folder)}: {reason}")
        return Targets(operands, folder, True)
    if not operands:
        misuse(ctx, "missing file operand")
    if len(operands) == 1:
        misuse(ctx, f"missing destination file operand after {quote_name_always(operands[0])}")
    target = operands.pop()
    if options.any("T"):
        if len(operands) > 1:
            misuse(ctx, f"extra operand {quote_name_always(target)}")
        return Targets(operands, target, False)
    reason = why_no_folder(ctx, target)
    if reason is not None and len(operands) > 1:
        fail(ctx, f"target {quote_name_always(target)}: {reason}")
    return Targets(operands, target, reason is None)


def why_no_folder(ctx: Context, path: str) -> FileError | None:
    """Return the reason why a path is no target folder; None if it is one."""
    try:
        return None if ctx.files.stat(path).is_dir else FileError("ENOTDIR", path)
    except FileError as error:
        return error
