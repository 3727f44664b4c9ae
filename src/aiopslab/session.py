"""Session classes under the module path of the public release."""

from aiopslab.orchestrator import Session, SessionItem

__all__ = ["Session", "SessionItem"]
