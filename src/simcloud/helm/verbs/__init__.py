"""The commands of helm, one file for each group."""

from __future__ import annotations


def load() -> None:
    """Make the commands known."""
    from simcloud.helm.verbs import (  # noqa: F401  (they register their commands)
        inspect,
        install,
        offline,
        template,
        uninstall,
    )
