"""Periods of the cloud's time, from times by this host's clock."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Final

from aiopslab.service import get_cloud
from simcloud.telemetry.export import Period

SECOND_NS: Final = 1_000_000_000
Moment = datetime | float | str


def get_environment(caller: str) -> Any:
    """Return the current cloud; raises ``NoCloud`` with the caller's name."""
    return get_cloud(caller)


def make_period(environment: Any, start_time: Moment, end_time: Moment) -> Period:
    """Return the cloud's period that is as long ago as the one between two times of this host's clock."""
    shift_s = environment.cluster.api.now_s - time.time()
    start, end = (_get_seconds(moment) + shift_s for moment in (start_time, end_time))
    return Period(round(start * SECOND_NS), round(end * SECOND_NS) + 1)


def _get_seconds(moment: Moment) -> float:
    return moment.timestamp() if isinstance(moment, datetime) else float(moment)
