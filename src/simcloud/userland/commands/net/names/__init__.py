"""Commands that look up names: dig, nslookup, host, getent."""

from simcloud.userland.commands.net.names import dig, nslookup

__all__ = ["dig", "nslookup"]
