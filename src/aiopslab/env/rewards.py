"""Rewards: what a step is worth to a learner.

Any function of a ``Transition`` is a reward. ``Reward`` is a weighted sum of the verdict, steps, invalid actions and harm, with
optional shaping by severity. The shaping is potential-based (Ng, Harada, Russell, 1999): with the potential
``-shaping x severity``, and 0 at the end, each episode's discounted sum changes by the same constant, whatever the agent does,
so that the best policy stays the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Transition:
    """One step, as rewards see it."""

    severity_before: float
    severity: float
    """The system's severity after the step, from 0 (healthy) to 1 (down)."""
    valid: bool
    """Whether an action was performed, or a submission accepted."""
    ended: bool
    success: bool | None = None
    """The verdict, at the end; None before, and where there is none."""
    regressions: int = 0
    """At the end: actions of the session that made things worse."""
    changes_beyond_need: int = 0
    """At the end: objects that the session changed without need."""


RewardFunction = Callable[[Transition], float]


@dataclass(frozen=True)
class Reward:
    """A weighted sum. By default 1 for success and 0 for everything else."""

    success: float = 1.0
    failure: float = 0.0
    """For an episode that ends without success, also at a limit."""
    step: float = 0.0
    """For each step; a cost is negative."""
    invalid: float = 0.0
    """For each answer that is no valid action."""
    harm: float = 0.0
    """For each regression and each change beyond need, at the end."""
    shaping: float = 0.0
    """Weight of the severity that a step removes."""
    discount: float = 1.0
    """The learner's discount factor, which shaping needs."""

    def __call__(self, transition: Transition) -> float:
        """Return the reward of a step."""
        reward = self.step + (0.0 if transition.valid else self.invalid)
        if transition.ended:
            reward += self.success if transition.success else self.failure
            reward += self.harm * (transition.regressions + transition.changes_beyond_need)
        after = 0.0 if transition.ended else transition.severity
        return reward + self.shaping * (transition.severity_before - self.discount * after)
