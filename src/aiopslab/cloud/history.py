"""What happened to a site before a session: when its cluster was built, its application released and upgraded, and so on.

The events of the story are simulated, each on its day; between them the world skips time.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from simcloud.world import World

DAY_S: Final = 86_400
WORK_BEGINS_S: Final = 8 * 3600
WORK_ENDS_S: Final = 17 * 3600
FIRST_WEEKDAY: Final = 3
"""1 January 1970 was a Thursday, if Monday is 0."""
FRIDAY: Final = 4
YOUNGEST_DAYS: Final = 17
OLDEST_DAYS: Final = 45


@dataclass(frozen=True)
class History:
    """Unix times, in the order of the events."""

    built_s: float
    """The cluster was built."""
    released_s: float
    """The application was first deployed."""
    joined_s: float
    """A worker was replaced by a new one."""
    upgraded_s: float
    """It was upgraded to its current release."""
    changed_s: float
    """Operators made changes by hand."""
    begins_s: float
    """The present: users are watched from here on."""


def draw_history(chance: Random, begins_s: float) -> History:
    """Draw the ages of a site; people work by day, Monday to Friday, in UTC."""

    def draw_time(days: int) -> float:
        day = int(begins_s // DAY_S) - days
        day -= max(0, (day + FIRST_WEEKDAY) % 7 - FRIDAY)
        return day * DAY_S + round(chance.uniform(WORK_BEGINS_S, WORK_ENDS_S), 6)

    built = chance.randint(YOUNGEST_DAYS, OLDEST_DAYS)
    released = built - chance.randint(1, 3)
    joined = chance.randint(released // 2 + 2, released - 1)
    upgraded = chance.randint(released // 3, released // 2)
    changed = chance.randint(2, upgraded - 1)
    dates = sorted(draw_time(days) for days in (built, released, joined, upgraded, changed))
    return History(dates[0], dates[1], dates[2], dates[3], dates[4], begins_s)


def skip_until(world: World, time_s: float) -> None:
    """Make the world so much older that it is that Unix time."""
    world.skip(round(time_s - world.epoch_s - world.kernel.now, 6))
