"""cp, mv and ln."""

from simcloud.userland.commands.file.copy import cp as cp, ln as ln, mv as mv
