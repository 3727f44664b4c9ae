"""The prediction task: what is going to fail, and when?"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final, NamedTuple

from aiopslab.generators.fault.growing import FAILURES, GrowingFault, Level
from aiopslab.orchestrator.tasks.base import Task
from aiopslab.orchestrator.tasks.localization import resolve_component
from aiopslab.utils import InvalidSubmissionError

WARM_UP_S: Final = 120.0
"""Time from the injection to the first measurement, in which new programs start."""
TREND_S: Final = 240.0
"""Time from there to the second measurement."""
FACTOR: Final = 2.0
"""A predicted time is right if it is off by at most this factor."""
DIGITS: Final = 1


class Forecast(NamedTuple):
    """What fails, how, and when."""

    component: str
    failure: str
    fails_at_s: float


class PredictionTask(Task):
    """The agent submits which component is going to fail, how, and in how many minutes."""

    task_type: ClassVar[str] = "prediction"
    goal: ClassVar[str] = (
        "all users are served well now. Determine from trends whether something is going to fail within the next four hours "
        "if nobody intervenes; much that grows is harmless. Submit the component that is going to fail first (a component of "
        f"the application, or a node), the failure, one of {', '.join(FAILURES)}, and the number of minutes from now until "
        f"then; a number that is off by at most a factor of {FACTOR:g} is right. Submit None if nothing is going to fail. "
        "A node's disk is full when the kubelet begins to evict pods."
    )
    example: ClassVar[str] = (
        'submit({"component": "component-a", "failure": "out of memory", "within_min": 45})'
    )

    _forecast: Forecast | None = None

    @property
    def breaks(self) -> bool:
        """Whether something is going to fail."""
        return any(not fault.bounded for fault in self.faults if isinstance(fault, GrowingFault))

    def inject_fault(self) -> None:
        """Inject the fault, and measure twice how it grows: here, because measuring takes time that must not reveal anything."""
        environment, began_s = self.environment, self.environment.now
        super().inject_fault()
        growing = [fault for fault in self.faults if isinstance(fault, GrowingFault)]
        environment.run_for(began_s + WARM_UP_S - environment.now)
        before = [(environment.now, fault.measure(environment)) for fault in growing]
        environment.run_for(began_s + WARM_UP_S + TREND_S - environment.now)
        forecasts = [
            self._extrapolate(fault, *measured) for fault, measured in zip(growing, before, strict=True)
        ]
        failing = [forecast for fault, forecast in zip(growing, forecasts, strict=True) if not fault.bounded]
        self._forecast = min(failing, key=lambda forecast: forecast.fails_at_s, default=None)

    def submit(self, prediction: dict[str, Any] | None) -> dict[str, Any]:
        """Submit the answer. This ends the session.

        Args:
            prediction (dict[str, Any] | None): "component" is the name of the component that is going to fail first; "failure"
                is one of "disk full", "volume full", "out of memory", "connections exhausted", "certificate expired",
                "quota exhausted"; "within_min" is the number of minutes from now. None if nothing is going to fail.

        Example:
            submit({"component": "component-a", "failure": "out of memory", "within_min": 45})
        """
        if prediction is None:
            return {}
        if not isinstance(prediction, dict):
            raise InvalidSubmissionError(
                f"The answer must be None or a dictionary with three entries: {self.example}"
            )
        component, minutes = prediction.get("component"), prediction.get("within_min")
        failure = str(prediction.get("failure")).strip().lower()
        if not isinstance(component, str):
            raise InvalidSubmissionError('"component" must be the name of a component.')
        if failure not in FAILURES:
            raise InvalidSubmissionError(f'"failure" must be one of {", ".join(FAILURES)}.')
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes < math.inf:
            raise InvalidSubmissionError('"within_min" must be a number of minutes above 0.')
        return {
            "component": resolve_component(self.app, component),
            "failure": failure,
            "within_min": float(minutes),
        }

    def get_expected(self) -> dict[str, Any] | None:
        """Return the answer that is right now; None if nothing is going to fail."""
        if self._forecast is None:
            return None if self.ans is None else dict(self.ans)
        left_min = (self._forecast.fails_at_s - self.environment.now) / 60
        return {
            "component": self._forecast.component,
            "failure": self._forecast.failure,
            "within_min": round(left_min, DIGITS),
        }

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        expected = self.get_expected()
        given: dict[str, Any] = soln or {}
        correct = {
            "component": expected is not None and given.get("component") == expected["component"],
            "failure": expected is not None and given.get("failure") == expected["failure"],
            "time": expected is not None and _is_near(given.get("within_min"), expected["within_min"]),
        }
        right = not given if expected is None else all(correct.values())
        self.results |= {
            **{f"{name}_correct": value for name, value in correct.items() if expected is not None},
            "success": soln is not None and right,
            "TTP": duration,
            "expected": expected,
        }
        return dict(self.results)

    def _extrapolate(self, fault: GrowingFault, since_s: float, before: Level) -> Forecast:
        """Extrapolate the growth since the first measurement to the capacity."""
        level, now_s = fault.measure(self.environment), self.environment.now
        per_s = (level.used - before.used) / (now_s - since_s)
        fails_at_s = now_s + (level.capacity - level.used) / per_s if per_s > 0 else math.inf
        return Forecast(fault.find_failing_component(self.environment), fault.failure, fails_at_s)


def _is_near(given: float | None, right: float) -> bool:
    return given is not None and right / FACTOR <= given <= right * FACTOR
