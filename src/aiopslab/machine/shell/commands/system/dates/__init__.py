"""Moments: how dates and times are written and read."""

from aiopslab.machine.shell.commands.system.dates.moment import UTC, Moment, Zone, zone_of
from aiopslab.machine.shell.commands.system.dates.reading import read_moment
from aiopslab.machine.shell.commands.system.dates.writing import format_moment

__all__ = ["UTC", "Moment", "Zone", "format_moment", "read_moment", "zone_of"]
