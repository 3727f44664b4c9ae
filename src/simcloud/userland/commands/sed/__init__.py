"""``sed``: edit a stream line by line. GNU sed 4.9 as Debian 12 has it."""

from simcloud.userland.commands.sed.command import sed

__all__ = ["sed"]
