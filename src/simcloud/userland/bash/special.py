"""Variables that the shell maintains: ``RANDOM``, ``SECONDS``, ``LINENO``, ``PIPESTATUS`` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simcloud.userland.bash.variable import Variable

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

BASH_VERSION: Final = "5.2.15(1)-release"
_MODULUS: Final = 0x7FFF_FFFF


def install_special_variables(shell: Shell) -> None:
    """Give a shell's state its special variables."""
    state = shell.state
    first = not state.dynamic
    computed: dict[str, Callable[[], Variable]] = {
        "RANDOM": lambda: Variable(str(next_random(shell))),
        "SRANDOM": lambda: Variable(str(shell.ctx.random("shell").getrandbits(32))),
        "SECONDS": lambda: Variable(str(int(shell.ctx.kernel.now - shell.started_at))),
        "EPOCHSECONDS": lambda: Variable(str(int(shell.ctx.now))),
        "EPOCHREALTIME": lambda: Variable(f"{shell.ctx.now:.6f}"),
        "LINENO": lambda: Variable(str(shell.line)),
        "BASHPID": lambda: Variable(str(shell.ctx.process.pid)),
        "BASH_SUBSHELL": lambda: Variable(str(shell.subshell_level)),
        "PIPESTATUS": lambda: _array([str(status) for status in shell.pipe_statuses]),
        "FUNCNAME": lambda: _array(_function_names(shell)),
        "BASH_SOURCE": lambda: _array(_sources(shell)),
        "BASH_LINENO": lambda: _array([str(frame.call_line) for frame in reversed(shell.state.frames)]),
        "GROUPS": lambda: _array([str(shell.ctx.files.gid)]),
        "DIRSTACK": lambda: _array([shell.ctx.files.cwd, *shell.state.directories]),
        "_": lambda: Variable(shell.last_argument),
    }
    if not first:
        computed = {name: get for name, get in computed.items() if name in state.dynamic}
    state.dynamic = computed
    state.on_assign = {name: _ignore for name in computed if name not in ("RANDOM", "SECONDS", "_")}
    if "RANDOM" in computed:
        state.on_assign["RANDOM"] = lambda value: _seed(shell, value)
    if "SECONDS" in computed:
        state.on_assign["SECONDS"] = lambda value: _start_seconds(shell, value)
    state.on_assign["_"] = lambda value: setattr(shell, "last_argument", value)


def _ignore(_value: str) -> None:
    """Assignments to most special variables have no effect."""


def _array(values: list[str]) -> Variable:
    variable = Variable()
    variable.items = dict(enumerate(values))
    return variable


def _function_names(shell: Shell) -> list[str]:
    frames = shell.state.frames
    if not frames:
        return []
    names = [frame.name for frame in reversed(frames)]
    return [*names, "main"] if shell.mode == "script" or any(not f.is_function for f in frames) else names


def _sources(shell: Shell) -> list[str]:
    names = [frame.source_name for frame in reversed(shell.state.frames)]
    return [*names, shell.base_name] if shell.mode == "script" else names


def next_random(shell: Shell) -> int:
    """The next ``$RANDOM``: bash's own generator, first seeded from the world."""
    if shell.random_seed == 0:
        shell.random_seed = shell.ctx.random("shell").randrange(1, _MODULUS)
    seed = shell.random_seed or 123_459_876
    high, low = divmod(seed, 127_773)
    mixed = 16_807 * low - 2_836 * high
    shell.random_seed = mixed if mixed >= 0 else mixed + _MODULUS
    return (shell.random_seed >> 16 ^ shell.random_seed & 0xFFFF) & 0x7FFF


def _seed(shell: Shell, value: str) -> None:
    shell.random_seed = int(value) & 0xFFFF_FFFF if value.lstrip("-").isdigit() else 0
    shell.random_seed = shell.random_seed or 123_459_876


def _start_seconds(shell: Shell, value: str) -> None:
    seconds = int(value) if value.lstrip("-").isdigit() else 0
    shell.started_at = shell.ctx.kernel.now - seconds
