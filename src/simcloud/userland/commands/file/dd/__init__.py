"""dd: copy blocks of bytes and report their number."""

from simcloud.userland.commands.file.dd import command as command
