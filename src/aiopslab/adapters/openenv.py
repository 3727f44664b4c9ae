"""Incidents as an environment of OpenEnv, served over HTTP and WebSocket, and its client.

AIOPSLAB_PROBLEMS=smoke uvicorn --factory aiopslab.adapters.openenv:make_app --host 127.0.0.1 --port 8000
"""

from __future__ import annotations

import os
from itertools import cycle
from typing import Any, Final

from aiopslab.adapters.worlds import list_problems, open_env
from aiopslab.env import IncidentEnv
from aiopslab.utils import AIOpsLabError

try:
    from openenv.core import EnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server import Action, Environment, Observation, State, create_app
except ModuleNotFoundError as error:
    raise AIOpsLabError("OpenEnv is missing: pip install 'aiopslab-in-a-box[openenv]'.") from error

PROBLEMS: Final = "AIOPSLAB_PROBLEMS"
"""The variable with a suite, or with ids and commas between them."""
MAX_ENVIRONMENTS: Final = 16


class IncidentAction(Action):
    """An agent's answer, which contains one call."""

    text: str


class IncidentObservation(Observation):
    """What the call returned; the first one has the description and the documentation of all actions."""

    text: str


class OpenEnvIncident(Environment[IncidentAction, IncidentObservation, State]):
    """Problems as episodes: those of the server in turn, or the one that ``reset(problem=…)`` names."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, problems: str = "") -> None:
        """``problems`` is a suite, or ids with commas between them; by default what the environment variable says."""
        super().__init__()
        self._problems = cycle(list_problems(problems or os.environ.get(PROBLEMS, "smoke")))
        self._env: IncidentEnv | None = None
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> IncidentObservation:
        """Begin an episode; ``seed`` chooses the world."""
        self.close()
        self._env = open_env(kwargs.get("problem") or next(self._problems), seed or 0)
        observation, _ = self._env.reset()
        self._state = State(episode_id=episode_id, step_count=0)
        return IncidentObservation(text=observation)

    def step(
        self, action: IncidentAction, timeout_s: float | None = None, **kwargs: Any
    ) -> IncidentObservation:
        """Take a turn. Raises ``AIOpsLabError`` before ``reset``."""
        if self._env is None:
            raise AIOpsLabError("No episode is under way. Call reset() first.")
        text, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        results = info["results"]
        metadata = {} if results is None else {"success": results.get("success")}
        return IncidentObservation(text=text, reward=reward, done=terminated or truncated, metadata=metadata)

    @property
    def state(self) -> State:
        """The id of the episode and the number of its steps."""
        return self._state

    def close(self) -> None:
        """End the episode."""
        if self._env is not None:
            self._env.close()
            self._env = None


class IncidentClient(EnvClient[IncidentAction, IncidentObservation, State]):
    """The client: ``IncidentClient(base_url="http://127.0.0.1:8000").sync()``."""

    def _step_payload(self, action: IncidentAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[IncidentObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        observation = IncidentObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def make_app() -> Any:
    """Return the ASGI application of the server."""
    return create_app(
        OpenEnvIncident,
        IncidentAction,
        IncidentObservation,
        env_name="aiopslab",
        max_concurrent_envs=MAX_ENVIRONMENTS,
    )
