"""The demonstration: the same story every time, and a true one."""

from __future__ import annotations

import re
from functools import cache

from tests.cli.test_cli import aiopslab


@cache
def story(hash_seed: str = "0") -> str:
    done = aiopslab("demo", "--seed", "3", PYTHONHASHSEED=hash_seed)
    assert done.returncode == 0, done.stderr
    return done.stdout


def chapter(title: str, until: str) -> str:
    return story().split(title)[1].split(until)[0]


def failed(text: str) -> dict[str, int]:
    """The share of each journey's requests that failed, in percent, as the table of users says it."""
    found = re.findall(r"^ +(search|recommend|user|reserve) +\d+ +(\d+)%", text, re.MULTILINE)
    return {journey: int(share) for journey, share in found}


def test_one_seed_one_story() -> None:
    assert story("0") == story("42")


def test_another_seed_another_story() -> None:
    done = aiopslab("demo", "--seed", "4")
    assert done.returncode == 0, done.stderr
    assert done.stdout != story()


def test_nothing_fails_before() -> None:
    well = chapter("A hotel reservation system", "Somebody cleans up")
    assert failed(well) == {"search": 0, "recommend": 0, "user": 0, "reserve": 0}
    assert well.count("   1/1   ") == 19


def test_a_role_less_fails_who_searches_and_nobody_else() -> None:
    broken = chapter("Somebody cleans up", "The operator gives the role back")
    assert failed(broken) == {"search": 100, "recommend": 0, "user": 0, "reserve": 0}
    assert re.search(r"^rate-\S+ +0/1 +(Error|CrashLoopBackOff)", broken, re.MULTILINE)
    assert re.search(r"^mongodb-rate +1/1", broken, re.MULTILINE)
    assert "critical  HighErrorRate" in broken
    assert re.search(r"├─ search .* 100\.0%", broken)
    assert broken.count("not authorized on rate-db to execute command") == 2


def test_it_is_healed() -> None:
    healed = story().split("The operator gives the role back")[1]
    assert failed(healed) == {"search": 0, "recommend": 0, "user": 0, "reserve": 0}
    assert re.search(r"^rate-\S+ +1/1 +Running", healed, re.MULTILINE)
