"""ls and its variants, and tree."""

from simcloud.userland.commands.file.listing import command as command, tree as tree
