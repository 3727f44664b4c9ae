"""The registry of builtins, and their common handling of options and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Builtin, Shell

BUILTINS: dict[str, Builtin] = {}

SYNOPSES: Final = {
    ".": "filename [arguments]",
    ":": "",
    "[": "arg... ]",
    "alias": "[-p] [name[=value] ... ]",
    "bg": "[job_spec ...]",
    "break": "[n]",
    "builtin": "[shell-builtin [arg ...]]",
    "cd": "[-L|[-P [-e]] [-@]] [dir]",
    "command": "[-pVv] command [arg ...]",
    "complete": "[-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] "
    "[-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
    "continue": "[n]",
    "declare": "[-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
    "dirs": "[-clpv] [+N] [-N]",
    "disown": "[-h] [-ar] [jobspec ... | pid ...]",
    "echo": "[-neE] [arg ...]",
    "eval": "[arg ...]",
    "exec": "[-cl] [-a name] [command [argument ...]] [redirection ...]",
    "exit": "[n]",
    "export": "[-fn] [name[=value] ...] or export -p",
    "false": "",
    "fg": "[job_spec]",
    "getopts": "optstring name [arg ...]",
    "hash": "[-lr] [-p pathname] [-dt] [name ...]",
    "help": "[-dms] [pattern ...]",
    "history": "[-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
    "jobs": "[-lnprs] [jobspec ...] or jobs -x command [args]",
    "kill": "[-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
    "let": "arg [arg ...]",
    "local": "[option] name[=value] ...",
    "logout": "[n]",
    "mapfile": "[-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    "popd": "[-n] [+N | -N]",
    "printf": "[-v var] format [arguments]",
    "pushd": "[-n] [+N | -N | dir]",
    "pwd": "[-LP]",
    "read": "[-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] "
    "[-u fd] [name ...]",
    "readarray": "[-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    "readonly": "[-aAf] [name[=value] ...] or readonly -p",
    "return": "[n]",
    "set": "[-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
    "shift": "[n]",
    "shopt": "[-pqsu] [-o] [optname ...]",
    "source": "filename [arguments]",
    "test": "[expr]",
    "trap": "[-lp] [[arg] signal_spec ...]",
    "true": "",
    "type": "[-afptP] name [name ...]",
    "typeset": "[-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
    "ulimit": "[-SHabcdefiklmnpqrstuvxPRT] [limit]",
    "umask": "[-p] [-S] [mode]",
    "unalias": "[-a] name [name ...]",
    "unset": "[-f] [-v] [-n] [name ...]",
    "wait": "[-fn] [-p var] [id ...]",
}
"""The arguments in ``help -s`` and usage messages."""


def builtin(*names: str) -> Callable[[Builtin], Builtin]:
    """Register a builtin under one or more names."""

    def register(function: Builtin) -> Builtin:
        for name in names:
            BUILTINS[name] = function
        return function

    return register


def synopsis(name: str) -> str:
    """A builtin's name and what may follow it."""
    return f"{name} {SYNOPSES[name]}".rstrip()


async def usage(shell: Shell, name: str, message: str = "") -> int:
    """Report the wrong use of a builtin and return its status."""
    if message:
        await shell.complain(f"{name}: {message}")
    await shell.err(f"{name}: usage: {synopsis(name)}\n")
    return 2


class BadOption(Exception):
    """An unknown option of a builtin, or one without its argument; the text says which."""


class Options:
    """The parsed options of a builtin: letters and their values, and the remaining words."""

    def __init__(self, arguments: list[str], letters: str, *, plus: bool = False) -> None:
        """``letters`` as for getopt; ``plus`` lets ``+x`` stand for switching off."""
        self.given: dict[str, str] = {}
        self.off: dict[str, str] = {}
        position = 1
        while position < len(arguments):
            word = arguments[position]
            if word == "--":
                position += 1
                break
            if len(word) < 2 or not (word[0] == "-" or (plus and word[0] == "+")):
                break
            position = self._word(arguments, position, letters)
        self.rest = arguments[position:]

    def _word(self, arguments: list[str], position: int, letters: str) -> int:
        word = arguments[position]
        store = self.given if word[0] == "-" else self.off
        for index in range(1, len(word)):
            letter = word[index]
            if letter == ":" or letter not in letters:
                raise BadOption(f"{word[0]}{letter}: invalid option")
            if letters[letters.index(letter) + 1 : letters.index(letter) + 2] != ":":
                store[letter] = ""
                continue
            if index + 1 < len(word):
                store[letter] = word[index + 1 :]
                return position + 1
            if position + 1 >= len(arguments):
                raise BadOption(f"-{letter}: option requires an argument")
            store[letter] = arguments[position + 1]
            return position + 2
        return position + 1

    def __contains__(self, letter: str) -> bool:
        return letter in self.given
