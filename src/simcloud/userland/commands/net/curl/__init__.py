"""curl for HTTP, with the messages of curl 7.88."""

from simcloud.userland.commands.net.curl import command as command
