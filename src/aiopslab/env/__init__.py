"""Incidents as environments for training and search: ``reset``, ``step``, ``fork``.

    with IncidentEnv("smoke", seed=7) as env:
        observation, info = env.reset()
        observation, reward, terminated, truncated, info = env.step('exec_shell("kubectl get pods -A")')

The world lives in a process of its own, as everything that is judged does; this process holds neither the world nor the answer.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.env.gymnasium_env import GymIncidentEnv as GymIncidentEnv
    from aiopslab.env.incident_env import EnvironmentFailed as EnvironmentFailed, IncidentEnv as IncidentEnv
    from aiopslab.env.pool import WorldPool as WorldPool
    from aiopslab.env.rewards import Reward as Reward, Transition as Transition
    from aiopslab.env.rollout import Start as Start, begin as begin
    from aiopslab.env.vector_env import VectorIncidentEnv as VectorIncidentEnv
