"""Session classes under the module path of the public release."""

from aiopslab.orchestrator.session import Session, SessionItem

__all__ = ["Session", "SessionItem"]
