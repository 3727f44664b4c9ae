"""Any model behind an endpoint that speaks OpenAI's chat completions: the company's own, a gateway, or one at home.

The SDK is an extra and is imported when a model is first asked. The key is read from the environment at that moment; it
stands in no attribute, text or record of ours, and errors are blanked before they are told.
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
MOST_CHARS: Final = 400_000
"""No answer of ours is longer; the rest of one that is goes away."""
ERROR_CHARS: Final = 500
NO_KEY: Final = "none"
"""What is sent to an endpoint that asks for no key; the SDK insists on one."""


class OpenAIModel:
    """One model at one endpoint. ``options`` go to the endpoint as they are: ``{"temperature": 0}``."""

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key_env: str = KEY,
        timeout_s: float = TIMEOUT_S,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """``base_url`` is where the endpoint is (else ``OPENAI_BASE_URL``, else OpenAI's); ``api_key_env`` names a variable."""
        self.name = model
        self._base_url = base_url
        self._api_key_env = api_key_env
        self._timeout_s = timeout_s
        self._options = dict(options or {})

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, at {_host(self._endpoint())})"

    def check(self) -> None:
        """Raise ``ModelFailed`` when it is known already that the endpoint cannot be asked: no package, or no key."""
        _sdk()
        if not os.environ.get(self._api_key_env) and self._endpoint() is None:
            raise ModelFailed(
                f"The model {self.name} needs a key. Put it into the environment variable {self._api_key_env}, "
                f"or name an endpoint that needs none with base_url or {BASE_URL}."
            )

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Ask the endpoint; raises ``ModelFailed``."""
        self.check()
        sdk, key = _sdk(), os.environ.get(self._api_key_env, "")
        said = [{"role": message.role, "content": message.content} for message in messages]
        try:
            with sdk.OpenAI(
                api_key=key or NO_KEY,
                base_url=self._endpoint(),
                timeout=self._timeout_s,
                max_retries=RETRIES,
            ) as client:
                answer = client.chat.completions.create(model=self.name, messages=said, **self._options)
            return _reply(answer, self.name)
        except ModelFailed:
            raise
        except Exception as error:
            # The cause may hold the request with its headers: it must not travel along.
            raise ModelFailed(self._told(error, key)) from None

    def _endpoint(self) -> str | None:
        return self._base_url or os.environ.get(BASE_URL) or None

    def _told(self, error: Exception, key: str) -> str:
        words = Redactor((key,)).text(str(error))
        if key:
            words = words.replace(key, "[redacted]")  # a short one, too
        return (
            f"The model {self.name} at {_host(self._endpoint())} did not answer: {type(error).__name__}: "
            f"{words[:ERROR_CHARS]}. Check the model's name, the endpoint and the key in {self._api_key_env}."
        )


def _sdk() -> Any:
    try:
        return import_module("openai")
    except ImportError:
        raise ModelFailed(
            "Talking to a language model needs the openai package. Install it with: "
            "pip install 'aiopslab-in-a-box[llm]'"
        ) from None


def _reply(answer: Any, name: str) -> Reply:
    choices = getattr(answer, "choices", None)
    text = choices[0].message.content if choices else None
    if not isinstance(text, str) or not text:
        raise NoText(f"The model {name} answered without any text. Ask again, or take another model.")
    usage = getattr(answer, "usage", None)
    return Reply(
        text[:MOST_CHARS],
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
    )


def _host(url: str | None) -> str:
    """Where it is, without a name and a password that may stand in it."""
    if url is None:
        return "OpenAI's endpoint"
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        return "an address that cannot be read"
