"""``GymIncidentEnv``: incidents for Gymnasium, which the extra ``gymnasium`` installs."""

from __future__ import annotations

from typing import Any, Final, SupportsFloat

from aiopslab.env.incident_env import IncidentEnv
from aiopslab.utils import AIOpsLabError

try:
    from gymnasium import Env
    from gymnasium.spaces import Space
except ModuleNotFoundError as error:
    raise AIOpsLabError("Gymnasium is missing: pip install 'aiopslab-in-a-box[gymnasium]'.") from error

MAX_CHARS: Final = 400_000
"""More than the longest observation: the action limits its own text, and the first one has all documentation."""


class AnyText(Space[str]):
    """All texts up to a length. Gymnasium's ``Text`` has only the characters that it lists."""

    def __init__(self, max_chars: int, samples: tuple[str, ...]) -> None:
        """``samples`` are the texts that ``sample`` draws from."""
        self.max_chars = max_chars
        self.samples = samples
        super().__init__(dtype=str)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return one of the sample texts."""
        return self.samples[int(self.np_random.integers(len(self.samples)))]

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_chars

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText) and (self.max_chars, self.samples) == (
            other.max_chars,
            other.samples,
        )

    __hash__ = None  # type: ignore[assignment]


class GymIncidentEnv(Env[str, str]):
    """Wraps an ``IncidentEnv``, which takes the arguments. ``reset(options={"problem": ID})`` chooses a problem."""

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(self, *args: Any, **options: Any) -> None:
        self.incidents = IncidentEnv(*args, **options)
        looks = ('exec_shell("kubectl get pods -A")', 'exec_shell("kubectl get events -A | tail")')
        self.action_space = AnyText(MAX_CHARS, looks)
        self.observation_space = AnyText(MAX_CHARS, ("",))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return self.incidents.reset(seed, (options or {}).get("problem"))

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        return self.incidents.step(action)

    def close(self) -> None:
        self.incidents.close()
