"""Where scripts for the public release import sessions from."""

from aiopslab.orchestrator.session import Session, SessionItem

__all__ = ["Session", "SessionItem"]
