"""The built-in functions of jq. Importing this package registers all of them."""

from simcloud.userland.jq.functions import (  # noqa: F401 - each registers its functions
    arithmetic,
    collections,
    dates,
    formats,
    numbers,
    ordering,
    regexes,
    search,
    strings,
    system,
)
from simcloud.userland.jq.functions.registry import NATIVES as NATIVES
