"""Tab completion at a cluster's terminal: kubectl's verbs and flags, kinds, and names of objects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from simcloud.kubectl import ROOT, Command, KubectlError, find_resource, tree, verbs
from simcloud.kubernetes.api import Api, ApiError

PODS_FIRST: Final = frozenset({"logs", "exec", "attach", "port-forward", "cp", "debug"})
"""Verbs whose first argument is a pod."""
NAMESPACES: Final = ("-n", "--namespace")


class Completer:
    """Completes lines at a cluster's terminal."""

    def __init__(self, api: Api, vocabulary: Mapping[str, Sequence[str]] | None = None) -> None:
        """Complete kubectl's lines, and lines that start with a word of ``vocabulary``, which maps it to its arguments."""
        verbs.load()
        self._api = api
        self._vocabulary = vocabulary or {}

    def complete(self, line: str) -> list[str]:
        """Return the completions of a line's last word, each followed by a space."""
        piece = re.split(r"[|;&]", line)[-1]
        words = piece.split()
        last = "" if not piece or piece[-1].isspace() else words.pop()
        if not words:
            return [f"{name} " for name in ("kubectl", *self._vocabulary) if name.startswith(last)]
        if words[0] in self._vocabulary:
            return [f"{name} " for name in self._vocabulary[words[0]] if name.startswith(last)]
        if words[0] != "kubectl":
            return []
        if last.startswith("-"):
            return self._find_flags(words[1:], last)
        return [word for word in self._find_next(words[1:]) if word.startswith(last)]

    def _find_next(self, words: list[str]) -> list[str]:
        if words and words[-1] in NAMESPACES:
            return [f"{name} " for name in self._find_names("namespaces", "")]
        command, args = _parse_command(words)
        namespace = _parse_namespace(words)
        if command.below and not args:
            return [f"{name} " for name in sorted(command.below) if not command.below[name].hidden]
        if command.path in PODS_FIRST:
            return [f"{name} " for name in self._find_names("pods", namespace)] if not args else []
        if not args:
            return [f"{resource.plural} " for resource in self._api.catalogue]
        return [f"{name} " for name in self._find_names(args[0], namespace)]

    def _find_names(self, word: str, namespace: str) -> list[str]:
        try:
            resource = find_resource(self._api.catalogue, word)
            place = namespace if resource.namespaced else None
            items = self._api.list(resource, place)["items"]
        except (KubectlError, ApiError):
            return []
        return [item["metadata"]["name"] for item in items]

    def _find_flags(self, words: list[str], last: str) -> list[str]:
        command, _ = _parse_command(words)
        names = sorted(f"--{flag.name}" for flag in command.parser().long.values())
        return [f"{name} " for name in names if name.startswith(last)]


def _parse_command(words: list[str]) -> tuple[Command, list[str]]:
    """Return the command that the words name and its arguments."""
    here = ROOT
    args: list[str] = []
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in NAMESPACES
            continue
        below = tree.child(here, word) if not args and here.below else None
        if below is not None:
            here = below
        else:
            args.append(word)
    return here, args


def _parse_namespace(words: list[str]) -> str:
    for flag, value in pairwise(words):
        if flag in NAMESPACES:
            return value
    return "default"


def enable_line_editing(completer: Completer) -> None:
    """Turn on line editing, history and completion, if the host has readline."""
    try:
        import readline
    except ImportError:
        return
    completions: list[str] = []

    def complete(_: str, number: int) -> Any:
        if number == 0:
            completions[:] = completer.complete(readline.get_line_buffer()[: readline.get_endidx()])
        return completions[number] if number < len(completions) else None

    readline.set_completer_delims(" \t\n|;&")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
