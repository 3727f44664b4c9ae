"""Points in time: formatting and parsing of dates and times."""

from simcloud.userland.commands.system.dates.formats import format_moment as format_moment
from simcloud.userland.commands.system.dates.grammar import read_moment as read_moment
from simcloud.userland.commands.system.dates.moment import (
    UTC as UTC,
    Moment as Moment,
    Zone as Zone,
    zone_of as zone_of,
)
