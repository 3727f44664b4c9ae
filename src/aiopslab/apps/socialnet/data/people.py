"""Who is in the network and who knows whom: as many as in the published graph of a small college, and as unevenly.

The published graph is not used: it is drawn here, the same each time, by a rule under which a few people know many and
most know some. Everybody knows somebody. Two who know each other follow each other.
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
"""How much more those at the top know than those at the bottom."""


def username(user: int) -> str:
    """The name that somebody logs in with."""
    return f"username_{user}"


def password(user: int) -> str:
    """And the password."""
    return f"password_{user}"


@cache
def neighbours() -> tuple[tuple[int, ...], ...]:
    """For each person, those that it follows and is followed by, in order."""
    chance = Random(SEED)
    ranks = list(range(USERS))
    chance.shuffle(ranks)
    weights = list(accumulate((rank + 4) ** -STEEPNESS for rank in ranks))
    known: list[dict[int, None]] = [{} for _ in range(USERS)]
    everybody = range(USERS)
    edges = 0

    def meet(one: int, other: int) -> None:
        nonlocal edges
        if one != other and other not in known[one]:
            known[one][other] = known[other][one] = None
            edges += 1

    for one in everybody:
        while not known[one]:
            meet(one, chance.choices(everybody, cum_weights=weights)[0])
    while edges < EDGES:
        for one, other in zip(
            *(chance.choices(everybody, cum_weights=weights, k=512) for _ in "ab"), strict=True
        ):
            if edges < EDGES:
                meet(one, other)
    return tuple(tuple(sorted(each)) for each in known)
