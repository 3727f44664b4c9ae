"""Errors that a client sees: a status and one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from aiopslab.utils import AIOpsLabError


class HttpError(AIOpsLabError):
    """A request cannot be served; the message says why and what to do."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
