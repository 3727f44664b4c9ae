"""The tests of find on times: the age of a file, and whether it is newer than another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from simcloud.machine.files import Stat
from simcloud.userland.commands.file.find.search import Found, Search
from simcloud.userland.commands.file.find.words import Condition, Words
from simcloud.userland.commands.system.dates import Moment, read_moment, zone_of
from simcloud.userland.commands.text.quoting import quote_name_always

DAY_S: Final = 86_400
TIMES: Final[dict[str, Callable[[Stat], float]]] = {
    "a": lambda stat: stat.atime,
    "c": lambda stat: stat.ctime,
    "m": lambda stat: stat.mtime,
}


def _midnight(search: Search) -> float:
    offset_s = zone_of(search.ctx.env).offset_s
    return (search.now + offset_s) // DAY_S * DAY_S - offset_s


def _days(letter: str, search: Search, words: Words) -> Condition:
    """Whole days since then; fractions do not count."""
    sign, days = words.decimal()
    start = _midnight(search) if search.day_start else search.now - DAY_S
    if sign == "-":
        start += DAY_S - 1
    return _in_window(sign, start - days * DAY_S, DAY_S, TIMES[letter])


def _minutes(letter: str, search: Search, words: Words) -> Condition:
    """Minutes since then, begun ones counting whole."""
    sign, minutes = words.decimal()
    start = _midnight(search) + DAY_S if search.day_start else search.now
    return _in_window(sign, start - minutes * 60, 60, TIMES[letter])


def _in_window(sign: str, moment: float, width_s: float, time_of: Callable[[Stat], float]) -> Condition:
    if sign == "+":
        return lambda found: time_of(found.stat) < moment
    if sign == "-":
        return lambda found: time_of(found.stat) > moment
    return lambda found: 0 < time_of(found.stat) - moment <= width_s


def _newer(letter: str, search: Search, words: Words) -> Condition:
    reference = words.file(follow=search.follow != "never").mtime
    return lambda found: TIMES[letter](found.stat) > reference


def newer(search: Search, words: Words, own: str, other: str) -> Condition:
    """``-newermt DATE``, ``-neweraa FILE`` and so on: one of a file's times against another."""
    if own not in TIMES or other not in (*TIMES, "t"):
        raise search.mistake(f"invalid predicate `-newer{own}{other}'")
    if other != "t":
        reference = TIMES[other](words.file(follow=search.follow != "never"))
        return lambda found: TIMES[own](found.stat) > reference
    text = words.argument()
    moment = read_moment(text, Moment.of(search.now), zone_of(search.ctx.env))
    if moment is None:
        raise search.mistake(
            f"I cannot figure out how to interpret {quote_name_always(text)} as a date or time"
        )
    limit = moment.timestamp()
    return lambda found: TIMES[own](found.stat) > limit


def _test_used(_: Search, words: Words) -> Condition:
    """Days between the last change of the inode and the last access."""
    sign, days = words.decimal()

    def test(found: Found) -> bool:
        passed_s = found.stat.atime - found.stat.ctime
        if sign == "+":
            return passed_s > (days + 1) * DAY_S
        if sign == "-":
            return 0 <= passed_s < days * DAY_S
        return days * DAY_S < passed_s <= (days + 1) * DAY_S

    return test


TIME_TESTS: Final[dict[str, Callable[[Search, Words], Condition]]] = {
    "-amin": partial(_minutes, "a"),
    "-cmin": partial(_minutes, "c"),
    "-mmin": partial(_minutes, "m"),
    "-atime": partial(_days, "a"),
    "-ctime": partial(_days, "c"),
    "-mtime": partial(_days, "m"),
    "-anewer": partial(_newer, "a"),
    "-cnewer": partial(_newer, "c"),
    "-newer": partial(_newer, "m"),
    "-used": _test_used,
}
