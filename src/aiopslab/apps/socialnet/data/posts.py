"""The initial posts."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, Final

from aiopslab.apps.socialnet.data.people import USERS, draw_neighbours, make_username
from aiopslab.apps.socialnet.services.unique_ids import FIRST_MS, make_id
from aiopslab.apps.socialnet.services.url_shorten import HOST, LENGTH, LETTERS
from simcloud.datastores.mongodb import Int64

SEED: Final = 1998
LAST_MS: Final = 1_764_547_200_000
"""The start of December 2025, which is the age of the images."""
SPAN_MS: Final = 10 * 86_400_000
MACHINE: Final = 0x2F1
MORE: Final = 0.35
"""Probability that a user who has written a post writes another one."""
WORDS: Final = (
    "today", "the", "library", "was", "open", "late", "and", "nobody", "came", "but", "us", "so", "we",
    "stayed", "and", "read", "until", "morning", "then", "walked", "along", "the", "river", "with",
    "coffee", "talking", "about", "music", "exams", "home", "summer", "trains", "rain", "old", "films",
    "new", "friends", "and", "what", "comes", "after",
)  # fmt: skip


@cache
def build_posts() -> tuple[dict[str, Any], ...]:
    """Build all posts as the database stores them, oldest first."""
    chance = Random(SEED)
    writers = [user for user in range(USERS) for _ in range(_draw_count(chance))]
    times = sorted(LAST_MS - chance.randrange(SPAN_MS) for _ in writers)
    chance.shuffle(writers)
    return tuple(_draw_post(chance, writer, time_ms) for writer, time_ms in zip(writers, times, strict=True))


def _draw_count(chance: Random) -> int:
    count = 1
    while chance.random() < MORE:
        count += 1
    return count


def _draw_post(chance: Random, user: int, time_ms: int) -> dict[str, Any]:
    mentioned = [chance.choice(draw_neighbours()[user])] if chance.random() < 0.4 else []
    urls = [_draw_url(chance)] if chance.random() < 0.3 else []
    words = [
        *chance.choices(WORDS, k=chance.randrange(6, 24)),
        *(f"@{make_username(each)}" for each in mentioned),
    ]
    text = " ".join([*words, *(url["shortened_url"] for url in urls)])
    media = (
        [{"media_id": Int64(chance.getrandbits(31)), "media_type": "png"}] if chance.random() < 0.2 else []
    )
    return {
        "post_id": make_id(MACHINE, time_ms - FIRST_MS, chance.randrange(16)),
        "timestamp": time_ms,
        "text": text,
        "req_id": int(float(chance.getrandbits(60))),  # a number of Lua is a double
        "post_type": 0,
        "creator": {"user_id": Int64(user), "username": make_username(user)},
        "urls": urls,
        "user_mentions": [{"user_id": Int64(each), "username": make_username(each)} for each in mentioned],
        "media": media,
    }


def _draw_url(chance: Random) -> dict[str, str]:
    letters = LETTERS[:26]
    return {
        "shortened_url": HOST + "".join(chance.choices(LETTERS, k=LENGTH)),
        "expanded_url": "http://" + "".join(chance.choices(letters, k=24)),
    }
