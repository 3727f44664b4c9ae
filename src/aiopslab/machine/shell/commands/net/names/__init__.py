"""Looking up names: dig, nslookup, host, getent."""

from aiopslab.machine.shell.commands.net.names import dig, lookups

__all__ = ["dig", "lookups"]
