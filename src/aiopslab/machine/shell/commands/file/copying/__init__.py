"""cp, mv, ln and install."""

from aiopslab.machine.shell.commands.file.copying import cp, install, ln, mv

__all__ = ["cp", "install", "ln", "mv"]
