"""What models behind an HTTP endpoint have in common: key, endpoint, check, retries, and errors in one sentence.

The API key is read from the environment for each request. It is stored in no attribute, text or record, and errors are
redacted before they are shown.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, ClassVar, Final
from urllib.parse import SplitResult, urlsplit

from aiopslab.orchestrator.models.base import (
    CONTEXT_TOKENS,
    ContextOverflow,
    Message,
    ModelFailed,
    NoText,
    Reply,
    Tool,
)
from aiopslab.orchestrator.models.prices import OWN_TABLE, compute_cost, find_facts
from aiopslab.orchestrator.models.transport import ApiError, BadAnswer, ConnectionFailed, Transport
from aiopslab.orchestrator.redaction import BLANK, Redactor

TIMEOUT_S: Final = 180.0
CHECK_TIMEOUT_S: Final = 15.0
RETRIES: Final = 5
MAX_CHARS: Final = 400_000
"""Maximum length of an answer; the rest is dropped."""
ERROR_CHARS: Final = 300
MIN_KEY_CHARS: Final = 8
"""Shorter keys are placeholders for endpoints that need none."""
_OVERFLOW: Final = re.compile(
    r"context.?(?:length|window|size)|maximum.{1,20}tokens|too many tokens|(?:prompt|input|request)(?: is)? too (?:long|large)",
    re.IGNORECASE,
)
_WINDOW_FIELDS: Final = ("max_model_len", "context_length", "context_window", "max_input_tokens")
"""Names under which lists of models give the context window (vLLM, OpenRouter, Groq, Anthropic)."""


class HttpModel(ABC):
    """One model at one endpoint."""

    provider: ClassVar[str]
    default_url: ClassVar[str]
    key_variable: ClassVar[str]
    """The environment variable that holds the key, unless another is named."""
    url_variable: ClassVar[str]
    """The environment variable that holds the endpoint's URL."""

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key_env: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
        requests_per_minute: float | None = None,
        stream: bool = False,
        context_tokens: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """``base_url`` is the endpoint's URL; by default that of the environment, else the provider's.

        ``api_key_env`` names the variable with the key. ``timeout_s`` limits each of the 1 + ``retries`` attempts.
        ``options`` are passed to the endpoint unchanged: ``{"temperature": 0}``.
        """
        self.name = model
        self.options = dict(options or {})
        self._base_url = base_url
        self._api_key_env = api_key_env or self.key_variable
        self._stream = stream
        self._context_tokens = context_tokens
        self._transport = Transport(timeout_s, retries, requests_per_minute)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, at {self._host})"

    @property
    def context_tokens(self) -> int:
        """The model's context window, as given, as the endpoint says, or from the table of models."""
        facts = find_facts(self.name)
        return self._context_tokens or (facts and facts.context_tokens) or CONTEXT_TOKENS

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that it reads, besides those of proxies and certificates."""
        return self._api_key_env, self.url_variable, OWN_TABLE

    @property
    def address(self) -> str:
        """The endpoint's host and port, for a process that may reach nothing else; raises ``ModelFailed`` for an invalid URL."""
        parts = urlsplit(self._get_url(""))
        return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"

    @property
    def settings(self) -> dict[str, Any]:
        """Model, endpoint and parameters, for records."""
        return {
            "model": self.name,
            "provider": self.provider,
            "endpoint": self._host,
            "parameters": self.options,
            "stream": self._stream,
            "context_tokens": self.context_tokens,
        }

    def check(self) -> None:
        """Raise ``ModelFailed`` if requests cannot succeed: no key, an unreachable endpoint, a model that it does not have."""
        key = self._read_key()
        find_facts(self.name)
        try:
            url = self._get_url(self._list_path)
            answer = self._transport.get(url, self._build_headers(key), CHECK_TIMEOUT_S)
        except (ApiError, BadAnswer) as error:
            if isinstance(error, ApiError) and error.status in (401, 403):
                raise self._make_error(error, key) from None
            answer = None  # not every endpoint lists its models
        except ConnectionFailed as error:
            raise self._make_error(error, key) from None
        listed = _read_listed(answer)
        if self.name in listed and listed[self.name].get("lifecycle") != "retired":
            self._context_tokens = self._context_tokens or _read_window(listed[self.name])
            if key or not url.startswith("https:"):  # a public list does not mean that no key is needed
                return
        try:
            self.complete([Message("user", "Reply with the word ok.")])
        except NoText:
            return
        except ModelFailed as error:
            near = get_close_matches(self.name, listed, 3)
            if not near:
                raise
            raise type(error)(f"{error} The endpoint offers: {', '.join(near)}.") from None

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Reply:
        """Answer a conversation by a request to the endpoint; raises ``ModelFailed``."""
        key = self._read_key()
        body = {**self._build_body(messages, tools), **({"stream": True} if self._stream else {})}
        url = self._get_url(self._path)
        try:
            answer = self._transport.post(
                url, self._build_headers(key), body, self._assemble if self._stream else None
            )
            reply = self._parse_reply(answer)
        except ApiError as error:
            if _is_filtered(error):
                text = f"(The endpoint refused to answer: {self._redact(error.message, key)})"
                return Reply(text, 0, 0, cost_usd=0.0, is_refusal=True)
            raise self._make_error(error, key) from None
        except (ConnectionFailed, BadAnswer) as error:
            raise self._make_error(error, key) from None
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ModelFailed(
                f"The model {self.name} at {self._host} answered in an unknown form. Check that the endpoint speaks the API of "
                f"{self.provider}."
            ) from None
        if reply.cost_usd is None:
            reply = replace(reply, cost_usd=compute_cost(self.name, reply))
        if not reply.text and not reply.tool_calls:
            raise NoText(
                f"The model {self.name} answered without any text. Try again, allow more output tokens, or use another model.",
                reply,
            )
        return replace(reply, text=reply.text[:MAX_CHARS])

    _path: ClassVar[str]
    """Where conversations are answered."""
    _list_path: ClassVar[str] = "models"
    """Where the endpoint lists its models."""

    @abstractmethod
    def _build_headers(self, key: str) -> dict[str, str]:
        """Return the headers of a request; the key may be empty."""

    @abstractmethod
    def _build_body(self, messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
        """Return a request in the provider's form."""

    @abstractmethod
    def _parse_reply(self, answer: Any) -> Reply:
        """Return the reply in an answer, an empty one if the answer has another form than documented."""

    @abstractmethod
    def _assemble(self, events: Iterator[dict[str, Any]]) -> Any:
        """Return the answer that a stream of events stands for; raises ``ConnectionFailed`` if it is cut off."""

    @property
    def _url(self) -> str:
        return (self._base_url or os.environ.get(self.url_variable) or self.default_url).rstrip("/")

    @property
    def _url_source(self) -> str:
        """Where the URL comes from, or may be set."""
        return "base_url" if self._base_url else self.url_variable

    @property
    def _host(self) -> str:
        """The endpoint's host and port, without a user name and password that its URL may contain."""
        parts = _split_url(self._url)
        if parts is None:
            return "an invalid address"
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def _get_url(self, path: str) -> str:
        parts = _split_url(self._url)
        if parts is None or parts.username:
            raise ModelFailed(
                f"The endpoint of the model {self.name} is not a URL such as {self.default_url}. Correct {self._url_source}; a key "
                f"belongs into {self._api_key_env}, not into the URL."
            )
        return f"{self._url}/{path}"

    def _read_key(self) -> str:
        """Return the key, or an empty text if the endpoint may need none; raises ``ModelFailed``."""
        key = os.environ.get(self._api_key_env, "").strip()
        if not key and self._url == self.default_url:
            raise ModelFailed(
                f"The model {self.name} needs an API key. Set the environment variable {self._api_key_env}, "
                f"or choose an endpoint that needs no key with base_url or {self.url_variable}."
            )
        if not (key.isascii() and key.isprintable()):
            raise ModelFailed(f"The API key in {self._api_key_env} has invalid characters. Copy it again.")
        return key

    def _redact(self, text: str, key: str) -> str:
        text = Redactor((key,)).redact(text)
        if len(key) >= MIN_KEY_CHARS:
            text = text.replace(key, BLANK)  # also keys too short for the redactor
        return " ".join(text.split())[:ERROR_CHARS].rstrip(".")

    def _make_error(self, error: ApiError | ConnectionFailed | BadAnswer, key: str) -> ModelFailed:
        """Return an error with one sentence on what happened and one on what to do."""
        where = f"The model {self.name} at {self._host}"
        why = self._redact(str(error), key)
        if isinstance(error, ConnectionFailed):
            return ModelFailed(
                f"{where} cannot be reached: {why}. Check that it runs, and the URL in {self._url_source}."
            )
        if isinstance(error, BadAnswer):
            return ModelFailed(
                f"{where} answered with something other than JSON: {why!r}. Check the URL in {self._url_source}; it looks "
                f"like {self.default_url}."
            )
        if error.is_too_large or (error.status == 400 and _OVERFLOW.search(f"{error.kind} {error.message}")):
            return ContextOverflow(
                f"The conversation is too long for the model {self.name} ({why}). Use a model with a larger context window, or set "
                "its context_tokens."
            )
        hints = {
            401: f"Check the key in {self._api_key_env}.",
            403: f"Check the key in {self._api_key_env} and what it may use.",
            404: f"Check the model's name and the URL in {self._url_source}, which looks like {self.default_url}.",
            429: "Wait, lower requests_per_minute, or check the account's quota.",
        }
        hint = hints.get(error.status) or (
            "Try again later." if error.status >= 500 else "Check the model's name and parameters."
        )
        return ModelFailed(f"{where} did not answer ({why}). {hint}")


def _split_url(url: str) -> SplitResult | None:
    """Return the parts of a URL of HTTP; None if it is none."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # an invalid port or address
        return None
    return parts if is_valid else None


def _is_filtered(error: ApiError) -> bool:
    """Whether a content filter refused the conversation, as Azure's does."""
    return error.status == 400 and "content_filter" in error.kind


def _read_listed(answer: Any) -> dict[str, Mapping[str, Any]]:
    """Return the models in a list of models, by name; empty if the answer has another form."""
    entries = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(entries, list):
        return {}
    found = [entry for entry in entries if isinstance(entry, Mapping)]
    return {entry["id"]: entry for entry in found if isinstance(entry.get("id"), str)}


def _read_window(entry: Mapping[str, Any]) -> int | None:
    return next((entry[key] for key in _WINDOW_FIELDS if isinstance(entry.get(key), int)), None)


def read_count(usage: Any, *path: str) -> int | None:
    """Return a count of tokens at a path of keys; None if it is missing."""
    for key in path:
        usage = usage.get(key) if isinstance(usage, Mapping) else None
    return usage if isinstance(usage, int) and not isinstance(usage, bool) else None
