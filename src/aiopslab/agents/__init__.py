"""Agents of our own: floors that every good agent must beat, one that follows a script, and one around a language model."""

from aiopslab.agents.registry import agent, agents
from aiopslab.agents.resolving import NoSuchAgent, find_agent

__all__ = ["NoSuchAgent", "agent", "agents", "find_agent"]
