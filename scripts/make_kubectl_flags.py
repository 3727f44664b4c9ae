"""Learn the genuine kubectl's commands, flags and defaults from the tool itself.

    python -m scripts.make_kubectl_flags CLIENTS/kubectl-1.36.4

Writes ``src/simcloud/kubectl/data/flags.json``: for every command its usage line and its flags as
``[name, shorthand, kind, default]``. Only facts are kept: the texts of the built-in kubectl are its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).parent.parent / "src/simcloud/kubectl/data/flags.json"
OPTION: Final = re.compile(r"^    (?:-(\w), )?--([\w-]+)=(.*):$")
COMMAND: Final = re.compile(r"^  ([a-z][\w-]*) {2,}\S")
NOT_OURS: Final = frozenset({
    "alpha", "apply edit-last-applied", "apply set-last-applied", "auth reconcile", "certificate", "completion",
    "config delete-cluster", "config delete-context", "config delete-user", "config rename-context", "config set",
    "config set-cluster", "config set-credentials", "config unset", "kuberc", "plugin", "proxy",
})  # fmt: skip
"""Commands that nobody needs on a bastion."""

ARRAYS: Final = frozenset({
    "as-group", "as-user-extra", "audience", "env", "extra", "from-literal", "group", "header",
    "resource-name", "rule", "for",
})  # fmt: skip
"""Flags that may be repeated and whose values hold commas: the help shows them like other lists."""


def main() -> None:
    """Ask for the help of every command, from the root down."""
    client = sys.argv[1]
    table = {"options": {"usage": "kubectl options", "flags": flags(said(client, "options"))}}
    waiting: list[list[str]] = [[]]
    while waiting:
        path = waiting.pop(0)
        text = said(client, *path, "--help")
        below = subcommands(text)
        waiting.extend([*path, name] for name in below if " ".join([*path, name]) not in NOT_OURS)
        if path:
            table[" ".join(path)] = {"usage": usage(text), "flags": flags(text)}
    lines = [f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in sorted(table.items())]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def said(client: str, *words: str) -> str:
    """What the genuine tool prints, at a home that does not show in its defaults."""
    done = subprocess.run([client, *words], capture_output=True, text=True, check=True, env={"HOME": "/root"})
    return done.stdout


def subcommands(text: str) -> list[str]:
    """The commands that a help text lists."""
    found = []
    listing = False
    for line in text.splitlines():
        if line.endswith(":") and "Commands" in line:
            listing = True
        elif listing and (match := COMMAND.match(line)):
            found.append(match[1])
        elif not line.startswith("  "):
            listing = False
    return found


def usage(text: str) -> str:
    """The usage line."""
    return text.partition("\nUsage:\n")[2].partition("\n")[0].strip()


def flags(text: str) -> list[list[str]]:
    """Name, shorthand, kind and default of each flag."""
    found = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match:
            found.append([match[2], match[1] or "", kind(match[2], match[3]), match[3].strip("'[]")])
    return found


def kind(name: str, shown: str) -> str:
    """The type of a flag, by the way its default is shown."""
    if shown in ("true", "false"):
        return "bool"
    if shown.startswith("["):
        return "array" if name in ARRAYS else "slice"
    if shown.startswith("'") or not shown:
        return "string"
    if re.fullmatch(r"-?\d+", shown):
        return "int"
    return "duration"


if __name__ == "__main__":
    main()
