"""Errors of kubectl with their messages and exit codes, and lines of its log (klog).

Verbs raise; the program catches and prints. An ``ApiError`` is formatted as kubectl formats it.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes import format_klog
from simcloud.kubernetes.api import ApiError, at
from simcloud.machine.process import Context

FAILED: Final = 1


class KubectlError(Exception):
    """A mistake or a failure, in a sentence; ``error: `` is put before it."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    def format_message(self) -> str:
        """Return the text for stderr."""
        if self.message.startswith("error: "):
            return self.message
        return f"error: {self.message}"


class UsageError(KubectlError):
    """A call that cannot be understood; points at the command's help."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(f"{message}\nSee '{command} -h' for help and examples")


class FlagError(KubectlError):
    """A flag that cannot be understood."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(f"{message}\nSee '{command} --help' for usage.")


class PlainError(KubectlError):
    """A failure whose sentence stands alone."""

    def format_message(self) -> str:
        """Return the text for stderr."""
        return self.message


class Exit(Exception):
    """The end, with nothing more to say."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class WithContext(Exception):
    """A refusal by the server, with what was being done before its sentence."""

    def __init__(self, doing: str, error: ApiError) -> None:
        super().__init__(doing)
        self.doing = doing
        self.error = error


def sentence(error: ApiError, doing: str = "") -> str:
    """A refusal by the server, as kubectl tells it; ``doing`` is put before the server's words."""
    before = f"{doing}: " if doing else ""
    if error.reason == "Unauthorized":
        return f"error: {before}You must be logged in to the server ({error.message})"
    if error.reason == "Invalid":
        return _invalid(error, before)
    if error.reason:
        return f"Error from server ({error.reason}): {before}{error.message}"
    return f"Error from server: {before}{error.message}"


def tell(error: Exception, *, alone: bool = True) -> str:
    """A failure as stderr tells it; one of several carries no ``error: `` before it."""
    if isinstance(error, ApiError):
        return sentence(error)
    if isinstance(error, WithContext):
        return sentence(error.error, error.doing)
    if isinstance(error, KubectlError):
        return error.format_message() if alone else error.message
    raise error


def _invalid(error: ApiError, before: str) -> str:
    """What is wrong with an object: one fault in a line, several as a list."""
    details = error.details or {}
    if before:
        return f"Error from server (Invalid): {before}{error.message}"
    message = "The request is invalid"
    if details.get("kind"):
        message = f'The {details["kind"]} "{details.get("name", "")}" is invalid'
    causes = at(details, "causes", default=None)
    if not causes:
        return f"{message}: {error.message}" if error.message else message
    faults = [
        f"{cause['field']}: {cause['message']}" if cause.get("field") else cause["message"]
        for cause in causes
    ]
    distinct = list(dict.fromkeys(faults))
    if len(distinct) == 1:
        return f"{message}: {distinct[0]}\n"
    return "".join([f"{message}: \n", *(f"* {fault}\n" for fault in distinct)])


def klog(ctx: Context, level: str, place: str, message: str) -> str:
    """A line of kubectl's own log."""
    return format_klog(level, ctx.now, ctx.process.pid, place, message) + "\n"


class PrintError(Exception):
    """An object cannot be printed as asked. The text follows ``error: ``; ``printed`` went out before it."""

    def __init__(self, message: str, printed: str = "") -> None:
        super().__init__(message)
        self.printed = printed


class Crash(PrintError):
    """What makes the genuine kubectl itself end with a Go panic: exit code 2, and no ``error: `` before it."""
