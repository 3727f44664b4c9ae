"""cd, pwd and the folder stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.machine.files import FileError
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


def logical_path(base: str, path: str) -> str:
    """Resolve ``.`` and ``..`` of a path by name, without following links."""
    parts: list[str] = []
    for part in (path if path.startswith("/") else f"{base}/{path}").split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _current(shell: Shell) -> str:
    return shell.state.get("PWD") or shell.ctx.files.cwd


async def change_folder(shell: Shell, command: str, path: str, shown: str, physical: bool = False) -> bool:
    """Go to a folder and keep ``PWD`` and ``OLDPWD``; a failure is reported."""
    files = shell.ctx.files
    try:
        target = path if physical else logical_path(_current(shell), path)
        try:
            files.chdir(target)
        except FileError:
            if physical or path.startswith("/"):
                raise
            files.chdir(path)
            target = files.cwd
    except FileError as error:
        await shell.complain(f"{command}: {shown}: {error.strerror}")
        return False
    state = shell.state
    state.assign("OLDPWD", _current(shell))
    state.assign("PWD", files.realpath(".") if physical else target)
    return True


@builtin("cd")
async def cd(shell: Shell, argv: list[str]) -> int:
    """Change the working folder."""
    try:
        options = Options(argv, "LPe@")
    except BadOption as mistake:
        return await usage(shell, "cd", str(mistake))
    if len(options.rest) > 1:
        await shell.complain("cd: too many arguments")
        return 1
    state = shell.state
    shows = False
    if not options.rest:
        home = state.get("HOME")
        if home is None:
            await shell.complain("cd: HOME not set")
            return 1
        target = home
    elif options.rest[0] == "-":
        old = state.get("OLDPWD")
        if old is None:
            await shell.complain("cd: OLDPWD not set")
            return 1
        target, shows = old, True
    else:
        target = options.rest[0]
    if target == "":
        return 0
    physical = "P" in options or bool(state.options.get("physical"))
    found = _along_cdpath(shell, target)
    if found is not None:
        target, shows = found, True
    if not await change_folder(shell, "cd", target, target, physical):
        return 1
    if shows:
        await shell.out(_current(shell) + "\n")
    return 0


def _along_cdpath(shell: Shell, target: str) -> str | None:
    paths = shell.state.get("CDPATH")
    if not paths or target.startswith(("/", "./", "../")) or target in (".", ".."):
        return None
    for folder in paths.split(":"):
        if folder and shell.ctx.files.is_dir(f"{folder}/{target}"):
            return f"{folder}/{target}"
    return None


@builtin("pwd")
async def pwd(shell: Shell, argv: list[str]) -> int:
    """Print the working folder."""
    try:
        options = Options(argv, "LP")
    except BadOption as mistake:
        return await usage(shell, "pwd", str(mistake))
    await shell.out((shell.ctx.files.realpath(".") if "P" in options else _current(shell)) + "\n")
    return 0


# -- the stack ---------------------------------------------------------------------------------


def _stack(shell: Shell) -> list[str]:
    return [_current(shell), *shell.state.directories]


def _short(shell: Shell, path: str) -> str:
    home = shell.state.get("HOME")
    if home and home != "/" and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


async def _show(shell: Shell) -> None:
    await shell.out(" ".join(_short(shell, path) for path in _stack(shell)) + "\n")


async def _index(shell: Shell, command: str, text: str, size: int) -> int | None:
    """The place ``+N`` or ``-N`` means in the stack; None (and a complaint) when there is none."""
    if not text[1:].isdigit():
        await usage(shell, command, f"{text}: invalid number")
        return None
    number = int(text[1:])
    index = number if text[0] == "+" else size - 1 - number
    if not 0 <= index < size:
        what = "directory stack empty" if size == 1 else f"{text}: directory stack index out of range"
        await shell.complain(f"{command}: {what}")
        return None
    return index


@builtin("dirs")
async def dirs(shell: Shell, argv: list[str]) -> int:
    """Show the stack."""
    long = per_line = numbered = False
    stack = _stack(shell)
    for word in argv[1:]:
        if word[:1] in "+-" and word[1:].isdigit():
            index = await _index(shell, "dirs", word, len(stack))
            if index is None:
                return 1
            await shell.out((stack[index] if long else _short(shell, stack[index])) + "\n")
            return 0
        for letter in word[1:] if word.startswith("-") else "?":
            if letter == "c":
                shell.state.directories.clear()
                return 0
            if letter not in "lpv":
                return await usage(shell, "dirs", f"{word}: invalid option")
            long, per_line = long or letter == "l", per_line or letter in "pv"
            numbered = numbered or letter == "v"
    paths = stack if long else [_short(shell, path) for path in stack]
    if not per_line:
        await shell.out(" ".join(paths) + "\n")
    for number, path in enumerate(paths if per_line else []):
        await shell.out(f"{number:2d}  {path}\n" if numbered else path + "\n")
    return 0


@builtin("pushd")
async def pushd(shell: Shell, argv: list[str]) -> int:
    """Go to a folder and remember the one left."""
    stays = argv[1:2] == ["-n"]
    words = argv[2:] if stays else argv[1:]
    state = shell.state
    stack = _stack(shell)
    if not words:
        if len(stack) < 2:
            await shell.complain("pushd: no other directory")
            return 1
        target, rest = stack[1], [stack[0], *stack[2:]]
    elif words[0][:1] in ("+", "-") and words[0] != "-":
        index = await _index(shell, "pushd", words[0], len(stack))
        if index is None:
            return 1
        target, rest = stack[index], stack[index + 1 :] + stack[:index]
    elif stays:
        state.directories.insert(0, words[0])
        await _show(shell)
        return 0
    else:
        target, rest = words[0], stack
    if not await change_folder(shell, "pushd", target, target):
        return 1
    state.directories = rest
    await _show(shell)
    return 0


@builtin("popd")
async def popd(shell: Shell, argv: list[str]) -> int:
    """Go back to the folder remembered last."""
    words = [word for word in argv[1:] if word != "-n"]
    if words and words[0][:1] not in ("+", "-"):
        return await usage(shell, "popd", f"{words[0]}: invalid argument")
    stack = _stack(shell)
    if len(stack) < 2:
        await shell.complain("popd: directory stack empty")
        return 1
    index = 0
    if words:
        found = await _index(shell, "popd", words[0], len(stack))
        if found is None:
            return 1
        index = found
    if index == 0 and "-n" not in argv:
        if not await change_folder(shell, "popd", stack[1], stack[1]):
            return 1
        shell.state.directories = stack[2:]
    else:
        del stack[max(index, 1)]
        shell.state.directories = stack[1:]
    await _show(shell)
    return 0
