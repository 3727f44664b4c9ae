"""STRATUS: detection, diagnosis, mitigation and undo agents in a deterministic state machine."""

from aiopslab.agents.stratus.agent import Stratus as Stratus
