"""Incidents as a plug-in of verifiers, which finds plug-ins only by the name of a module without dots."""

from aiopslab.adapters.verifiers_env import ChatHarness, Incidents, IncidentsEnv

__all__ = ["ChatHarness", "Incidents", "IncidentsEnv"]
