"""ls and its variants, and tree."""

from simcloud.userland.commands.file.listing import command, tree

__all__ = ["command", "tree"]
