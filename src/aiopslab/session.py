"""Session classes under the module path of the public AIOpsLab release."""

from aiopslab.orchestrator import Session, SessionItem

__all__ = ["Session", "SessionItem"]
