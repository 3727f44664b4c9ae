"""Models behind any OpenAI-compatible endpoint: OpenAI itself, a gateway, or a local server.

The SDK is an optional dependency and is imported at the first request. The API key is read from the environment at that
moment; it is stored in no attribute, text or record, and errors are redacted before they are shown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from aiopslab.orchestrator.models.base import Message, ModelFailed, NoText, Reply
from aiopslab.orchestrator.redaction import Redactor

KEY: Final = "OPENAI_API_KEY"
BASE_URL: Final = "OPENAI_BASE_URL"
TIMEOUT_S: Final = 120.0
RETRIES: Final = 2
MAX_CHARS: Final = 400_000
"""Maximum length of an answer; the rest is dropped."""
ERROR_CHARS: Final = 500
NO_KEY: Final = "none"
"""Sent to an endpoint that needs no key, because the SDK requires one."""


class OpenAIModel:
    """One model at one endpoint. ``options`` are passed to the endpoint unchanged: ``{"temperature": 0}``."""

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key_env: str = KEY,
        timeout_s: float = TIMEOUT_S,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """``base_url`` is the endpoint's URL (default: ``OPENAI_BASE_URL``, else OpenAI's); ``api_key_env`` names a variable."""
        self.name = model
        self._base_url = base_url
        self._api_key_env = api_key_env
        self._timeout_s = timeout_s
        self._options = dict(options or {})

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, at {_format_host(self._get_endpoint())})"

    def check(self) -> None:
        """Raise ``ModelFailed`` if a request cannot succeed: the package or the key is missing."""
        _load_sdk()
        if not os.environ.get(self._api_key_env) and self._get_endpoint() is None:
            raise ModelFailed(
                f"The model {self.name} needs an API key. Set the environment variable {self._api_key_env}, "
                f"or choose an endpoint that needs no key with base_url or {BASE_URL}."
            )

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a conversation by a request to the endpoint; raises ``ModelFailed``."""
        self.check()
        sdk, key = _load_sdk(), os.environ.get(self._api_key_env, "")
        request = [{"role": message.role, "content": message.content} for message in messages]
        try:
            with sdk.OpenAI(
                api_key=key or NO_KEY,
                base_url=self._get_endpoint(),
                timeout=self._timeout_s,
                max_retries=RETRIES,
            ) as client:
                answer = client.chat.completions.create(model=self.name, messages=request, **self._options)
            return _parse_reply(answer, self.name)
        except ModelFailed:
            raise
        except Exception as error:
            # The cause may hold the request with its headers, so it is dropped.
            raise ModelFailed(self._format_error(error, key)) from None

    def _get_endpoint(self) -> str | None:
        return self._base_url or os.environ.get(BASE_URL) or None

    def _format_error(self, error: Exception, key: str) -> str:
        text = Redactor((key,)).redact(str(error))
        if key:
            text = text.replace(key, "[redacted]")  # also keys too short for the redactor
        return (
            f"The model {self.name} at {_format_host(self._get_endpoint())} did not answer: {type(error).__name__}: "
            f"{text[:ERROR_CHARS]}. Check the model's name, the endpoint and the key in {self._api_key_env}."
        )


def _load_sdk() -> Any:
    try:
        return import_module("openai")
    except ImportError:
        raise ModelFailed(
            "Language models need the openai package. Install it with: pip install 'aiopslab-in-a-box[llm]'"
        ) from None


def _parse_reply(answer: Any, name: str) -> Reply:
    choices = getattr(answer, "choices", None)
    text = choices[0].message.content if choices else None
    if not isinstance(text, str) or not text:
        raise NoText(f"The model {name} answered without any text. Try again, or use another model.")
    usage = getattr(answer, "usage", None)
    return Reply(
        text[:MAX_CHARS],
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
    )


def _format_host(url: str | None) -> str:
    """Return a URL's host and port, without a user name and password that it may contain."""
    if url is None:
        return "OpenAI's endpoint"
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        return "an invalid address"
