"""What a command line runs, and whether it can change anything in containers and on machines, whose changes the API does not record.

A command is judged by what it is known to do: programs that only read, queries of databases and GET requests change
nothing; whatever is not known may change something. Programs on the agent's own host change nothing but that host.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


READERS: Final = split_words(
    "[ arp awk base64 basename cat cd cmp comm command cut date df diff dig dirname du echo egrep env expr false fgrep file free getent "
    "grep head hexdump host hostname id iostat ip6tables-save iptables-save journalctl jq last less ls lsblk lscpu lsof md5sum more mpstat nc netstat nproc nslookup "
    "od openssl pgrep ping printenv printf ps pwd readlink realpath sar seq set sha256sum sleep sort ss stat strings tac tail telnet test "
    "top tr traceroute true type uname uniq uptime vmstat w wc which who whoami xxd zcat"
)
WRAPPERS: Final = split_words("env exec nice nohup nsenter stdbuf sudo time timeout watch xargs")
"""Programs that run the rest of their line, after options and numbers."""
SHELLS: Final = frozenset({"sh", "bash", "dash", "ash"})
KEYWORDS: Final = split_words("if then else elif fi while until do done for { } !")
_SUBCOMMANDS: Final[Mapping[str, frozenset[str]]] = {
    "systemctl": split_words("status is-active is-enabled is-failed show cat list-units list-unit-files"),
    "nft": split_words("list -v --version"),
    "crictl": split_words("ps pods logs inspect inspectp inspecti images info stats version"),
    "redis-cli": split_words(
        "dbsize exists get hget hgetall hlen info keys llen lrange memory mget monitor ping role scan scard slowlog smembers strlen ttl "
        "type zcard zrange"
    ),
}
"""Subcommands that only read."""
_CHANGING: Final[Mapping[str, re.Pattern[str]]] = {
    "sed": re.compile(r"^(-\w*i\w*|--in-place.*)$"),
    "find": re.compile(r"^-(delete|exec|execdir|ok|fprint.*)$"),
    "iptables": re.compile(
        r"^-\w*[ADIRFZNXPE]|^--(append|delete|insert|replace|flush|zero|new-chain|policy)"
    ),
    "sysctl": re.compile(r"=|^-(w|p)$|^--(write|load|system)"),
    "dmesg": re.compile(r"^-\w*[Cc]|^--(read-)?clear"),
    "ip": re.compile(r"^(add|del|delete|set|change|replace|flush|append)$"),
    "tc": re.compile(r"^(add|del|delete|change|replace)$"),
    "mount": re.compile(r"."),
    "curl": re.compile(
        r"^(-d|-F|-T|--data.*|--form.*|--upload-file.*|--json.*)|^(-X|--request=)?(POST|PUT|PATCH|DELETE)$"
    ),
    "wget": re.compile(r"^--(post|body|method=(?!get|head)).*", re.IGNORECASE),
    "mongo": re.compile(
        r"\b(insert|update|delete|remove|drop|create|grant|revoke|rename|save|replace|findAndModify|findOneAnd|bulkWrite|shutdown|"
        r"kill|runCommand|adminCommand|change(User)?Password|set[A-Z]|fsync|reIndex)"
    ),
}
"""Words that make a reading command one that changes something."""
_CHANGING_OF: Final = {"ip6tables": "iptables", "mongosh": "mongo"}
REACHING: Final = ("exec", "attach", "cp", "debug", "ssh", "scp", "curl", "wget")
_SUBSTITUTION: Final = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_PROGRAM: Final = re.compile(r"[A-Za-z][\w.-]*")
_WITH_VERB: Final = frozenset({"kubectl", "helm", "systemctl"})
_WITH_VALUE: Final = frozenset({"-n", "--namespace", "--context", "--kubeconfig", "-o", "-l"})
"""Options of kubectl and helm that may stand before the verb, and whose value is the next word."""
_SEPARATORS: Final = frozenset("();<>|&\n")
_HARMLESS_TARGET: Final = re.compile(r"^(/dev/(null|stdout|stderr|tcp/.*)|\d|-)$")


def can_change_elsewhere(line: str) -> bool:
    """Return whether a line, typed at the agent's terminal, may change a container or another machine."""
    return _check_line(line, _changes_elsewhere, is_local=True)


def changes_there(line: str) -> bool:
    """Return whether a line may change the container or the machine that it runs on."""
    return _check_line(line, changes_here, is_local=False)


def list_programs(line: str) -> list[str]:
    """Return the programs that a line runs, those of kubectl, helm and systemctl with their verb; none if it cannot be parsed."""
    try:
        commands = [words for words in _split(line, is_local=True) if words and words[1:2] != ["in"]]
    except ValueError:  # an unfinished quotation
        return []
    return [_format_program(words) for words in commands if _PROGRAM.fullmatch(words[0])]


def _format_program(words: Sequence[str]) -> str:
    name, *rest = words
    if name not in _WITH_VERB:
        return name
    verbs = (
        word
        for index, word in enumerate(rest)
        if _PROGRAM.fullmatch(word) and not (index and rest[index - 1] in _WITH_VALUE)
    )
    return " ".join((name, next(verbs, ""))).rstrip()


def _check_line(line: str, check: Callable[[Sequence[str]], bool], *, is_local: bool) -> bool:
    try:
        return any(check(words) for words in list_commands(line, is_local=is_local))
    except ValueError:  # an unfinished quotation
        return not is_local or any(word in line for word in REACHING)


def list_commands(line: str, *, is_local: bool) -> list[list[str]]:
    """Return the words of each simple command of a line, those of its substitutions first; raises ``ValueError``.

    A redirection to a file elsewhere becomes the command ``>``.
    """
    commands: list[list[str]] = []
    while match := _SUBSTITUTION.search(line):
        commands += list_commands(match[1] or match[2] or "", is_local=is_local)
        line = f"{line[: match.start()]}SUBSTITUTED{line[match.end() :]}"
    return [*commands, *_split(line, is_local)]


def _split(line: str, is_local: bool) -> Iterator[list[str]]:
    """Yield the words of each simple command; a redirection to a file elsewhere becomes the command ``>``."""
    lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    redirected = ""
    for token in lexer:
        if redirected:
            if ">" in redirected and not is_local and not _HARMLESS_TARGET.match(token):
                yield [">", token]
            redirected = ""
        elif set(token) <= _SEPARATORS and ("<" in token or ">" in token):
            redirected = token
            if words and words[-1].isdigit():
                words.pop()
        elif set(token) <= _SEPARATORS:
            yield unwrap(words)
            words = []
        else:
            words.append(token)
    yield unwrap(words)


def unwrap(words: list[str]) -> list[str]:
    """Remove assignments, words of the shell's own language and programs that only run another one."""
    while words:
        first = words[0].rpartition("/")[2]
        if re.match(r"^\w+=", words[0]) or first in KEYWORDS:
            words = words[1:]
        elif first in WRAPPERS and len(words) > 1:
            words = words[1:]
            while len(words) > 1 and re.match(r"^(-|\d|\w+=|\$|SUBSTITUTED$)", words[0]):
                words = words[1:]
        else:
            return [first, *words[1:]]
    return words


def _changes_elsewhere(words: Sequence[str]) -> bool:
    if not words:
        return False
    name, *rest = words
    if name in SHELLS and "-c" in rest[:-1]:
        return can_change_elsewhere(rest[rest.index("-c") + 1])
    if name == "kubectl":
        return _kubectl_changes(rest)
    if name in ("curl", "wget"):
        return changes_here(words)
    if name == "scp":
        return ":" in rest[-1] if rest else False
    if name == "ssh":
        host, line = split_ssh(rest)
        return changes_there(line) if line else bool(host)
    return False


def split_ssh(words: Sequence[str]) -> tuple[str, str]:
    """Return the host and the line that ssh runs there, from its arguments; empty texts for what is missing."""
    places = [
        index for index, word in enumerate(words) if not word.startswith("-") and not _is_value(words, index)
    ]
    if not places:
        return "", ""
    return words[places[0]].rpartition("@")[2], " ".join(words[places[0] + 1 :])


def _is_value(words: Sequence[str], index: int) -> bool:
    """Whether a word is the value of an option of ssh."""
    return index > 0 and words[index - 1] in ("-o", "-i", "-p", "-l", "-F", "-J")


def _kubectl_changes(words: Sequence[str]) -> bool:
    """Return whether kubectl changes what the API does not record."""
    if "exec" in words:
        command = list(words[words.index("--") + 1 :]) if "--" in words else []
        return changes_here(unwrap(command)) if command else True
    if "cp" in words:
        return ":" in words[-1]
    return "attach" in words and any(word.startswith("-") and "i" in word for word in words)


def changes_here(words: Sequence[str]) -> bool:
    """Return whether a command may change the place where it runs."""
    if not words:
        return False
    name, *rest = words
    name = _CHANGING_OF.get(name, name)
    if name in SHELLS:
        return changes_there(rest[rest.index("-c") + 1]) if "-c" in rest[:-1] else True
    if name == "kubectl":
        return _kubectl_changes(rest)
    if name in _CHANGING:
        return any(_CHANGING[name].search(word) for word in rest)
    if name in _SUBCOMMANDS:
        return not any(word.lower() in _SUBCOMMANDS[name] for word in rest)
    return name not in READERS
