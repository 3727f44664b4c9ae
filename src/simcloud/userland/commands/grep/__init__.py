"""``grep``: print the lines that match. GNU grep 3.8 as Debian 12 has it."""

from simcloud.userland.commands.grep.command import grep

__all__ = ["grep"]
