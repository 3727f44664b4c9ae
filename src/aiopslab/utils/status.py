"""Errors between an agent, its session and its problem, with the names of the public release.

Each message says what is wrong and what to do instead. A session sends the message of a `ResponseParsingError`, an
`InvalidActionError` or an `InvalidSubmissionError` to the agent as its observation and continues, so these messages
must not contain paths of the host, tracebacks or internal Python names.
"""

from enum import Enum
from typing import Any


class AIOpsLabError(Exception):
    """A user or an agent made a mistake; the message says what is wrong and what to do instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ResponseParsingError(AIOpsLabError):
    """A response contains no call, several calls, or one that cannot be parsed."""


class InvalidActionError(AIOpsLabError):
    """A call names an unknown action or has the wrong arguments."""


class InvalidSubmissionError(AIOpsLabError):
    """A submission has the wrong type or an unknown label; the session continues."""


class NotAvailable(AIOpsLabError):
    """A name of the public AIOpsLab release has no counterpart here; the message says what to use instead."""


class SubmissionStatus(Enum):
    """Whether a submission was accepted, with the names of the public release."""

    VALID_SUBMISSION = 1
    INVALID_SUBMISSION = 2


class SessionPrint:
    """Prints a session. The steps are printed if ``print_session`` is set in the configuration, the results always."""

    def __init__(self) -> None:
        from aiopslab.paths import config  # loads YAML, which errors do not need

        self.enable_printing = bool(config.get("print_session"))

    def agent(self, action: object) -> None:
        """Print an answer of the agent."""
        if self.enable_printing:
            print(f"Agent:\n{action}")

    def service(self, response: object) -> None:
        """Print an observation."""
        if self.enable_printing:
            print(f"Service: {response}\n\n")

    def result(self, results: Any) -> None:
        """Print the results."""
        print(f"Results:\n{results}")
