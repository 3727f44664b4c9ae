"""The commands that machines and images can have."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from simcloud.exports import export_lazily
from simcloud.machine.process import Program
from simcloud.userland.commands.registry import COMMANDS

with export_lazily(globals()):
    from simcloud.userland.commands.options import (
        Options as Options,
        UsageError as UsageError,
        parse as parse,
    )


MODULES: Final = (
    "simcloud.userland.awk", "simcloud.userland.commands.file", "simcloud.userland.commands.grep",
    "simcloud.userland.commands.net", "simcloud.userland.commands.sed", "simcloud.userland.commands.system",
    "simcloud.userland.commands.text", "simcloud.userland.jq", "simcloud.userland.bash.standalone",
    "simcloud.userland.yq", "simcloud.userland.bash.program",
)  # fmt: skip
"""The modules that define commands; importing them registers the commands."""


def all_commands() -> dict[str, Program]:
    """Every command there is, by name; the caller may add to them."""
    return _load_commands().copy()


@cache
def _load_commands() -> dict[str, Program]:
    for module in MODULES:
        import_module(module)
    return dict(sorted(COMMANDS.items()))
