"""find: walk folders, test each file and act on it."""

from simcloud.userland.commands.file.find import command as command
