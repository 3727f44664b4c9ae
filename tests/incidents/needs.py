"""Who of the users needs what: signs that hold for whatever target is drawn."""

from __future__ import annotations

from tests.incidents.scene import Scene, Sign, users_fail, users_fine

NEEDED_BY = {
    "frontend": ("search", "recommend", "user", "reserve"),
    "search": ("search",),
    "geo": ("search",),
    "rate": ("search",),
    "profile": ("search", "recommend"),
    "recommendation": ("recommend",),
    "user": ("user", "reserve"),
    "reservation": ("search", "reserve"),
}
EVERYONE = NEEDED_BY["frontend"]
SERVICES = ("geo", "profile", "rate", "recommendation", "reservation", "search", "user")
STORED = ("geo", "profile", "rate", "recommendation", "reservation", "user")
"""Services with a database ``mongodb-…`` of their own."""


def needing(target: str) -> tuple[str, ...]:
    """The journeys that go through a service, or through that of a database or cache."""
    service = target.removeprefix("mongodb-").removeprefix("memcached-")
    return NEEDED_BY["reservation" if service == "reserve" else service]


def its_users_fail(kind: str = "HTTP 500", least: float = 0.9) -> Sign:
    """Those who need the target fail, all others do well."""

    def look(scene: Scene) -> None:
        hurt = needing(scene.target)
        users_fail(*hurt, least=least, kind=kind)(scene)
        users_fine(*(one for one in EVERYONE if one not in hurt))(scene)

    return look


def everyone_fine() -> Sign:
    """No user notices anything."""
    return users_fine(*EVERYONE)


def its_users_lag(p99_s: float) -> Sign:
    """One in a hundred of those who need the target waits at least that long; nobody else does."""

    def look(scene: Scene) -> None:
        hurt = needing(scene.target)
        for journey in EVERYONE:
            seen = scene.users(journey, 60.0)
            if (seen.p99_s >= p99_s) != (journey in hurt):
                scene.fail(f"{journey}: one in a hundred takes {seen.p99_s * 1000:.0f} ms or more")

    return look
