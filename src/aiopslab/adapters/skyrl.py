"""An incident as a text environment of SkyRL-Gym, registered as ``aiopslab`` by importing this module.

The problem and the seed come from a row of the training data (``extras``), so that each row is an episode:

    skyrl_gym.make("aiopslab", extras={"problem": "scale_pod_zero_social_net-detection-1", "seed": 7})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from aiopslab.adapters.worlds import open_env
from aiopslab.utils import AIOpsLabError

try:
    from skyrl_gym.envs import register
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ModuleNotFoundError as error:
    raise AIOpsLabError("SkyRL-Gym is missing: pip install 'aiopslab-in-a-box[skyrl]'.") from error

NAME: Final = "aiopslab"
Conversation = list[dict[str, str]]


class SkyrlIncidentEnv(BaseTextEnv):
    """One episode; the reward is that of ``aiopslab.env``."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        """``extras`` has the ``problem``, and may have ``seed`` and ``max_steps``."""
        super().__init__()
        row = extras or {}
        if "problem" not in row:
            raise AIOpsLabError(
                "No problem is named. Put its id into the column 'problem' of the training data."
            )
        self.max_turns = int(row.get("max_steps", 30))
        self._env = open_env(row["problem"], int(row.get("seed", 0)), max_steps=self.max_turns)
        self._metrics: dict[str, Any] = {}

    def init(self, prompt: Conversation) -> tuple[Conversation, dict[str, Any]]:
        """Begin the episode; the first observation follows the prompt."""
        observation, info = self._env.reset()
        return [*prompt, {"role": "user", "content": observation}], {"severity": info["severity"]}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Take a turn with a model's answer."""
        self.turns += 1
        observation, reward, terminated, truncated, info = self._env.step(action)
        results = info["results"] or {}
        if results:
            self._metrics = {"success": float(bool(results.get("success"))), "steps": float(self.turns)}
        return BaseTextEnvStepOutput(
            observations=[{"role": "user", "content": observation}],
            reward=reward,
            done=terminated or truncated,
            metadata={"severity": info["severity"], "results": results},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return the verdict and the number of steps of a finished episode."""
        return self._metrics

    def close(self) -> None:
        """End the world."""
        self._env.close()


register(NAME, f"{__name__}:{SkyrlIncidentEnv.__name__}")
