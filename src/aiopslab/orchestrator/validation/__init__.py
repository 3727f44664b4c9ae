"""Proofs that problems are fair: the incident is real, its repair passes, shortcuts fail, and nothing tells the answer."""

from aiopslab.orchestrator.validation.validate import Validator

__all__ = ["Validator"]
