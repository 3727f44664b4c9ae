"""xargs: build command lines from input and run them."""

from simcloud.userland.commands.file.xargs import command as command
