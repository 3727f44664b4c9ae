"""Agents that come with the package, and the registry that finds agents by name.

There are four floors (agents that act without looking; a good agent must beat them), a scripted engineer, an agent that
replays a file of actions, and an agent around a language model.
"""

from aiopslab.agents.lookup import NoSuchAgent, find_agent
from aiopslab.agents.registry import agent, describe_agent, load_agents

__all__ = ["NoSuchAgent", "agent", "describe_agent", "find_agent", "load_agents"]
