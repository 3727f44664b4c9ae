"""Signs that hold for whatever target is drawn: those who need it notice, and nobody else does."""

from __future__ import annotations

from tests.incidents.scene import Scene, Sign, users_fail, users_fine, users_slow


def its_users_fail(kind: str = "HTTP 500", least: float = 0.9) -> Sign:
    """Those who need the target fail, all others do well."""

    def look(scene: Scene) -> None:
        hurt = scene.known.needed_by[scene.target]
        users_fail(*hurt, least=least, kind=kind)(scene)
        users_fine(*(one for one in scene.known.everyone if one not in hurt))(scene)

    return look


def its_users_slow(median_s: float = 0.0, p99_s: float = 0.0) -> Sign:
    """Those who need the target wait at least that long, or fail."""

    def look(scene: Scene) -> None:
        users_slow(*scene.known.needed_by[scene.target], median_s=median_s, p99_s=p99_s)(scene)

    return look


def everyone_fine(last_s: float = 30.0) -> Sign:
    """No user notices anything."""

    def look(scene: Scene) -> None:
        users_fine(*scene.known.everyone, last_s=last_s)(scene)

    return look


def everyone_fails(kind: str = "") -> Sign:
    """All users fail."""

    def look(scene: Scene) -> None:
        users_fail(*scene.known.everyone, kind=kind)(scene)

    return look


def its_users_lag(p99_s: float) -> Sign:
    """One in a hundred of those who need the target waits at least that long; nobody else does."""

    def look(scene: Scene) -> None:
        hurt = scene.known.needed_by[scene.target]
        for journey in scene.known.everyone:
            seen = scene.users(journey, 60.0)
            if (seen.p99_s >= p99_s) != (journey in hurt):
                scene.fail(f"{journey}: one in a hundred takes {seen.p99_s * 1000:.0f} ms or more")

    return look
