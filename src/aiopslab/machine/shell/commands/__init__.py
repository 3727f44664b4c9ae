"""The commands a machine or an image can be given."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from aiopslab.machine.process import Program
from aiopslab.machine.shell.commands.registry import COMMANDS

MODULES: Final = (
    "aiopslab.machine.shell.awk",
    "aiopslab.machine.shell.commands.file",
    "aiopslab.machine.shell.commands.grep",
    "aiopslab.machine.shell.commands.net",
    "aiopslab.machine.shell.commands.sed",
    "aiopslab.machine.shell.commands.system",
    "aiopslab.machine.shell.commands.text",
    "aiopslab.machine.shell.jq",
    "aiopslab.machine.shell.standalone",
    "aiopslab.machine.shell.yq",
    "aiopslab.machine.shell.program",
)
"""Where commands are defined; importing them registers them."""


def all_commands() -> dict[str, Program]:
    """Every command there is, by name; the caller may add to them."""
    return _registered().copy()


@cache
def _registered() -> dict[str, Program]:
    for module in MODULES:
        import_module(module)
    return dict(sorted(COMMANDS.items()))
