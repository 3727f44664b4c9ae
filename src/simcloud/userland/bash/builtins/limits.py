"""umask, ulimit and times: limits and usage of resources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simcloud.machine.proc import TASK_BYTES
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

_SYMBOLIC = re.compile(r"([ugoa]*)([-+=])([rwx]*)\Z")
_LIMITS: Final = (
    ("R", "real-time non-blocking time", "microseconds, ", "unlimited"),
    ("c", "core file size", "blocks, ", "0"),
    ("d", "data seg size", "kbytes, ", "unlimited"),
    ("e", "scheduling priority", "", "0"),
    ("f", "file size", "blocks, ", "unlimited"),
    ("i", "pending signals", "", ""),
    ("l", "max locked memory", "kbytes, ", "8192"),
    ("m", "max memory size", "kbytes, ", "unlimited"),
    ("n", "open files", "", ""),
    ("p", "pipe size", "512 bytes, ", "8"),
    ("q", "POSIX message queues", "bytes, ", "819200"),
    ("r", "real-time priority", "", "0"),
    ("s", "stack size", "kbytes, ", "8192"),
    ("t", "cpu time", "seconds, ", "unlimited"),
    ("u", "max user processes", "", ""),
    ("v", "virtual memory", "kbytes, ", "unlimited"),
    ("x", "file locks", "", "unlimited"),
)


@builtin("umask")
async def umask(shell: Shell, argv: list[str]) -> int:
    """Show or set which permissions new files do not get."""
    try:
        options = Options(argv, "pS")
    except BadOption as mistake:
        return await usage(shell, "umask", str(mistake))
    files = shell.ctx.files
    if not options.rest:
        shown = _symbolic(files.umask) if "S" in options else f"{files.umask:04o}"
        prefix = ("umask -S " if "S" in options else "umask ") if "p" in options else ""
        await shell.out(f"{prefix}{shown}\n")
        return 0
    text = options.rest[0]
    if text[:1].isdigit():
        if not re.fullmatch(r"[0-7]{1,4}", text) or int(text, 8) > 0o777:
            await shell.complain(f"umask: {text}: octal number out of range")
            return 1
        files.umask = int(text, 8)
    else:
        mask = _parse_symbolic(text, files.umask)
        if mask is None:
            await shell.complain(f"umask: {_symbolic_mistake(text)}")
            return 1
        files.umask = mask
    if "S" in options:
        await shell.out(_symbolic(files.umask) + "\n")
    return 0


def _symbolic(mask: int) -> str:
    allowed = ~mask & 0o777
    parts = []
    for who, shift in (("u", 6), ("g", 3), ("o", 0)):
        bits = allowed >> shift & 7
        parts.append(
            who + "=" + "".join(letter for letter, bit in (("r", 4), ("w", 2), ("x", 1)) if bits & bit)
        )
    return ",".join(parts)


def _parse_symbolic(text: str, mask: int) -> int | None:
    allowed = ~mask & 0o777
    for clause in text.split(","):
        match = _SYMBOLIC.match(clause)
        if match is None:
            return None
        bits = sum({"r": 4, "w": 2, "x": 1}[letter] for letter in dict.fromkeys(match[3]))
        who = match[1] or "a"
        for letter, shift in (("u", 6), ("g", 3), ("o", 0)):
            if letter not in who and "a" not in who:
                continue
            if match[2] == "=":
                allowed = allowed & ~(7 << shift) | bits << shift
            elif match[2] == "+":
                allowed |= bits << shift
            else:
                allowed &= ~(bits << shift)
    return ~allowed & 0o777


def _symbolic_mistake(text: str) -> str:
    for clause in text.split(","):
        rest = clause.lstrip("ugoa")
        if rest[:1] not in ("+", "-", "="):
            return f"`{rest[:1]}': invalid symbolic mode operator"
        wrong = rest[1:].lstrip("rwx")
        if wrong:
            return f"`{wrong[0]}': invalid symbolic mode character"
    return f"`{text[:1]}': invalid symbolic mode character"


@builtin("ulimit")
async def ulimit(shell: Shell, argv: list[str]) -> int:
    """Show limits. They belong to the container; a shell cannot change them."""
    try:
        options = Options(argv, "SHabcdefiklmnpqrstuvxPRT")
    except BadOption as mistake:
        return await usage(shell, "ulimit", str(mistake))
    tasks = str(shell.ctx.machine.memory_bytes // TASK_BYTES)
    own = {"n": str(shell.ctx.process.open_files["H" in options]), "u": tasks, "i": tasks}
    chosen = [letter for letter in options.given if letter not in "SHa"]
    if "a" in options:
        for letter, name, unit, value in _LIMITS:
            label = f"({unit}-{letter})"
            await shell.out(f"{name}{label:>{36 + 3 - len(name) + 1}} {own.get(letter, value)}\n")
        return 0
    if options.rest:
        if options.rest[0] not in ("unlimited", "hard", "soft") and not options.rest[0].isdigit():
            await shell.complain(f"ulimit: {options.rest[0]}: invalid number")
            return 1
        return 0
    table = {letter: own.get(letter, value) for letter, _, _, value in _LIMITS}
    for letter in chosen or ["f"]:
        await shell.out(table.get(letter, "unlimited") + "\n")
    return 0
