"""``grep``: print the lines that match. The reference is GNU grep 3.8 of Debian 12."""

from simcloud.userland.commands.grep.command import grep as grep
