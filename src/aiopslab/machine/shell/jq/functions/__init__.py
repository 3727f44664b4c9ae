"""The functions jq brings. Importing this package registers all of them."""

from aiopslab.machine.shell.jq.functions import (  # noqa: F401 - each registers its functions
    arithmetic,
    collections,
    dates,
    formats,
    numbers,
    ordering,
    regexes,
    searching,
    strings,
    system,
)
from aiopslab.machine.shell.jq.functions.registry import NATIVES

__all__ = ["NATIVES"]
