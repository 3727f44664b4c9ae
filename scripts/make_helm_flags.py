"""Learn the genuine helm's commands, flags and defaults from the tool itself.

    python -m scripts.make_helm_flags BIN/helm

Writes ``src/simcloud/kubectl/data/helm_flags.json``: for every command its usage line and its flags as
``[name, shorthand, kind, default]``. Only facts are kept: the texts of the built-in helm are its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).parent.parent / "src/simcloud/kubectl/data/helm_flags.json"
OPTION: Final = re.compile(r'^  (?:    |-(\w), )--([\w-]+)(?: ([\w-]+)(?:\[="\w+"\])?)? {2,}(.*)$')
DEFAULT: Final = re.compile(r'\(default "?([^()"]*)"?\)$')
COMMAND: Final = re.compile(r"^  ([a-z][\w-]*) {2,}\S")
NOT_OURS: Final = ("completion", "help", "plugin", "registry", "verify", "push")
KINDS: Final = {"string": "string", "int": "int", "duration": "duration", "stringArray": "array", "stringToString": "slice", "strings": "slice",
                "format": "format", "float32": "float", "": "bool"}  # fmt: skip


def main() -> None:
    """Ask for the help of every command, from the root down."""
    client = sys.argv[1]
    table: dict[str, dict[str, object]] = {}
    waiting: list[list[str]] = [[]]
    while waiting:
        path = waiting.pop(0)
        text = said(client, *path, "--help")
        own, _, everywhere = text.partition("\nGlobal Flags:\n")
        if path:
            table[" ".join(path)] = {"usage": usage(text), "flags": flags(own)}
            table["options"] = {"usage": "", "flags": flags(everywhere)}
        waiting.extend([*path, name] for name in subcommands(own) if name not in NOT_OURS)
    lines = [f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in sorted(table.items())]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def said(client: str, *words: str) -> str:
    """What the genuine tool prints, at a home that does not show in its defaults."""
    done = subprocess.run([client, *words], capture_output=True, text=True, check=True, env={"HOME": "/root"})
    return done.stdout


def subcommands(text: str) -> list[str]:
    """The commands that a help text lists."""
    listed = text.partition("\nAvailable Commands:\n")[2].partition("\n\n")[0]
    return [match[1] for line in listed.splitlines() if (match := COMMAND.match(line))]


def usage(text: str) -> str:
    """The usage line."""
    return text.partition("\nUsage:\n")[2].partition("\n")[0].strip()


def flags(text: str) -> list[list[str]]:
    """Name, shorthand, kind and default of each flag."""
    found = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match and match[2] != "help":
            kind = KINDS.get(match[3] or "", "string")
            default = DEFAULT.search(match[4])
            found.append([match[2], match[1] or "", kind, default[1].strip("[]") if default else unset(kind)])
    return found


def unset(kind: str) -> str:
    """The default of a flag whose help shows none."""
    return {"bool": "false", "int": "0", "duration": "0s", "float": "0", "format": "table"}.get(kind, "")


if __name__ == "__main__":
    main()
