"""The base class of all actions: the environment, the agent's host, and messages about unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from aiopslab.orchestrator.actions.arguments import quote
from aiopslab.orchestrator.actions.registry import find_similar
from aiopslab.utils import AIOpsLabError, InvalidActionError
from simcloud.telemetry.stack import NAMESPACE as MONITORING
from simcloud.world import ADMIN, Policy

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite, Prometheus
    from simcloud.kubernetes.api import Object, RevisionLog

SHOWN_NAMES: Final = 40
MAX_MINUTES: Final = 24 * 60


class ActionFailed(AIOpsLabError):
    """A valid call has no result; the message says why and what to try."""


class ActionsBase:
    """Base class of ``TaskActions``."""

    def __init__(self, environment: IncidentSite, policy: Policy = ADMIN) -> None:
        self.environment = environment
        self.terminal = environment.terminal(policy)

    @property
    def _log(self) -> RevisionLog:
        return self.environment.cluster.api.log

    def _get_now_s(self) -> float:
        """Return the cluster's time, in seconds since 1970."""
        return self.environment.cluster.api.now_s

    def _reach_prometheus(self) -> Prometheus:
        """Return the API of Prometheus; raises ``ActionFailed`` if it does not answer."""
        reason = self.environment.check_prometheus()
        if reason:
            raise ActionFailed(f"Prometheus does not answer at {reason}. Its pods run in {MONITORING!r}.")
        return self.environment.prometheus

    def _check_namespace(self, namespace: str) -> None:
        """Raise ``ActionFailed`` if there is no such namespace."""
        known = get_names(self._log.objects("", "namespaces"))
        if namespace not in known:
            raise ActionFailed(
                f"There is no namespace {quote(namespace)}.{_suggest(namespace, known)} The application runs in "
                f"{self.environment.namespace!r}; all namespaces: {join_names(known)}."
            )


def get_names(objects: Iterable[Object]) -> list[str]:
    """Return the names of objects."""
    return [obj["metadata"]["name"] for obj in objects]


def join_names(names: list[str], limit: int = SHOWN_NAMES) -> str:
    """Join names for a message, up to a limit."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _suggest(name: str, known: list[str]) -> str:
    similar = find_similar(name, known)
    return f" Did you mean {' or '.join(map(repr, similar))}?" if similar else ""


def make_unknown_error(what: str, name: str, known: list[str], hint: str) -> ActionFailed:
    """Return an error that suggests similar names or lists the known ones; ``hint`` says what to do."""
    suggestion = _suggest(name, known)
    if not suggestion:
        suggestion = f" Available: {join_names(known)}." if known else " There is none."
    return ActionFailed(f"There is no {what} {quote(name)}.{suggestion} {hint}")


def check_minutes(minutes: float, name: str = "duration") -> float:
    """Return a number of minutes to look back; raises ``InvalidActionError`` if it is out of range."""
    if not 0 < minutes <= MAX_MINUTES:
        raise InvalidActionError(
            f"{name} must be above 0 and at most {MAX_MINUTES} minutes, not {minutes:g}."
        )
    return minutes


def format_minutes(minutes: float) -> str:
    """Return a number of minutes for "in the last …"."""
    return "minute" if minutes == 1 else f"{minutes:g} minutes"


def format_clock(time_s: float, now_s: float | None = None) -> str:
    """Return a time of day, with the date if it is not today's."""
    moment = datetime.fromtimestamp(time_s, UTC)
    if now_s is not None and datetime.fromtimestamp(now_s, UTC).date() != moment.date():
        return f"{moment:%m-%d %H:%M:%S}"
    return f"{moment:%H:%M:%S}"


def format_time(time_s: float) -> str:
    """Return a date and time in UTC."""
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
