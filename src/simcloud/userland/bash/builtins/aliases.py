"""alias and unalias. Aliases are expanded only where ``expand_aliases`` is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.escapes import quote_single

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


@builtin("alias")
async def alias(shell: Shell, argv: list[str]) -> int:
    """Define or show aliases."""
    try:
        options = Options(argv, "p")
    except BadOption as mistake:
        return await usage(shell, "alias", str(mistake))
    aliases = shell.state.aliases
    if not options.rest or "p" in options:
        for name in sorted(aliases):
            await shell.out(f"alias {name}={quote_single(aliases[name])}\n")
    status = 0
    for word in options.rest:
        name, equals, value = word.partition("=")
        if equals and name:
            if any(character in name for character in "/$`\\\"' \t\n;&|()<>"):
                await shell.complain(f"alias: `{name}': invalid alias name")
                status = 1
            else:
                aliases[name] = value
        elif word in aliases:
            await shell.out(f"alias {word}={quote_single(aliases[word])}\n")
        else:
            await shell.complain(f"alias: {word}: not found")
            status = 1
    return status


@builtin("unalias")
async def unalias(shell: Shell, argv: list[str]) -> int:
    """Forget aliases."""
    try:
        options = Options(argv, "a")
    except BadOption as mistake:
        return await usage(shell, "unalias", str(mistake))
    if "a" in options:
        shell.state.aliases.clear()
        return 0
    if not options.rest:
        return await usage(shell, "unalias")
    status = 0
    for name in options.rest:
        if shell.state.aliases.pop(name, None) is None:
            await shell.complain(f"unalias: {name}: not found")
            status = 1
    return status
