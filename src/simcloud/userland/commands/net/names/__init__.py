"""Looking up names: dig, nslookup, host, getent."""

from simcloud.userland.commands.net.names import dig, lookups

__all__ = ["dig", "lookups"]
