"""cp, mv, ln and install."""

from simcloud.userland.commands.file.copy import cp, install, ln, mv

__all__ = ["cp", "install", "ln", "mv"]
