"""JSON over HTTP with retries, on the standard library: what the APIs of language models need, and nothing more.

Proxies are taken from the environment (``HTTPS_PROXY``, ``NO_PROXY``). Redirects are refused, because they would carry the
API key to another host. Errors raised here hold what the endpoint answered; their texts must be redacted before they are
shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message as EmailMessage
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from time import monotonic, sleep, time
from typing import Any, Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

T = TypeVar("T")

RETRIED: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Status codes after which the same request may succeed."""
FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 60.0
"""A longer pause is not waited for, even if the endpoint asks for it."""
PATIENCE_S: Final = 270.0
"""No further attempt starts after this time."""
MAX_BYTES: Final = 32 * 1024 * 1024
CHUNK_BYTES: Final = 65_536
AGENT: Final = {"User-Agent": "aiopslab-in-a-box"}
"""Some endpoints refuse the name that Python's library sends."""
QUOTA: Final = ("insufficient_quota", "billing")


class ConnectionFailed(Exception):
    """The endpoint could not be reached, or did not answer in time."""


class BadAnswer(Exception):
    """The endpoint answered with something other than JSON."""


class ApiError(Exception):
    """The endpoint answered with an error."""

    def __init__(self, status: int, body: Any, retry_after_s: float | None = None) -> None:
        error = body.get("error", body) if isinstance(body, Mapping) else body
        facts = error if isinstance(error, Mapping) else {"message": error}
        self.status = status
        self.message = str(facts.get("message") or facts.get("detail") or "no reason given").strip()
        self.kind = " ".join(str(facts[key]) for key in ("code", "type") if facts.get(key))
        self.retry_after_s = retry_after_s
        super().__init__(f"{status}: {self.message}")

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later; an exhausted quota does not refill in minutes."""
        return (
            self.status in RETRIED and not self.is_too_large and not any(word in self.kind for word in QUOTA)
        )

    @property
    def is_too_large(self) -> bool:
        """Whether only a smaller request may succeed: it alone exceeds what the account may use in a minute."""
        return self.status == 413 or (self.status == 429 and "request too large" in self.message.lower())


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class RateLimit:
    """At most a number of requests per minute, evenly spaced."""

    requests_per_minute: float
    _next_s: float = 0.0

    def wait(self) -> None:
        """Wait until the next request may start."""
        now_s = monotonic()
        if self._next_s > now_s:
            sleep(self._next_s - now_s)
        self._next_s = max(self._next_s, now_s) + 60 / self.requests_per_minute


class Transport:
    """Sends requests to one endpoint. ``retries`` is the number of further attempts after the first."""

    def __init__(self, timeout_s: float, retries: int, requests_per_minute: float | None = None) -> None:
        self._timeout_s = timeout_s
        self._retries = retries
        self._limit = RateLimit(requests_per_minute) if requests_per_minute else None

    def get(self, url: str, headers: Mapping[str, str], timeout_s: float) -> Any:
        """Return the JSON at a URL, in one attempt; raises as ``post`` does."""
        return self._exchange(Request(url, headers={**headers, **AGENT}), timeout_s, _read_json)

    def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: Mapping[str, Any],
        assemble: Callable[[Iterator[dict[str, Any]]], Any] | None = None,
    ) -> Any:
        """Send a request and return its JSON, or what ``assemble`` makes of the events of a stream.

        Raises:
            ConnectionFailed: no attempt reached the endpoint and was answered in time.
            ApiError: the endpoint answered with an error that is no passing one, or not soon enough.
            BadAnswer: the answer is not JSON.
        """
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        request = Request(url, data, {**headers, **AGENT, "Content-Type": "application/json"}, method="POST")

        def read(response: HTTPResponse, ends_s: float) -> Any:
            if assemble is None:
                return _read_json(response, ends_s)
            return assemble(_read_events(response, ends_s))

        began_s = monotonic()
        for attempt in range(self._retries + 1):
            if self._limit is not None:
                self._limit.wait()
            try:
                return self._exchange(request, self._timeout_s, read)
            except (ApiError, ConnectionFailed) as error:
                pause_s = _choose_pause(error, attempt)
                is_late = monotonic() - began_s + (pause_s or 0) > PATIENCE_S
                if pause_s is None or attempt == self._retries or is_late:
                    raise
            sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, request: Request, timeout_s: float, read: Callable[[HTTPResponse, float], T]) -> T:
        ends_s = monotonic() + timeout_s
        try:
            with _make_opener().open(request, timeout=timeout_s) as response:
                return read(response, ends_s)
        except HTTPError as error:
            with error:
                raise _make_api_error(error) from None
        except TimeoutError:
            raise ConnectionFailed(f"no answer within {timeout_s:g} s") from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise ConnectionFailed(f"no answer within {timeout_s:g} s") from None
            raise ConnectionFailed(_describe(error.reason)) from None
        except (OSError, HTTPException) as error:
            raise ConnectionFailed(_describe(error)) from None


def _make_opener() -> OpenerDirector:
    return build_opener(_NoRedirects)


def _describe(reason: object) -> str:
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def _choose_pause(error: ApiError | ConnectionFailed, attempt: int) -> float | None:
    """Return how long to wait before the next attempt; None if there should be none."""
    back_off_s = min(FIRST_PAUSE_S * 2.0**attempt, MAX_PAUSE_S)
    if isinstance(error, ConnectionFailed):
        return back_off_s
    if not error.is_passing:
        return None
    if error.retry_after_s is None:
        return back_off_s
    return error.retry_after_s if error.retry_after_s <= MAX_PAUSE_S else None


def _make_api_error(error: HTTPError) -> ApiError:
    try:
        text = error.read(CHUNK_BYTES).decode("utf-8", "replace")
    except (OSError, HTTPException):
        text = ""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        body = text or str(error.reason)
    if isinstance(body, list) and body:  # some gateways wrap the error in a list
        body = body[0]
    return ApiError(error.code, body, parse_retry_after(error.headers))


def parse_retry_after(headers: Mapping[str, str] | EmailMessage) -> float | None:
    """Return the pause that an answer asks for, in seconds; None if it names none."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        after = headers.get("retry-after")
        if not after:
            return None
        if after.replace(".", "", 1).isdigit():
            return float(after)
        return max(0.0, parsedate_to_datetime(after).timestamp() - time())
    except ValueError:
        return None


def _read_json(response: HTTPResponse, ends_s: float) -> Any:
    text = b"".join(_read_chunks(response, ends_s)).decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadAnswer(text.strip()[:80]) from None


def _read_events(response: HTTPResponse, ends_s: float) -> Iterator[dict[str, Any]]:
    """Yield the data of each server-sent event; raises ``ApiError`` for an error among them."""
    for line in _read_lines(response, ends_s):
        if not line.startswith(b"data:"):
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise BadAnswer(data.decode("utf-8", "replace")[:80]) from None
        if not isinstance(event, dict):
            raise BadAnswer(data.decode("utf-8", "replace")[:80])
        if event.get("error"):
            raise ApiError(_get_stream_status(event["error"]), event)
        yield event


def _get_stream_status(error: Any) -> int:
    """Return the status of an error inside a stream, whose HTTP status was 200."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) else 500


def _read_lines(response: HTTPResponse, ends_s: float) -> Iterator[bytes]:
    """Yield the complete lines of the body."""
    rest = b""
    for chunk in _read_chunks(response, ends_s):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def _read_chunks(response: HTTPResponse, ends_s: float) -> Iterator[bytes]:
    """Yield the body.

    Raises ``TimeoutError`` if it takes too long, ``BadAnswer`` if it is too large, ``ConnectionFailed`` if it is cut off.
    """
    size = 0
    while chunk := response.read1(CHUNK_BYTES):
        size += len(chunk)
        if size > MAX_BYTES:
            raise BadAnswer(f"more than {MAX_BYTES} bytes")
        if monotonic() > ends_s:
            raise TimeoutError
        yield chunk
    if response.length:
        raise ConnectionFailed("the answer was cut off")
