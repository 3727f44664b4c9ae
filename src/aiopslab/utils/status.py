"""Errors between an agent, its session and its problem, with the names of the public release.

Each message says what is wrong and what to do instead. A session sends the message of a `ResponseParsingError`, an
`InvalidActionError` or an `InvalidSubmissionError` to the agent as its observation and continues, so these messages
must not contain paths of the host, tracebacks or internal Python names.
"""

from enum import Enum


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


class SubmissionStatus(Enum):
    """Whether a submission was accepted, with the names of the public release."""

    VALID_SUBMISSION = 1
    INVALID_SUBMISSION = 2
