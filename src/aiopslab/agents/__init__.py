"""Agents that come with the package, and the registry that finds agents by name.

There are four floors (agents that act without looking; a good agent must beat them), a scripted engineer, an agent that
replays a file of actions, and an agent around a language model.
"""

from aiopslab.agents.lookup import NoSuchAgent as NoSuchAgent, find_agent as find_agent
from aiopslab.agents.registry import (
    agent as agent,
    load_agents as load_agents,
)
