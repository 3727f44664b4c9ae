"""cp, mv and ln."""

from simcloud.userland.commands.file.copy import cp, ln, mv

__all__ = ["cp", "ln", "mv"]
