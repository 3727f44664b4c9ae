"""Builtins that look up a command name: type, command, builtin, hash, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.userland.bash.builtins.table import (
    SYNOPSES,
    BadOption,
    Options,
    builtin,
    synopsis,
    usage,
)
from simcloud.userland.bash.declarations import child_environment
from simcloud.userland.bash.parser import RESERVED
from simcloud.userland.bash.printer import function_text

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def find_files(shell: Shell, name: str, all_of_them: bool = False, path: str | None = None) -> list[str]:
    """Executable files of that name along the PATH."""
    files = shell.ctx.files
    if "/" in name:
        return [name] if files.is_file(name) and files.access(name, "x") else []
    found: list[str] = []
    for folder in (path if path is not None else shell.state.get("PATH") or "").split(":"):
        candidate = f"{folder or '.'}/{name}"
        if files.is_file(candidate) and files.access(candidate, "x"):
            found.append(candidate)
            if not all_of_them:
                break
    return found


def _meanings(shell: Shell, name: str, functions: bool = True) -> list[tuple[str, str]]:
    """Return the meanings of a name besides files as (kind, text) pairs, the first one winning."""
    found: list[tuple[str, str]] = []
    state = shell.state
    if name in state.aliases and state.shopts.get("expand_aliases"):
        found.append(("alias", state.aliases[name]))
    if name in RESERVED:
        found.append(("keyword", ""))
    if functions and name in state.functions:
        found.append(("function", function_text(name, state.functions[name].body)))
    if shell.find_builtin(name) is not None:
        found.append(("builtin", ""))
    return found


def _sentence(name: str, kind: str, text: str) -> str:
    return {
        "alias": f"{name} is aliased to `{text}'",
        "keyword": f"{name} is a shell keyword",
        "function": f"{name} is a function\n{text}",
        "builtin": f"{name} is a shell builtin",
    }[kind]


@builtin("type")
async def type_(shell: Shell, argv: list[str]) -> int:
    """Describe command names."""
    try:
        options = Options(argv, "afptP")
    except BadOption as mistake:
        return await usage(shell, "type", str(mistake))
    status = 0
    for name in options.rest:
        meanings = [] if "P" in options else _meanings(shell, name, "f" not in options)
        files = find_files(shell, name, "a" in options)
        if not meanings and not files:
            if not ("t" in options or "p" in options or "P" in options):
                await shell.complain(f"type: {name}: not found")
            status = 1
            continue
        lines = []
        for kind, text in meanings:
            if "t" in options:
                lines.append(kind)
            elif "p" not in options:
                lines.append(_sentence(name, kind, text))
        if not meanings or "a" in options or "P" in options:
            for path in files:
                shown = "file" if "t" in options else path
                plain = "t" in options or "p" in options or "P" in options
                hashed = not plain and name in shell.state.hashed
                lines.append(shown if plain else f"{name} is {'hashed (' + path + ')' if hashed else path}")
        if "a" not in options:
            lines = lines[:1]
        for line in lines:
            await shell.out(line + "\n")
    return status


@builtin("command")
async def command(shell: Shell, argv: list[str]) -> int:
    """Run a command, ignoring functions, or describe it."""
    try:
        options = Options(argv, "pVv")
    except BadOption as mistake:
        return await usage(shell, "command", str(mistake))
    if not options.rest:
        return 0
    if "v" in options or "V" in options:
        return await _describe(shell, options.rest, "V" in options)
    name = options.rest[0]
    found = shell.find_builtin(name)
    if found is not None:
        return await shell.interpreter.run_builtin(found, options.rest)
    environment = child_environment(shell.state)
    if "p" in options:
        environment["PATH"] = DEFAULT_PATH
    return await shell.interpreter.external(options.rest, environment)


async def _describe(shell: Shell, names: list[str], verbose: bool) -> int:
    status = 1
    for name in names:
        meanings = _meanings(shell, name)
        files = find_files(shell, name)
        if meanings:
            kind, text = meanings[0]
            if verbose:
                await shell.out(_sentence(name, kind, text) + "\n")
            else:
                from simcloud.userland.bash.escapes import quote_single

                await shell.out((f"alias {name}={quote_single(text)}" if kind == "alias" else name) + "\n")
            status = 0
        elif files:
            await shell.out((f"{name} is {files[0]}" if verbose else files[0]) + "\n")
            status = 0
        elif verbose:
            await shell.complain(f"command: {name}: not found")
    return status


@builtin("builtin")
async def builtin_(shell: Shell, argv: list[str]) -> int:
    """Run a builtin even where a function hides it."""
    words = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    if not words:
        return 0
    found = shell.find_builtin(words[0])
    if found is None:
        await shell.complain(f"builtin: {words[0]}: not a shell builtin")
        return 1
    return await shell.interpreter.run_builtin(found, words)


@builtin("hash")
async def hash_(shell: Shell, argv: list[str]) -> int:
    """Remember where programs are. We always look, so this only keeps the books."""
    try:
        options = Options(argv, "lrp:dt")
    except BadOption as mistake:
        return await usage(shell, "hash", str(mistake))
    hashed = shell.state.hashed
    if "r" in options:
        hashed.clear()
        return 0
    if not options.rest:
        if not hashed:
            await shell.out("hash: hash table empty\n")
        else:
            await shell.out("hits\tcommand\n")
            for path, hits in hashed.values():
                await shell.out(f"{hits:4d}\t{path}\n")
        return 0
    status = 0
    for name in options.rest:
        if shell.find_builtin(name) is not None or name in shell.state.functions:
            continue
        files = [options.given["p"]] if "p" in options else find_files(shell, name)
        if not files:
            await shell.complain(f"hash: {name}: not found")
            status = 1
        elif "t" in options:
            await shell.out(files[0] + "\n")
        elif "d" in options:
            hashed.pop(name, None)
        else:
            hashed[name] = (files[0], 0)
    return status


@builtin("help")
async def help_(shell: Shell, argv: list[str]) -> int:
    """Show how builtins are called."""
    try:
        options = Options(argv, "dms")
    except BadOption as mistake:
        return await usage(shell, "help", str(mistake))
    if not options.rest:
        for name in sorted(SYNOPSES):
            await shell.out(f" {synopsis(name)}\n")
        return 0
    status = 1
    for name in options.rest:
        if name in SYNOPSES:
            await shell.out(f"{name}: {synopsis(name)}\n")
            status = 0
    if status:
        last = options.rest[-1]
        hint = f"Try `help help' or `man -k {last}' or `info {last}'."
        await shell.complain(f"help: no help topics match `{last}'.  {hint}")
    return status


@builtin("history")
async def history(shell: Shell, argv: list[str]) -> int:
    """List the lines typed so far, or forget them."""
    try:
        options = Options(argv, "acd:nprsw")
    except BadOption as mistake:
        return await usage(shell, "history", str(mistake))
    lines = shell.state.history
    if "c" in options:
        lines.clear()
    if options.given.keys() & set("acdnprsw"):
        return 0
    if options.rest and not options.rest[0].isdigit():
        await shell.complain(f"history: {options.rest[0]}: numeric argument required")
        return 1
    first = max(0, len(lines) - int(options.rest[0])) if options.rest else 0
    await shell.out(
        "".join(f"{number:5d}  {line}\n" for number, line in enumerate(lines, 1) if number > first)
    )
    return 0


@builtin("complete")
async def line_editing(shell: Shell, argv: list[str]) -> int:
    """Builtins for line editing do nothing here."""
    return 0
