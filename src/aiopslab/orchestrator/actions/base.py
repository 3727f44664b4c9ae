"""What all actions stand on: the environment, the agent's own host, and how a name is found in the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from aiopslab.orchestrator.actions.arguments import quoted
from aiopslab.orchestrator.actions.registry import nearest
from aiopslab.utils.status import AIOpsLabError, InvalidActionError
from simcloud.world.policies import ADMIN, Policy

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment
    from simcloud.kubernetes.api.objects import Object
    from simcloud.kubernetes.api.store import RevisionLog

SHOWN_NAMES: Final = 40
LONGEST_MINUTES: Final = 24 * 60


class ActionFailed(AIOpsLabError):
    """An action was called rightly and has nothing to show; the sentence says why, and what to try."""


class ActionsBase:
    """The ground of ``TaskActions``."""

    def __init__(self, environment: Environment, policy: Policy = ADMIN) -> None:
        self.environment = environment
        self.terminal = environment.terminal(policy)

    @property
    def _log(self) -> RevisionLog:
        return self.environment.cluster.api.log

    def _now_s(self) -> float:
        """The cluster's time of day, in seconds since 1970."""
        return self.environment.cluster.api.now_s

    def _check_namespace(self, namespace: str) -> None:
        """Raise a sentence when there is no such namespace."""
        known = [one["metadata"]["name"] for one in self._log.objects("", "namespaces")]
        if namespace not in known:
            meant = _meant(namespace, known)
            raise ActionFailed(
                f"There is no namespace {quoted(namespace)}.{meant} The application runs in "
                f"{self.environment.namespace!r}; all namespaces: {listed(known)}."
            )


def names(objects: Iterable[Object]) -> list[str]:
    """The names of objects."""
    return [one["metadata"]["name"] for one in objects]


def listed(known: list[str], most: int = SHOWN_NAMES) -> str:
    """Names in a sentence."""
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def _meant(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def unknown(what: str, name: str, known: list[str], way_out: str) -> ActionFailed:
    """There is no such thing: the names that look like it, and how to list all."""
    near = nearest(name, known)
    instead = _meant(name, known) if near else f" There are: {listed(known)}." if known else " There is none."
    return ActionFailed(f"There is no {what} {quoted(name)}.{instead} {way_out}")


def check_minutes(minutes: float, name: str = "duration") -> float:
    """A time to look back over; ``InvalidActionError`` when it is none."""
    if not 0 < minutes <= LONGEST_MINUTES:
        raise InvalidActionError(
            f"{name} is in minutes, above 0 and at most {LONGEST_MINUTES}, not {minutes:g}."
        )
    return minutes


def in_words(minutes: float) -> str:
    """A number of minutes, as it is said."""
    return "minute" if minutes == 1 else f"{minutes:g} minutes"


def clock(time_s: float, now_s: float | None = None) -> str:
    """A time of day; with its date where that is not the present one's."""
    moment = datetime.fromtimestamp(time_s, UTC)
    if now_s is not None and datetime.fromtimestamp(now_s, UTC).date() != moment.date():
        return f"{moment:%m-%d %H:%M:%S}"
    return f"{moment:%H:%M:%S}"


def stamp(time_s: float) -> str:
    """A time in full."""
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
