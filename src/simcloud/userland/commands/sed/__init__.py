"""``sed``: edit a stream line by line. The reference is GNU sed 4.9 of Debian 12."""

from simcloud.userland.commands.sed.command import sed as sed
