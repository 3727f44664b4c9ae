"""The users of the network and their friendships, with the size and skew of the published graph of a small college.

The published graph itself is not used: this one is drawn, always the same, so that a few users have many friends and
most have some. Everybody has at least one friend. Friends follow each other.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from random import Random
from typing import Final

USERS: Final = 962
EDGES: Final = 18_812
SEED: Final = 98
STEEPNESS: Final = 0.55
"""Exponent of the skew: the higher, the more friends the most popular users have."""


def make_username(user: int) -> str:
    """Return a user's login name."""
    return f"username_{user}"


def make_password(user: int) -> str:
    """Return a user's password."""
    return f"password_{user}"


@cache
def draw_neighbours() -> tuple[tuple[int, ...], ...]:
    """Return each user's friends, sorted."""
    chance = Random(SEED)
    ranks = list(range(USERS))
    chance.shuffle(ranks)
    weights = list(accumulate((rank + 4) ** -STEEPNESS for rank in ranks))
    friends: list[dict[int, None]] = [{} for _ in range(USERS)]
    users = range(USERS)
    edges = 0

    def connect(user: int, other: int) -> None:
        nonlocal edges
        if user != other and other not in friends[user]:
            friends[user][other] = friends[other][user] = None
            edges += 1

    for user in users:
        while not friends[user]:
            connect(user, chance.choices(users, cum_weights=weights)[0])
    while edges < EDGES:
        for user, other in zip(
            *(chance.choices(users, cum_weights=weights, k=512) for _ in "ab"), strict=True
        ):
            if edges < EDGES:
                connect(user, other)
    return tuple(tuple(sorted(group)) for group in friends)
