"""The errors that pass between an agent, its session and its problem, by the names of the public release.

Each is a sentence for whoever caused it, with a way out: a session hands the text of a `ResponseParsingError`, an
`InvalidActionError` or an `InvalidSubmissionError` to the agent as its observation and goes on. So nothing of the
host may stand in such a text: no paths, no tracebacks, no Python names of ours.
"""

from enum import Enum


class AIOpsLabError(Exception):
    """Something that a user or an agent did cannot be done; the text says why and what to do instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ResponseParsingError(AIOpsLabError):
    """A response holds no call, more than one, or one that cannot be read."""


class InvalidActionError(AIOpsLabError):
    """A call names an action that is not offered, or gives it the wrong arguments."""


class InvalidSubmissionError(AIOpsLabError):
    """A submission has the wrong type or an unknown label; the session goes on."""


class SubmissionStatus(Enum):
    """Whether a submission was taken, as the public release names it."""

    VALID_SUBMISSION = 1
    INVALID_SUBMISSION = 2
