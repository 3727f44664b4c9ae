"""chown and chgrp: change the owners of files."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.file.tree_walk import Walk
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, tool

UNCHANGED = -1


class _Owner(NamedTuple):
    uid: int
    gid: int


@tool(
    "chown",
    "chgrp",
    options="c,changes f,silent,quiet v,verbose dereference h,no-dereference from= no-preserve-root preserve-root "
    "reference= R,recursive H L P",
    usage="[OPTION]... [OWNER][:[GROUP]] FILE...",
)
async def chown(ctx: Context, options: Options) -> int:
    """Change the owner and the group of files."""
    operands, accounts = list(options.operands), Accounts(ctx.files)
    if options.any("reference"):
        try:
            found = ctx.files.stat(options.last("reference"))
        except FileError as error:
            fail(ctx, f"failed to get attributes of {quote_name_always(options.last('reference'))}: {error}")
        wanted = _Owner(found.uid, found.gid)
    else:
        if not operands:
            misuse(ctx, "missing operand")
        text = operands.pop(0)
        if not operands:
            misuse(ctx, f"missing operand after {quote(text)}")
        wanted = await _parse_owner(ctx, accounts, text)
    if not operands:
        misuse(ctx, "missing operand")
    only = await _parse_owner(ctx, accounts, options.last("from")) if options.any("from") else None
    status = 0
    for path in operands:
        status = await _Chown(ctx, options, accounts, wanted, only).run(path) or status
    return status


async def _parse_owner(ctx: Context, accounts: Accounts, text: str) -> _Owner:
    if ctx.args[0].endswith("chgrp"):
        return _Owner(UNCHANGED, _number(ctx, "group", text, text, accounts.gid(text)))
    user, colon, group = text.partition(":")
    if not colon and "." in text and accounts.uid(text) is None:
        user, colon, group = text.partition(".")
        if accounts.uid(user) is not None:
            await complain(ctx, f"warning: '.' should be ':': {quote(text)}")
        else:
            user, colon, group = text, "", ""
    uid = gid = UNCHANGED
    if user:
        known = accounts.find_user(user)
        uid = _number(ctx, "user", text, user, None if known is None else known.uid)
        if colon and not group:
            if known is None:
                fail(ctx, f"invalid spec: {quote(text)}")
            gid = known.gid
    if group:
        gid = _number(ctx, "group", text, group, accounts.gid(group))
    return _Owner(uid, gid)


def _number(ctx: Context, kind: str, whole: str, text: str, known: int | None) -> int:
    if known is not None:
        return known
    digits = text.removeprefix("+")
    if not (digits.isdecimal() and digits.isascii()) or int(digits) >= 2**32 - 1:
        fail(ctx, f"invalid {kind}: {quote(whole)}")
    return int(digits)


class _Chown:
    """Changes one operand and, with -R, everything below it."""

    def __init__(
        self, ctx: Context, options: Options, accounts: Accounts, wanted: _Owner, only: _Owner | None
    ) -> None:
        self._ctx = ctx
        self._options = options
        self._accounts = accounts
        self._owner = wanted
        self._only = only
        self._for_groups = ctx.args[0].endswith("chgrp")

    async def run(self, path: str) -> int:
        ctx, walk = self._ctx, Walk(self._ctx)
        try:
            if self._options.any("R"):
                status = 0
                async for where, _ in walk.below(path):
                    status = await self._change(where, follow=False) or status
                return status or walk.status
            follow = not self._options.any("h")
            ctx.files.stat(path, follow=False)
            if follow and not ctx.files.exists(path):
                return await self._complain(
                    f"cannot dereference {quote_name_always(path)}", FileError("ENOENT")
                )
            return await self._change(path, follow)
        except FileError as error:
            return await self._complain(f"cannot access {quote_name_always(path)}", error)

    async def _change(self, path: str, follow: bool) -> int:
        before = self._ctx.files.stat(path, follow)
        if self._only is not None and (
            self._only.uid not in (UNCHANGED, before.uid) or self._only.gid not in (UNCHANGED, before.gid)
        ):
            return 0
        shown, word = quote_name_always(path), "group" if self._for_groups else "ownership"
        try:
            self._ctx.files.chown(path, *self._owner, follow)
        except FileError as error:
            status = await self._complain(f"changing {word} of {shown}", error)
            if self._options.any("v"):
                start, end = self._owner_text(before.uid, before.gid), self._owner_text(*self._owner)
                await self._ctx.out(f"failed to change {word} of {shown} from {start} to {end}\n")
            return status
        after = self._ctx.files.stat(path, follow)
        end = self._owner_text(*self._owner)
        start = self._owner_text(before.uid, before.gid)
        if self._owner.uid == UNCHANGED and not self._for_groups:  # ``:group`` names the user as nobody
            start = self._accounts.user(before.uid) + start
        if (before.uid, before.gid) == (after.uid, after.gid):
            if self._options.any("v"):
                await self._ctx.out(f"{word} of {shown} retained as {end}\n")
        elif self._options.any("v", "c"):
            await self._ctx.out(f"changed {word} of {shown} from {start} to {end}\n")
        return 0

    def _owner_text(self, uid: int, gid: int) -> str:
        """Only what is being changed is shown."""
        user = "" if self._owner.uid == UNCHANGED else self._accounts.user(uid)
        group = "" if self._owner.gid == UNCHANGED else self._accounts.group(gid)
        if self._for_groups or not (self._owner.gid != UNCHANGED or group):
            return group if self._for_groups else user
        return f"{user}:{group}"

    async def _complain(self, what: str, error: FileError) -> int:
        return 1 if self._options.any("f") else await complain(self._ctx, what, error)
