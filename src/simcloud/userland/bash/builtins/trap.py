"""trap: set commands to run at signals and other events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.machine.process import Signal
from simcloud.userland.bash.builtins.jobcontrol import signal_table
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.escapes import quote_single
from simcloud.userland.bash.traps import PSEUDO

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


def _name(spec: str) -> str | None:
    upper = spec.upper()
    if upper in ("0", "EXIT", "SIGEXIT"):
        return "EXIT"
    if upper in PSEUDO:
        return upper
    signal = Signal.parse(spec)
    return signal.name if signal is not None else None


def _order(name: str) -> int:
    if name == "EXIT":
        return 0
    return 100 + PSEUDO.index(name) if name in PSEUDO else int(Signal[name])


@builtin("trap")
async def trap(shell: Shell, argv: list[str]) -> int:
    """Set, reset or show traps."""
    try:
        options = Options(argv, "lp")
    except BadOption as mistake:
        return await usage(shell, "trap", str(mistake))
    if "l" in options:
        await shell.out(signal_table())
        return 0
    words = options.rest
    if "p" in options or not words:
        return await _show(shell, words)
    if len(words) == 1:
        # One word alone goes back to the default, if it names a signal.
        if _name(words[0]) is None:
            return await usage(shell, "trap")
        action: str | None = None
        specs = words
    elif words[0].isdigit() and _name(words[0]) is not None:
        action, specs = None, words
    else:
        action, specs = None if words[0] == "-" else words[0], words[1:]
    status = 0
    for spec in specs:
        name = _name(spec)
        if name is None:
            await shell.complain(f"trap: {spec}: invalid signal specification")
            status = 1
        else:
            shell.traps.set(name, action)
    return status


async def _show(shell: Shell, specs: list[str]) -> int:
    actions = {**shell.traps.inherited, **shell.traps.actions}
    names = sorted(actions, key=_order)
    if specs:
        names = []
        for spec in specs:
            name = _name(spec)
            if name is None:
                await shell.complain(f"trap: {spec}: invalid signal specification")
                return 1
            if name in actions:
                names.append(name)
    for name in names:
        shown = name if name in PSEUDO else f"SIG{name}"
        await shell.out(f"trap -- {quote_single(actions[name])} {shown}\n")
    return 0
