"""Points in time: formatting and parsing of dates and times."""

from simcloud.userland.commands.system.dates.formats import format_moment
from simcloud.userland.commands.system.dates.grammar import read_moment
from simcloud.userland.commands.system.dates.moment import UTC, Moment, Zone, zone_of

__all__ = ["UTC", "Moment", "Zone", "format_moment", "read_moment", "zone_of"]
